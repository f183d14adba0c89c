import MultipartBasics
import MultipartCore

/// `s3up parts s3://BUCKET/KEY --upload-id ID`: number, size and ETag of each part, one per line, for `PartsFile`.
struct PartsCommand {
  private let session: Session

  init(_ session: Session) {
    self.session = session
  }

  func run() async throws(Failure) {
    let target = try await StepTarget(session, try session.invocation.arguments("s3://BUCKET/KEY")[0])
    for part in try await target.upload.parts() {
      let shown = part.namedSums.map { " \($0.0):\($0.1)" }.joined()
      try session.row(
        SafeText.oneLine("\(part.number) \(part.size ?? 0) \(part.etag)\(shown)", limit: .max), json: part.json)
    }
  }
}

extension UploadedPart {
  fileprivate var namedSums: [(String, String)] {
    checksums.map { ($0.key.rawValue, $0.value) }.sorted { $0.0 < $1.0 }
  }

  var json: String {
    JSON.object([
      ("part", .int(Int64(number))), ("size", .int(size ?? 0)), ("etag", .string(etag)),
      ("checksums", .object(namedSums.map { ($0.0, .string($0.1)) })),
    ]).encoded
  }
}
