import MultipartBasics
import MultipartCore

/// `s3up part FILE s3://BUCKET/KEY --upload-id ID --part N`, or with a presigned URL and no credentials.
struct PartCommand {
  private let session: Session

  init(_ session: Session) {
    self.session = session
  }

  func run() async throws(Failure) {
    let steps = try StepOptions(session.invocation)
    let checksum = session.options.upload.checksum
    if let url = steps.url {
      let file = try session.invocation.arguments("FILE")[0]
      try tell(
        await MultipartUpload.part(
          url: url, input(file), offset: steps.offset, length: steps.length, checksum: checksum,
          session.storeOptions))
    } else {
      let words = try session.invocation.arguments("FILE", "s3://BUCKET/KEY")
      try session.invocation.checkOrder(words)
      let target = try await StepTarget(session, words[1])
      try tell(
        await target.upload.part(
          steps.part ?? 0, input(words[0]), offset: steps.offset, length: steps.length, checksum: checksum))
    }
  }

  private func input(_ name: Argument) -> UploadInput {
    let path = FilePath(bytes: name.bytes)
    return path.namesDescriptor ? .path(path) : .file(path)
  }

  private func tell(_ part: UploadedPart) throws(Failure) {
    do throws(Failure) {
      try session.answer(
        SafeText.oneLine(part.etag, limit: .max),
        json: part.json)
    } catch {
      throw Failure(
        .output, "\(error.message), but the part is at the store with the ETag \(part.etag)",
        remedy: "Do not send it again: s3up parts shows it.")
    }
  }
}
