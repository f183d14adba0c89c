import MultipartCore

/// `s3up abort s3://BUCKET/KEY --upload-id ID`: ends the upload, and is done when the store has nothing left of it.
struct AbortCommand {
  private let session: Session

  init(_ session: Session) {
    self.session = session
  }

  func run() async throws(Failure) {
    let target = try await StepTarget(session, try session.invocation.arguments("s3://BUCKET/KEY")[0])
    let access = target.access
    let step = AbortStep(client: access.client, common: access.common, retry: access.retry, world: session.world)
    do throws(Failure) {
      let outcome = try await step.run(bucket: target.url.bucket, key: target.key, uploadID: target.uploadID)
      let name = SafeText.oneLine("s3://\(target.url.bucket)/\(target.key)", limit: .max)
      let was = outcome == .wasGone ? "was gone already" : "nothing is left of it"
      try session.say(
        "aborted \(name) (upload \(SafeText.oneLine(target.uploadID)), \(was))",
        json: JSONValue.object([
          ("event", .string("aborted")), ("bucket", .string(target.url.bucket)), ("key", .string(target.key)),
          ("upload_id", .string(target.uploadID)), ("was_gone", .bool(outcome == .wasGone)),
        ]).text)
    } catch {
      throw error.at(target.place)
    }
  }
}
