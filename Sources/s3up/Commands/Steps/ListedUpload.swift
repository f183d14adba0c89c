import MultipartBasics
import MultipartCore

/// An unfinished upload as `uploads` shows it.
struct ListedUpload {
  var bucket: String
  var key: String
  var uploadID: String
  /// Seconds since it was begun; nil if the store does not say.
  var age: Int64?
  var begun: String?
  var parts: Int?
  var bytes: Int64?
  /// The upload as the store has listed it.
  var listed: UnfinishedUpload?
  /// This machine's record of the upload.
  var record: RecordedUpload?
  /// The address of the store in the record, if it differs from this command's.
  var otherAddress: String?
  /// The address of the store in the record, if the list has uploads of several stores.
  var storeAddress: String?

  var isRunning: Bool { record?.isRunning ?? false }
  var place: Place { Place(bucket: bucket, key: key, uploadID: uploadID) }

  /// An upload known by its record.
  init(_ record: RecordedUpload, _ now: Timestamp) {
    bucket = record.bucket
    key = record.key
    uploadID = record.uploadID
    age = max(0, now.seconds - record.begun.seconds)
    begun = record.begun.iso8601
    parts = record.parts
    bytes = record.bytes
    self.record = record
  }

  init(_ upload: UnfinishedUpload, bucket: String) {
    self.bucket = bucket
    key = upload.key
    uploadID = upload.uploadID
    age = upload.age?.components.seconds
    begun = upload.begunText
    parts = upload.parts
    bytes = upload.bytes
    listed = upload
  }

  var line: String {
    // The store may have more than a run has recorded that was killed.
    let recorded = listed == nil ? " recorded" : ""
    let time = age.map { Human.clock(.seconds($0)) } ?? "?"
    let count = parts.map { Human.count($0, "part") + recorded } ?? "? parts"
    let size = bytes.map { Human.size($0) } ?? "?"
    var facts = [time, count, size, uploadID, "s3://\(bucket)/\(key)"]
    if let storeAddress { facts.append("at \(storeAddress)") }
    if let record { facts.append("from \(record.source.text)") }
    if let otherAddress { facts.append("(started at \(otherAddress); resume it here with put --resume adopt)") }
    if isRunning { facts.append("(running)") }
    return facts.map { SafeText.oneLine($0, limit: .max) }.joined(separator: "  ")
  }

  func json(_ event: String) -> String {
    JSON.object([
      ("event", .string(event)), ("bucket", .string(bucket)), ("key", .string(key)),
      ("upload_id", .string(uploadID)), ("initiated", .optional(begun)),
      ("age_seconds", age.map { .int($0) } ?? .null), ("parts", parts.map { .int(Int64($0)) } ?? .null),
      ("bytes", bytes.map { .int($0) } ?? .null),
      ("recorded", .bool(record != nil)), ("source", .optional(record?.source.text)),
      ("running", .bool(isRunning)), ("other_address", .optional(otherAddress)),
    ]).encoded
  }
}
