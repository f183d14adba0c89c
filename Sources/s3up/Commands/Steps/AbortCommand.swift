import MultipartBasics
import MultipartCore

/// `s3up abort s3://BUCKET/KEY --upload-id ID`: aborts the upload, and returns once the store has none of its parts.
struct AbortCommand {
  private let session: Session

  init(_ session: Session) {
    self.session = session
  }

  func run() async throws(Failure) {
    let target = try await StepTarget(session, try session.invocation.arguments("s3://BUCKET/KEY")[0])
    let outcome = try await target.upload.abort()
    let was =
      switch outcome {
      case .aborted: "nothing is left of it"
      case .unlisted: MultipartUpload.AbortOutcome.doubt
      case .wasGone: "was already gone"
      }
    let id = target.upload.uploadID
    try session.say(
      "aborted \(target.name) (upload \(SafeText.oneLine(id)), \(was))",
      json: JSON.object([
        ("event", .string("aborted")), ("bucket", .string(target.url.bucket)), ("key", .string(target.upload.key)),
        ("upload_id", .string(id)), ("was_gone", .bool(outcome == .wasGone)),
        ("confirmed", .bool(outcome != .unlisted)),
      ]).encoded)
  }
}
