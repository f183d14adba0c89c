/// Error codes, by the status that means the same to a ticket's script and page: the status that comes with a code may
/// be another one. S3 reports in a 200 what no other try resolves, and in a 400 or 409 what the next try may.
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
    (408, ["RequestTimeout", "RequestTimeoutException", "IncompleteBody"]),
    (412, ["PreconditionFailed"]),
    (503, ["OperationAborted", "ConditionalRequestConflict"]),
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
