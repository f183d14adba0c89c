/// What to do about an unfinished upload of the same object.
public enum ResumeMode: String, Sendable, CaseIterable {
  /// Go on with the one of this machine's own record.
  case auto
  /// The same, and without a record with one at the store whose parts are all the source's.
  case adopt
  /// Begin anew, and end the one of its own.
  case never
  /// Go on with the one of this machine's own record, or fail.
  case require
}

/// What shall be uploaded, whereto, and how.
package struct UploadJob: Sendable {
  package var source: UploadSource
  package var bucket: String
  package var key: String
  package var object = ObjectHeaders()
  /// The object's content type is this program's guess, not somebody's wish.
  package var typeIsGuessed = false
  package var encryption: ServerSideEncryption?
  package var customerKey: CustomerKey?
  package var conditions = WriteConditions()
  package var common = CommonHeaders()
  /// Nil lets the size decide.
  package var partSize: Int64?
  /// From this size on a file goes in parts; nil: what is longer than one part.
  package var threshold: Int64?
  /// Decides with the size of a file where `partSize` does not.
  package var line = LineClass.usual
  /// Bytes a second, as the caller limits them: the rate of such a run says nothing about the line.
  package var limitRate: Int64?
  package var concurrency = 8
  /// The number of connections is found out; nil: it is `concurrency`.
  package var pace: Pace.Bounds?
  package var retry = RetryPolicy()
  /// Nil is `auto`: CRC64NVME, stepped down where the store does not verify it.
  package var checksum: ChecksumForm?
  /// What is known of the store from earlier runs.
  package var remembered: ChecksumForm?
  package var verifies = false
  package var resume = ResumeMode.auto
  /// So long nobody may have sent to an upload that is adopted. No option: who could not wait would take live ones.
  package var quietTime = Duration.seconds(60)
  /// An interruption aborts the upload instead of keeping it for the next run.
  package var abortsOnInterrupt = false
  /// A part that holds up the end is sent a second time.
  package var hedges = true
  /// On AWS the answer to create says when a lifecycle rule will clean up, where there is one.
  package var expectsAbortDate = false
  /// S3 Express: ETags say nothing of the bytes, and lists are neither sorted nor cut at any prefix.
  package var isDirectoryBucket = false
  /// How long to wait for another run that is at the same object; nil: not at all.
  package var lockPatience: Duration?

  package init(file: SourceFile, bucket: String, key: String) {
    self.init(source: .file(file), bucket: bucket, key: key)
  }

  package init(source: UploadSource, bucket: String, key: String) {
    self.source = source
    self.bucket = bucket
    self.key = key
  }

  package var place: Place { Place(file: source.path.text, bucket: bucket, key: key) }

  /// What ends an upload of this object.
  func abort(_ uploadID: String) -> RemedyAction { .abort(bucket: bucket, key: key, uploadID: uploadID) }

  /// No store tells what an unfinished upload was created with. One that this machine knows nothing of may be adopted
  /// where nothing that was asked for is lost by that: no encryption, no access rule, no lock, no header of the object.
  var asksForNothingUnseen: Bool {
    var object = object
    if typeIsGuessed { object.contentType = nil }
    return object == ObjectHeaders() && encryption == nil && customerKey == nil
  }

  /// What the object shall be, and what answers have to confirm.
  package func requested() throws(Failure) -> RequestedSettings {
    try RequestedSettings(
      object: object, typeIsGuessed: typeIsGuessed, encryption: encryption, customerKey: customerKey)
  }

  /// An encrypted object's ETag can look like an MD5 without being one.
  var etagMayBeMD5: Bool {
    !isDirectoryBucket && customerKey == nil && (encryption == nil || encryption?.algorithm == .aes256)
  }

  /// What to say when a store has not verified the checksum that was asked for by name.
  func unverified(_ proof: PartProof) -> Wording? {
    guard case .algorithm(let algorithm)? = checksum, proof < .checksum else { return nil }
    let name = algorithm.awsName ?? algorithm.rawValue
    return "the store gives no \(name) back, so it has not verified the checksum that \(.checksum) asks for"
  }

  func settings(plan: UploadPlan, signsPayload: Bool) -> UploadMachine.Settings {
    var form = checksum ?? remembered ?? .algorithm(.crc64nvme)
    if checksum == nil, form == .md5, signsPayload { form = .none }
    var settings = UploadMachine.Settings(
      plan: plan, form: form, formIsFree: checksum == nil, payloadIsSigned: signsPayload,
      checksFirst: conditions.ifNoneMatch || conditions.ifMatch != nil, alwaysVerifies: verifies)
    settings.finds = true
    settings.isStream = source.isStream
    settings.requiresResume = resume == .require
    settings.quietTime = quietTime
    settings.keepsOn = source.isStream ? [] : Self.passing.subtracting(abortsOnInterrupt ? [.interrupted] : [])
    return settings
  }

  func scheduling(_ plan: UploadPlan, seed: UInt64) -> Scheduler.Settings {
    var settings = Scheduler.Settings()
    settings.concurrency = concurrency
    settings.pace = plan.isSingle && !source.isStream ? nil : pace
    settings.pace?.limit = limitRate
    settings.retry = retry
    settings.hedges = hedges
    settings.limitRate = limitRate
    settings.seed = seed
    return settings
  }

  /// What may be otherwise at the next run, with the same source and the same command.
  private static let passing: Set<Failure.Code> = [
    .network, .tls, .stalled, .throttled, .server, .credentials, .credentialsExpired, .clockSkew, .configuration,
    .local, .deadline, .interrupted,
  ]

  /// What an upload was created with and a later run cannot change.
  package func digest() throws(Failure) -> String {
    var digest = OptionsDigest()
    let create = CreateMultipartUpload(
      bucket: bucket, key: key, object: object, encryption: encryption, common: common)
    for field in try create.request().headers.fields { digest.add(field.name.lowercased(), field.value) }
    digest.add("customer key", customerKey == nil ? nil : "one")
    return try digest.hex()
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
  /// Bytes that the store had already.
  package var bytesResumed: Int64 = 0
  package var retries: Int
}
