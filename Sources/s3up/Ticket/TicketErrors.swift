/// Error codes that no other try resolves, by the status that means the same to a ticket's script and page. The status
/// that comes with a code may be another one, such as 200.
enum TicketErrors {
  static let meanings: [(status: Int, codes: [String])] = [
    (
      400,
      [
        "InvalidPart", "InvalidPartOrder", "EntityTooSmall", "EntityTooLarge", "MalformedXML", "NoSuchBucket",
        "QuotaExceeded", "BadDigest", "InvalidDigest",
      ]
    ),
    (
      403,
      [
        "AccessDenied", "ExpiredToken", "TokenRefreshRequired", "InvalidToken", "InvalidAccessKeyId",
        "SignatureDoesNotMatch",
      ]
    ),
    (404, ["NoSuchUpload"]),
    (412, ["PreconditionFailed"]),
  ]

  /// As words with `=` between code and status, each after a blank.
  static var shell: String {
    meanings.flatMap { meaning in meaning.codes.map { " \($0)=\(meaning.status)" } }.joined()
  }

  /// As the properties of an object.
  static var script: String {
    meanings.flatMap { meaning in meaning.codes.map { "\($0): \(meaning.status)" } }.joined(separator: ", ")
  }
}
