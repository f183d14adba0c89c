/// What a source must be for its bytes to be published. A file is judged before anything is sent, a stream at its end.
struct SourceExpectations: Sendable {
  let size: Int64?
  let leastSize: Int64?
  /// What a ticket allows.
  let ticketLength: Ticket.Length?
  /// In hex, of either case.
  let sha256: String?
  private static let remedy: Wording = "nothing was published: check the source and what was expected of it"

  init(_ options: UploadOptions = UploadOptions()) {
    size = options.expectedSize
    leastSize = options.minimumSize
    ticketLength = options.ticketLength
    sha256 = options.expectedSHA256
  }

  /// `source` is what to call it: `the file`.
  func failure(_ source: String, of bytes: Int64) -> Failure? {
    if let size, bytes != size {
      return Self.failure("\(source) has \(bytes) bytes, not the \(size) required by \(.expectedSize)")
    }
    if let leastSize, bytes < leastSize {
      return Self.failure("\(source) has \(bytes) bytes, less than the \(leastSize) required by \(.minimumSize)")
    }
    return ticketLength?.failure(source, of: bytes)
  }

  /// The failure of a stream that has not ended and is already too long.
  func excess(_ source: String, of bytes: Int64) -> Failure? {
    guard let size, bytes > size else { return nil }
    return Self.failure("\(source) is longer than the \(size) bytes required by \(.expectedSize)")
  }

  func failure(_ source: String, of sum: Checksum?) -> Failure? {
    guard let sha256, sum?.hex != sha256.lowercased() else { return nil }
    return Self.failure(
      "\(source)'s SHA-256 is \(sum?.hex ?? "not known"), not the one required by \(.expectedSHA256)")
  }

  static func tooLong(_ source: String, _ most: Int64) -> Failure {
    Failure(
      .dataMismatch, "\(source) is longer than the \(most) bytes that the ticket allows",
      remedy: "ask for a ticket of a larger size")
  }

  private static func failure(_ text: Wording) -> Failure { Failure(.dataMismatch, text, remedy: remedy) }
}
