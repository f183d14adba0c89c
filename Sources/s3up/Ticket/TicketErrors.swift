/// What a ticket's script and page take errors for that no other try resolves: the status that means the same. A code
/// says more than the status beside it, which may be 200.
enum TicketErrors {
  static let meanings: [(status: Int, codes: [String])] = [
    (
      400,
      [
        "InvalidPart", "InvalidPartOrder", "EntityTooSmall", "EntityTooLarge", "MalformedXML", "BadDigest",
        "InvalidDigest",
      ]
    ),
    (403, ["AccessDenied", "ExpiredToken", "InvalidAccessKeyId", "SignatureDoesNotMatch"]),
    (404, ["NoSuchUpload"]),
    (412, ["PreconditionFailed"]),
  ]

  /// As the lines of a `case` that sets `code`.
  static var shell: String {
    meanings.map { "      \($0.codes.joined(separator: " | "))) code=\($0.status) ;;" }.joined(separator: "\n")
  }

  /// As the properties of an object.
  static var script: String {
    meanings.flatMap { meaning in meaning.codes.map { "\($0): \(meaning.status)" } }.joined(separator: ", ")
  }
}
