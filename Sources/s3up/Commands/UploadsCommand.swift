import MultipartCore

/// `s3up uploads s3://BUCKET[/PREFIX]`: what was begun and neither completed nor aborted.
struct UploadsCommand {
  private let session: Session

  init(_ session: Session) {
    self.session = session
  }

  /// What the parts of one upload add up to.
  private struct Held: Sendable {
    var parts = 0
    var bytes: Int64 = 0
  }

  func run() async throws(Failure) {
    let url = try S3URL(try session.invocation.arguments("s3://BUCKET[/PREFIX]")[0])
    let access = try StoreAccess(session, bucket: url.bucket)
    let uploads = try await list(url, access)
    for upload in uploads {
      // An upload that ended since the list was made is left out.
      guard let held = try await held(upload, url, access) else { continue }
      try show(upload, held, url)
    }
  }

  private func list(_ url: S3URL, _ access: StoreAccess) async throws(Failure) -> [ListMultipartUploads.Upload] {
    var pages = ListMultipartUploads.Pages()
    var marker: ListMultipartUploads.Marker?
    repeat {
      let operation = ListMultipartUploads(
        bucket: url.bucket, prefix: url.key.flatMap { $0.isEmpty ? nil : $0 }, marker: marker, common: access.common)
      marker = pages.add(try await access.client.perform(operation, retrying: access.retry))
    } while marker != nil
    if !pages.isComplete {
      session.console.line("s3up: the store's list of uploads does not come to an end; this is what it gave")
    }
    return pages.uploads
  }

  private func held(
    _ upload: ListMultipartUploads.Upload, _ url: S3URL, _ access: StoreAccess
  ) async throws(Failure) -> Held? {
    var pages = ListParts.Pages()
    var marker: Int?
    do throws(Failure) {
      repeat {
        let operation = ListParts(
          bucket: url.bucket, key: upload.key, uploadID: upload.uploadID, marker: marker, common: access.common)
        marker = pages.add(try await access.client.perform(operation, retrying: access.retry))
      } while marker != nil
    } catch {
      if error.code == .uploadGone || error.status == 404 { return nil }
      throw error.at(Place(bucket: url.bucket, key: upload.key, uploadID: upload.uploadID))
    }
    return Held(parts: pages.parts.count, bytes: pages.parts.reduce(0) { $0 + $1.size })
  }

  private func show(_ upload: ListMultipartUploads.Upload, _ held: Held, _ url: S3URL) throws(Failure) {
    let age = upload.initiated.map { session.world.now().seconds - $0.seconds }
    let facts = [
      age.map { Human.clock(.seconds(max(0, $0))) } ?? "?", Human.count(held.parts, "part"), Human.size(held.bytes),
      upload.uploadID, "s3://\(url.bucket)/\(upload.key)",
    ]
    try session.answer(
      facts.map { SafeText.oneLine($0, limit: .max) }.joined(separator: "  "),
      json: JSONValue.object([
        ("bucket", .string(url.bucket)), ("key", .string(upload.key)), ("upload_id", .string(upload.uploadID)),
        ("initiated", .optional(upload.initiated?.iso8601 ?? upload.initiatedText)),
        ("age_seconds", age.map { .int(max(0, $0)) } ?? .null), ("parts", .int(Int64(held.parts))),
        ("bytes", .int(held.bytes)),
      ]).text)
  }
}
