import MultipartBasics
import MultipartCore

/// `s3up create s3://BUCKET/KEY`: prints the upload id as a single line.
struct CreateCommand {
  private let session: Session

  init(_ session: Session) {
    self.session = session
  }

  func run() async throws(Failure) {
    let invocation = session.invocation
    let url = try S3URL.object(try invocation.arguments("s3://BUCKET/KEY")[0], for: .create)
    let store = try await session.store(url.bucket)
    // An upload that is being begun is awaited, to be aborted.
    let upload = try await session.beginning(in: url.bucket, key: url.key) { [session] () async throws(Failure) in
      try await store.createUpload(url.key ?? "", session.options.upload)
    }
    do throws(Failure) {
      if session.signals.received != nil { throw .interrupted }
      try session.answer(
        upload.uploadID,
        json: JSON.object([
          ("bucket", .string(url.bucket)), ("key", .string(upload.key)), ("upload_id", .string(upload.uploadID)),
          ("request_id", .optional(upload.requestID)),
        ]).encoded)
    } catch {
      throw await upload.takenBack(error)
    }
    let unseen = upload.unconfirmed(session.options.upload)
    if !unseen.isEmpty {
      session.world.log(
        0, "only complete can check \(unseen.joined(separator: ", ")), if it is given the same options")
    }
  }
}
