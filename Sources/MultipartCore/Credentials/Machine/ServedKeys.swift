import MultipartBasics

/// Reads the JSON of the metadata services of machines and containers, credentials or refusals:
/// `{"Code":"Success","AccessKeyId":…,"SecretAccessKey":…,"Token":…,"Expiration":…}`, `{"code":…,"message":…}`.
enum ServedKeys {
  /// Reads the credentials. Messages call the service `issuer`; `source` is the source of the credentials.
  static func read(_ answer: Response, issuer: String, source: String) throws(Failure) -> Credentials {
    guard let json = JSON.parse(answer.body) else {
      throw Failure(.server, "the answer of \(issuer) is not JSON", status: answer.status)
    }
    if let code = word(json, "Code", "code"), code != "Success" { throw refusal(answer, issuer: issuer) }
    return try IssuedKeys.credentials(
      id: json["AccessKeyId"]?.text, secret: json["SecretAccessKey"]?.text, token: json["Token"]?.text,
      expiration: try IssuedKeys.expiration(written(json["Expiration"]), issuer), issuer: issuer, source: source)
  }

  /// The text of a member; nil if it is missing or null.
  private static func written(_ json: JSON?) -> String? {
    guard let json, json != .null else { return nil }
    return json.text ?? json.encoded
  }

  /// The failure for an answer without credentials. `secrets` were sent in the request and are kept out of the message.
  static func refusal(_ answer: Response, issuer: String, secrets: [String] = []) -> Failure {
    let json = JSON.parse(answer.body)
    let code = json.flatMap { word($0, "Code", "code") }
    let text = (json?["Message"] ?? json?["message"])?.text.map { Redaction.sentence($0, secrets: secrets) }
    let what = answer.status == 200 ? "returned no credentials" : "answered \(answer.status)"
    return Failure(
      ServiceClient.meaning(of: answer.status), "\(issuer) \(what)" + (text.map { $0.isEmpty ? "" : ": \($0)" } ?? ""),
      status: answer.status,
      s3Code: code, requestID: S3ErrorBody.requestID(answer.headers))
  }

  /// A short ASCII word, which is the form of error codes.
  private static func word(_ json: JSON, _ names: String...) -> String? {
    for name in names {
      if let text = json[name]?.text, (1...128).contains(text.utf8.count),
        text.utf8.allSatisfy(ASCII.isVisible)
      {
        return text
      }
    }
    return nil
  }
}

/// Credentials that a service or a program issued, with the same rules for each. Missing values, and those that would
/// break out of a header, are refused and never shown.
enum IssuedKeys {
  /// The time after which they are invalid, as it is written; nil if the issuer gives none.
  static func expiration(_ text: String?, _ issuer: String) throws(Failure) -> Timestamp? {
    guard let text, !text.isEmpty else { return nil }
    guard let moment = DateText.iso8601(text) else {
      throw Failure(.server, "\(issuer) returned credentials with an invalid expiration")
    }
    return moment
  }

  /// Checks the values. Messages call the service `issuer`, such as `AssumeRole of STS`.
  static func credentials(
    id: String?, secret: String?, token: String?, expiration: Timestamp?, issuer: String, source: String
  ) throws(Failure) -> Credentials {
    guard let id, let secret, !id.isEmpty, !secret.isEmpty else {
      throw Failure(.server, "\(issuer) returned no credentials")
    }
    let credentials = Credentials(
      accessKeyID: id, secretAccessKey: Secret(secret),
      sessionToken: token.flatMap { $0.isEmpty ? nil : Secret($0) }, expiration: expiration, source: source)
    guard credentials.areSendable, secret.utf8.allSatisfy(ASCII.isVisible) else {
      throw Failure(.server, "\(issuer) returned credentials with characters that no key has")
    }
    return credentials
  }
}

extension Credentials {
  private static let longest = 64 << 10

  /// Whether all values exist, and none would break out of a header. The secret is not sent, and a store may allow blanks
  /// in it.
  var areSendable: Bool {
    [accessKeyID, sessionToken?.reveal() ?? "-"].allSatisfy { text in
      (1...Self.longest).contains(text.utf8.count) && text.utf8.allSatisfy(ASCII.isVisible)
    } && (1...Self.longest).contains(secretAccessKey.reveal().utf8.count)
      && secretAccessKey.reveal().utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F }
  }
}
