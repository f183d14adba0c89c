import MultipartBasics

extension Ticket {
  /// The rights of the ticket's holder, one per line, for a user who decides whether to sign a ticket that may have
  /// been edited.
  public func rights(until end: Timestamp) -> [String] {
    let address = TicketAddress(url, bucket: bucket, key: key)
    var bytes: String
    switch length {
    case .exactly(let size): bytes = "exactly \(size) bytes"
    case .upTo(let size):
      bytes = "a stream of at most \(size) bytes, which is checked by the uploading program, not by the store"
    }
    bytes += ", in \(partCount) parts of \(partSize) bytes"
    let sums = signedSums.isEmpty ? "not signed: any bytes" : "of each part, signed: no other bytes"
    let conditions = complete.headers.fields.filter { $0.name.lowercased().begins(with: "if-") }
      .map { "\($0.name): \($0.value)" }
    return [
      "object      s3://\(bucket)/\(key) at \(address?.endpoint ?? origin)",
      "upload      \(uploadID), begun at \(created.iso8601)",
      "bytes       \(bytes)",
      "checksums   \(checksum.word) \(sums)",
      "condition   "
        + (conditions.isEmpty ? "none: an existing object is replaced" : conditions.joined(separator: ", ")),
      "requests    send parts 1-\(partCount), list them, complete or abort the upload, HEAD of the object",
      "until       \(end.iso8601)",
    ].map { SafeText.oneLine($0, limit: .max) }
  }
}
