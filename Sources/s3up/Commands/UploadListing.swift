import MultipartCore

/// An upload that was begun and neither completed nor aborted.
struct UnfinishedUpload {
  var bucket: String
  var key: String
  var uploadID: String
  /// Seconds since it was begun; nil where the store does not say.
  var age: Int64?
  var begun: String?
  var parts: Int
  var bytes: Int64
  /// What this machine knows of it.
  var record: UploadRecord?
  var isRunning = false

  var place: Place { Place(bucket: bucket, key: key, uploadID: uploadID) }

  /// As the record has it.
  init(_ record: UploadRecord, _ now: Timestamp, isRunning: Bool) {
    bucket = record.header.target.bucket
    key = record.header.target.key
    uploadID = record.header.uploadID
    age = max(0, now.seconds - record.header.created.seconds)
    begun = record.header.created.iso8601
    parts = record.parts.count
    bytes = record.parts.values.reduce(0) { $0 + $1.size }
    self.record = record
    self.isRunning = isRunning
  }

  init(_ upload: ListMultipartUploads.Upload, bucket: String, parts: [ListParts.Part], now: Timestamp) {
    self.bucket = bucket
    key = upload.key
    uploadID = upload.uploadID
    age = upload.initiated.map { max(0, now.seconds - $0.seconds) }
    begun = upload.initiated?.iso8601 ?? upload.initiatedText
    self.parts = parts.count
    bytes = parts.reduce(0) { $0 + $1.size }
  }

  var line: String {
    var facts = [
      age.map { Human.clock(.seconds($0)) } ?? "?", Human.count(parts, "part"), Human.size(bytes), uploadID,
      "s3://\(bucket)/\(key)",
    ]
    if let record { facts.append("from \(record.header.sourcePath.text)") }
    if isRunning { facts.append("(running)") }
    return facts.map { SafeText.oneLine($0, limit: .max) }.joined(separator: "  ")
  }

  func json(_ event: String) -> String {
    JSON.object([
      ("event", .string(event)), ("bucket", .string(bucket)), ("key", .string(key)),
      ("upload_id", .string(uploadID)), ("initiated", .optional(begun)),
      ("age_seconds", age.map { .int($0) } ?? .null), ("parts", .int(Int64(parts))), ("bytes", .int(bytes)),
      ("recorded", .bool(record != nil)), ("source", .optional(record?.header.sourcePath.text)),
      ("running", .bool(isRunning)),
    ]).encoded
  }
}

/// The unfinished uploads that a store lists, each with its parts.
struct UploadListing {
  private let session: Session
  private let access: Store

  init(_ session: Session, _ access: Store) {
    self.session = session
    self.access = access
  }

  func uploads(of url: S3URL, records: [UploadRecord]) async throws(Failure) -> [UnfinishedUpload] {
    var found: [UnfinishedUpload] = []
    for upload in try await list(url) {
      // An upload that ended since the list was made is left out.
      guard let parts = try await parts(of: upload, url.bucket) else { continue }
      var entry = UnfinishedUpload(upload, bucket: url.bucket, parts: parts, now: session.world.now())
      entry.record = records.first { $0.header.uploadID.utf8.elementsEqual(upload.uploadID.utf8) }
      found.append(entry)
    }
    return found
  }

  private func list(_ url: S3URL) async throws(Failure) -> [ListMultipartUploads.Upload] {
    let wanted = Array((url.key ?? "").utf8)
    // A directory bucket lists folders only.
    let cut = access.endpoint.kind == .directory ? (wanted.lastIndex(of: UInt8(ascii: "/")) ?? -1) + 1 : wanted.count
    let list = ListMultipartUploads(
      bucket: url.bucket, prefix: cut == 0 ? nil : String(decoding: wanted[..<cut], as: UTF8.self),
      common: access.common)
    let found = try await access.client.allUploads(list, retrying: access.retry)
    if !found.isComplete {
      session.console.line(
        "s3up: the store lists more uploads than are looked at here; these are the first \(found.uploads.count)")
    }
    return found.uploads.filter { $0.key.utf8.starts(with: wanted) }
  }

  private func parts(
    of upload: ListMultipartUploads.Upload, _ bucket: String
  ) async throws(Failure) -> [ListParts.Part]? {
    let list = ListParts(bucket: bucket, key: upload.key, uploadID: upload.uploadID, common: access.common)
    do throws(Failure) {
      return try await access.client.allParts(list, retrying: access.retry).parts
    } catch {
      if error.code == .uploadGone || error.status == 404 { return nil }
      throw error.at(Place(bucket: bucket, key: upload.key, uploadID: upload.uploadID))
    }
  }
}
