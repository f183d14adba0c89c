import MultipartCore

/// `s3up parts s3://BUCKET/KEY --upload-id ID`: number, size and ETag of each part, one a line, as `PartsFile` reads them.
struct PartsCommand {
  private let session: Session

  init(_ session: Session) {
    self.session = session
  }

  func run() async throws(Failure) {
    let target = try await StepTarget(session, try session.invocation.arguments("s3://BUCKET/KEY")[0])
    for part in try await target.parts().parts {
      let sums = part.checksums.sorted { $0.key < $1.key }
      let shown = sums.map { " \($0.key.dropFirst("x-amz-checksum-".count)):\($0.value)" }.joined()
      try session.row(
        SafeText.oneLine("\(part.number) \(part.size) \(part.etag)\(shown)", limit: .max),
        json: JSON.object([
          ("part", .int(Int64(part.number))), ("size", .int(part.size)), ("etag", .string(part.etag)),
          ("checksums", .object(sums.map { (String($0.key.dropFirst("x-amz-checksum-".count)), .string($0.value)) })),
        ]).encoded)
    }
  }
}
