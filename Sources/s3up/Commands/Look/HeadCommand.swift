import MultipartCore

/// `s3up head s3://BUCKET/KEY`
struct HeadCommand {
  private let session: Session

  init(_ session: Session) { self.session = session }

  func run() async throws(Failure) {
    let url = try S3URL.object(try session.invocation.arguments("s3://BUCKET/KEY")[0], for: .head)
    do throws(Failure) {
      let versionID = try session.invocation.text(.versionID)
      let description = try await session.store(url.bucket).describe(
        url.key ?? "", versionID: versionID, customerKey: session.options.upload.customerKey)
      let facts = ObjectFacts(description, url)
      try session.answer(facts.lines.joined(separator: "\n"), json: facts.json)
    } catch {
      throw error.at(Place(bucket: url.bucket, key: url.key))
    }
  }
}
