import MultipartBasics
import MultipartCore

/// What the steps of an upload have in common: `--upload-id` and the object.
struct StepTarget {
  let url: S3URL
  let store: Store
  let upload: MultipartUpload

  var place: Place { Place(bucket: url.bucket, key: url.key, uploadID: upload.uploadID) }
  var subject: Event.Subject { Event.Subject(source: nil, bucket: url.bucket, key: url.key) }
  var name: String { SafeText.oneLine("s3://\(url.bucket)/\(upload.key)", limit: .max) }

  init(_ session: Session, _ word: Argument) async throws(Failure) {
    let invocation = session.invocation
    url = try S3URL.object(word, for: invocation.command)
    guard let id = try StepOptions(invocation).uploadID else {
      throw Failure(.usage, "--upload-id is missing", remedy: "Give --upload-id ID, the id that create printed.")
    }
    store = try await session.store(url.bucket)
    upload = try store.multipartUpload(
      url.key ?? "", uploadID: id, customerKey: session.options.upload.customerKey)
  }
}
