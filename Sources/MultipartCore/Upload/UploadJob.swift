/// What shall be uploaded, whereto, and how.
package struct UploadJob: Sendable {
  package var file: MappedFile
  package var bucket: String
  package var key: String
  package var object = ObjectHeaders()
  package var encryption: ServerSideEncryption?
  package var customerKey: CustomerKey?
  package var conditions = WriteConditions()
  package var common = CommonHeaders()
  /// Nil lets the size decide.
  package var partSize: Int64?
  package var concurrency = 8
  package var retry = RetryPolicy()
  /// Nil is `auto`: CRC64NVME, stepped down where the store does not verify it.
  package var checksum: ChecksumForm?
  /// What is known of the store from earlier runs.
  package var remembered: ChecksumForm?
  package var verifies = false

  package init(file: MappedFile, bucket: String, key: String) {
    self.file = file
    self.bucket = bucket
    self.key = key
  }

  package var place: Place { Place(file: file.path.text, bucket: bucket, key: key) }

  /// An encrypted object's ETag can look like an MD5 without being one.
  var etagMayBeMD5: Bool {
    customerKey == nil && (encryption == nil || encryption?.algorithm == .aes256)
  }

  func settings(plan: UploadPlan, signsPayload: Bool, seed: UInt64) -> UploadMachine.Settings {
    var form = checksum ?? remembered ?? .algorithm(.crc64nvme)
    if checksum == nil, form == .md5, signsPayload { form = .none }
    return UploadMachine.Settings(
      plan: plan, concurrency: concurrency, retry: retry, form: form, formIsFree: checksum == nil,
      payloadIsSigned: signsPayload, checksFirst: conditions.ifNoneMatch || conditions.ifMatch != nil,
      alwaysVerifies: verifies, seed: seed)
  }
}

/// What a finished upload is, and how that is known.
package struct UploadResult: Sendable {
  package var size: Int64
  package var parts: Int
  /// What the store said of the object last.
  package var object: ReportedObject
  package var sum: Expectation.Sum?
  package var evidence: String
  package var bytesSent: Int64
  package var retries: Int
}

/// What those who watch an upload are told.
package enum UploadNews: Sendable {
  case started(uploadID: String?, plan: UploadPlan)
  case part(PartReceipt, took: Duration)
  case notice(UploadMachine.Notice)
}
