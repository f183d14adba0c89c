/// Which headers, and which parameters of a URL, hold secrets: the one list that logs, messages and the search for
/// secrets in answers go by. Names are compared without case.
package enum SecretNames {
  /// The MD5 of an SSE-C key is among them: a key made from a weak pass phrase could be guessed from it.
  private static let headers: Set<String> = ["authorization", "proxy-authorization", "cookie", "set-cookie"]
  private static let headerEnds = ["-token", "_token", "-customer-key", "-customer-key-md5"]
  private static let parameters: Set<String> = ["sig", "token"]
  private static let parameterEnds = [
    "signature", "security-token", "session-token", "s3session-token", "secret", "password",
  ]
  /// Not secret by themselves, yet part of what lets a reader act in our name: hidden where they stand, and not searched
  /// for elsewhere, since region, bucket and key id are in them.
  private static let telling: Set<String> = ["policy", "awsaccesskeyid", "googleaccessid", "key-pair-id"]

  package static func isSecret(header name: String) -> Bool {
    let name = name.lowercased()
    return headers.contains(name) || hasEnd(name, headerEnds)
  }

  package static func isSecret(parameter name: String) -> Bool {
    let name = name.lowercased()
    return parameters.contains(name) || hasEnd(name, parameterEnds)
  }

  /// Whether a log shows the parameter without its value. An encoded name is none of S3's own: somebody's `Sig%6Eature`
  /// is not worth decoding.
  package static func isHidden(parameter name: String) -> Bool {
    let name = name.lowercased()
    return isSecret(parameter: name) || telling.contains(name) || hasEnd(name, ["credential"])
      || name.utf8.contains(UInt8(ascii: "%"))
  }

  private static func hasEnd(_ name: String, _ ends: [String]) -> Bool { ends.contains { name.hasSuffix($0) } }
}
