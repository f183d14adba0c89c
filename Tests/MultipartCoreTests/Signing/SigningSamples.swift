@testable import MultipartCore

/// The keys, day and bucket of AWS's published examples.
enum Published {
  static let credentials = Credentials(
    accessKeyID: "AKIAIOSFODNN7EXAMPLE", secretAccessKey: Secret("wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"),
    source: "test")
  static let time = Timestamp(seconds: 1_369_353_600)
  static let origin = Origin(scheme: .https, host: "examplebucket.s3.amazonaws.com")
  static let signer = SigV4Signer(region: "us-east-1")
}

/// The inputs with which botocore 1.x made the expected values of the other tables.
enum Sample {
  static let time = Timestamp(seconds: 1_772_323_198)
  static let origin = Origin(scheme: .https, host: "bucket.example.com:9000")
  static let signer = SigV4Signer(region: "eu-west-3")

  static func credentials(token: String? = nil, until end: Timestamp? = nil) -> Credentials {
    Credentials(
      accessKeyID: "AKIDEXAMPLE", secretAccessKey: Secret("wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"),
      sessionToken: token.map(Secret.init), expiration: end, source: "test")
  }
}

extension Request {
  /// Everything that the signer decides.
  var asSent: [String] {
    ["\(method.rawValue) \(url)", "\(expires?.iso8601 ?? "")"] + headers.fields.map { "\($0.name): \($0.value)" }
  }

  /// The value after `Signature=` in the Authorization header or in the URL.
  var signature: String? {
    let text = headers["authorization"] ?? url
    return text.split(separator: "Signature=").dropFirst().first.map(String.init)
  }
}
