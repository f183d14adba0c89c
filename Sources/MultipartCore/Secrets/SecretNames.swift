import MultipartBasics

/// Which headers and URL parameters contain secrets: the only list for logs, messages and the search for secrets in
/// answers. Names are compared without case.
enum SecretNames {
  /// Headers with secrets. The MD5 of an SSE-C key is included: with it, a key made from a weak passphrase could be
  /// guessed.
  private static let headers: Set<String> = ["authorization", "proxy-authorization", "cookie", "set-cookie"]
  private static let headerEnds = ["-token", "_token", "-customer-key", "-customer-key-md5"]
  /// What a gateway before the store may ask for, such as `X-Api-Key`. Logs hide it; it is not searched for in answers,
  /// because what is masked there may be a part of a key.
  private static let gatewayEnds = [
    "api-key", "apikey", "api_key", "access-key", "subscription-key", "functions-key", "-secret", "-password",
    "-session-id",
  ]
  private static let parameters: Set<String> = ["sig", "token"]
  private static let parameterEnds = [
    "signature", "security-token", "session-token", "s3session-token", "secret", "password",
  ]
  /// Parameters that are not secret alone, but part of what lets a reader make requests in our name: hidden in logs,
  /// but not searched for in other texts, because they contain region, bucket and key id.
  private static let telling: Set<String> = ["policy", "awsaccesskeyid", "googleaccessid", "key-pair-id"]

  /// Whether the header is S3's or HTTP's own, or a token: nobody gives it by hand.
  static func isCredential(header name: String) -> Bool {
    let name = name.lowercased()
    return headers.contains(name) || hasEnd(name, headerEnds)
  }

  /// Whether no log shows the value. Metadata is not secret for whoever may read the object.
  static func isSecret(header name: String) -> Bool {
    let name = name.lowercased()
    return isCredential(header: name) || hasEnd(name, gatewayEnds) && !name.begins(with: "x-amz-meta-")
  }

  /// Whether the value had better not be repeated in a command to copy, which would stay in a log.
  static func mayBeSecret(field name: String) -> Bool {
    let words = ["key", "secret", "token", "password", "passwd", "auth", "credential", "cookie", "session"]
    let name = name.lowercased()
    return isSecret(header: name) || words.contains { name.holds($0) }
  }

  static func isSecret(parameter name: String) -> Bool {
    let name = name.lowercased()
    return parameters.contains(name) || hasEnd(name, parameterEnds)
  }

  /// Whether a log hides the parameter's value. Encoded names are not decoded: S3's own never are, and a name such as
  /// `Sig%6Eature` does not matter.
  static func isHidden(parameter name: String) -> Bool {
    let name = name.lowercased()
    return isSecret(parameter: name) || telling.contains(name) || hasEnd(name, ["credential"])
      || name.utf8.contains(UInt8(ascii: "%"))
  }

  private static func hasEnd(_ name: String, _ ends: [String]) -> Bool { ends.contains { name.ends(with: $0) } }
}
