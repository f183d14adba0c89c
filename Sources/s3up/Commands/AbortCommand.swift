import MultipartCore

/// `s3up abort s3://BUCKET/KEY --upload-id ID`: ends the upload, and is done when the store has nothing left of it.
struct AbortCommand {
  private let session: Session

  init(_ session: Session) {
    self.session = session
  }

  func run() async throws(Failure) {
    let target = try StepTarget(session, try session.invocation.arguments("s3://BUCKET/KEY")[0])
    let access = target.access
    let abort = AbortMultipartUpload(
      bucket: target.url.bucket, key: target.key, uploadID: target.uploadID, common: access.common)
    do throws(Failure) {
      let outcome = try await access.retry.run("abort", in: session.world) { (attempt) async throws(Failure) in
        let outcome = try await access.client.perform(abort)
        // A part that was under way when the abort came can appear after it. Of a completed upload some stores go on
        // listing the parts.
        if outcome == .aborted, try await !isGone(target) {
          throw Failure(.server, "the upload is still there after its abort")
        }
        return outcome
      }
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

  private func isGone(_ target: StepTarget) async throws(Failure) -> Bool {
    let list = ListParts(
      bucket: target.url.bucket, key: target.key, uploadID: target.uploadID, common: target.access.common)
    do throws(Failure) {
      return try await target.access.client.perform(list).parts.isEmpty
    } catch {
      // Not allowed to list: the abort's own answer is all there is to know.
      if error.code == .uploadGone || error.status == 404 || error.code == .credentials { return true }
      throw error
    }
  }
}
