import MultipartBasics

/// What to do about an unfinished upload to the same key.
public enum ResumeMode: String, Sendable, CaseIterable {
  /// Resume the upload that this machine has recorded.
  case auto
  /// Resume the upload that this machine has recorded; without a record, resume an upload at the store whose parts all
  /// match the source.
  case adopt
  /// Begin a new upload, and abort the recorded one.
  case never
  /// Resume the upload that this machine has recorded, or fail.
  case require
}

/// What to upload, where to, and how.
struct UploadJob: Sendable {
  var source: UploadSource
  var address: ObjectAddress
  var object = ObjectHeaders()
  /// The content type was guessed, and not requested.
  var typeIsGuessed = false
  var encryption: ServerSideEncryption?
  var conditions = WriteConditions()
  /// The size of a part; nil: chosen by the file's size.
  var partSize: Int64?
  /// The upload was begun in parts of `partSize`, regardless of the source's size.
  var isInParts = false
  /// Files of at least this size are sent in parts; nil: those longer than one part.
  var threshold: Int64?
  /// What the line was like; with the file's size, it determines the part size if `partSize` is nil.
  var line = LineClass.usual
  /// The caller's limit: the rate of such a run says nothing about the line.
  var limitRate: RateLimit?
  var concurrency = 8
  /// Bounds for finding the number of connections; nil: it is fixed at `concurrency`.
  var pace: Pace.Bounds?
  var retry = RetryPolicy()
  /// The requested checksum; nil is `auto`: CRC64NVME, or a weaker one if the store does not verify it.
  var checksum: ChecksumForm?
  /// The checksum that earlier runs found this store to verify.
  var remembered: ChecksumForm?
  var verifies = false
  var resume = ResumeMode.auto
  /// An upload is adopted only if nothing was sent to it for this long. Not an option: a shorter time would take over
  /// uploads that are still running.
  var quietTime = Duration.seconds(60)
  /// An interruption aborts the upload instead of keeping it for the next run.
  var abortsOnInterrupt = false
  /// Whether a part that delays the end is sent a second time.
  var hedges = true
  /// Whether the answer to create says when a lifecycle rule will abort the upload, if there is one (AWS only).
  var expectsAbortDate = false
  /// S3 Express: ETags say nothing about the bytes, and lists are unsorted and allow only prefixes that end with `/`.
  var isDirectoryBucket = false
  /// The issuer of the upload says that the ETags of its parts are not MD5s.
  var etagsAreOpaque = false
  /// How to find out whether the object is already identical to the source; nil: it is replaced without a check.
  var sameness: SamenessQuestion?
  /// An existing object is left as it is, which is not a failure.
  var skipsExisting = false
  /// The result contains the SHA-256 of the file as it is at the store.
  var wantsSHA256 = false
  /// Finds out what would be sent, without sending anything.
  var onlyLooks = false
  /// The file's name in a list of files.
  var listName: [UInt8]?
  /// A small file is read at once, and not mapped.
  var readsWhole = false
  /// How long to wait for another run that is uploading to the same object; nil: fail at once.
  var waitForOtherUpload: Duration?
  /// The upload is that of a ticket.
  var ticket: Ticket?
  /// The parts of the ticket that this run sends; nil: all.
  var share: Range<Int>?

  init(file: SourceFile, to address: ObjectAddress) {
    self.init(source: .file(file), to: address)
  }

  init(source: UploadSource, to address: ObjectAddress) {
    self.source = source
    self.address = address
  }

  var bucket: String { address.bucket }
  var key: String { address.key }
  var place: Place { Place(file: source.path.text, bucket: bucket, key: key) }

  /// Whether the source is read at once, and not mapped.
  var isReadWhole: Bool { readsWhole && source.size.map { $0 <= FileBytes.most } ?? false }

  /// Whether only the object's bytes show that it is the file, and neither a record nor a time does.
  var wantsBytesCompared: Bool { verifies || wantsSHA256 }

  /// What a part carries if no checksum algorithm of its upload is known: Content-MD5, which every upload accepts except
  /// one to a directory bucket. A signature of the bytes is as good.
  func plainForm(_ client: S3Client) -> ChecksumForm { client.signsPayload || isDirectoryBucket ? .nothing : .md5 }

  /// The action that aborts an upload to this object.
  func abort(_ uploadID: String) -> RemedyAction { .abort(bucket: bucket, key: key, uploadID: uploadID) }

  /// Whether the caller requested nothing that an unrecorded upload could lack: no encryption, access rule, lock or
  /// object header. Only then may such an upload be adopted, because stores do not show what an unfinished upload was
  /// created with.
  var asksForNothingUnseen: Bool {
    var object = object
    if typeIsGuessed { object.contentType = nil }
    return object == ObjectHeaders() && encryption == nil && address.customerKey == nil
  }

  /// The object's settings that answers must confirm.
  func requested() throws(Failure) -> RequestedSettings {
    if let ticket { return ticket.asked }
    return try RequestedSettings(
      object: object, typeIsGuessed: typeIsGuessed, encryption: encryption, customerKey: address.customerKey)
  }

  /// Whether the ETag may be an MD5: that of an encrypted object may only look like one.
  var etagMayBeMD5: Bool {
    !isDirectoryBucket && !etagsAreOpaque && address.customerKey == nil
      && (encryption == nil || encryption?.algorithm == .aes256)
  }

  /// The message for a checksum that was requested by name and that the store has not verified.
  func unverified(_ proof: PartProof) -> Wording? {
    guard ticket == nil, case .algorithm(let algorithm)? = checksum, proof < .checksum else { return nil }
    let name = algorithm.awsName ?? algorithm.rawValue
    return "the store returns no \(name), so it has not verified the checksum requested by \(.checksum)"
  }

  func settings(plan: UploadPlan, signsPayload: Bool) -> UploadMachine.Settings {
    var form = checksum ?? remembered ?? .algorithm(.crc64nvme)
    if checksum == nil, form == .md5, signsPayload { form = .nothing }
    var settings = UploadMachine.Settings(
      plan: plan, form: form, formIsFree: checksum == nil, payloadIsSigned: signsPayload,
      checksFirst: conditions.ifNoneMatch || conditions.ifMatch != nil || sameness != nil, alwaysVerifies: verifies)
    settings.finds = true
    settings.isStream = source.isStream
    settings.onlyLooks = onlyLooks
    settings.skipsExisting = skipsExisting
    settings.isTicket = ticket != nil
    settings.share = share
    settings.requiresResume = resume == .require
    settings.quietTime = quietTime
    settings.keepsOn =
      source.isStream && ticket == nil ? [] : Failure.Code.passing.subtracting(abortsOnInterrupt ? [.interrupted] : [])
    return settings
  }

  /// How the source is divided. For a stream only the size of the first part is planned here; its own plan gives the
  /// sizes of its pieces.
  func plan() throws(Failure) -> UploadPlan {
    if let partSize, isInParts { return try UploadPlan(inParts: source.size ?? 0, of: partSize) }
    return try UploadPlan(size: source.size ?? 0, partSize: partSize, threshold: threshold, line: line)
  }

  /// On a shorter path losses are repaired before they cost anything.
  static let longTrip: Duration = .milliseconds(1)
  private static let longFile: Int64 = 2 << 30

  /// A plan of smaller parts, for a line that was never seen to be fast: if losses limit each connection, it needs
  /// many, each with its own part. A long file has enough parts anyway.
  func finer(than plan: UploadPlan, roundTrip: Duration) -> UploadPlan? {
    guard !line.isFast, partSize == nil, !source.isStream, !plan.isSingle, plan.size < Self.longFile,
      roundTrip >= Self.longTrip, let finer = try? UploadPlan(size: plan.size, partSize: S3Limits.smallestPart),
      !finer.isSingle, finer.partSize < plan.partSize
    else { return nil }
    return finer
  }

  func scheduling(_ plan: UploadPlan, seed: UInt64, now: Timestamp) -> RunSettings {
    var settings = RunSettings()
    settings.limitRate = limitRate?.rate(at: now)
    settings.concurrency = concurrency
    settings.pace = plan.isSingle && !source.isStream ? nil : pace
    settings.pace?.limit = settings.limitRate
    settings.retry = retry
    settings.hedges = hedges
    settings.buffers = line.buffers
    settings.seed = seed
    return settings
  }

  /// A digest of everything that an upload is created with and that a later run cannot change.
  func digest(withChecksum: Bool = false) throws(Failure) -> String {
    var digest = OptionsDigest()
    let plain = ObjectAddress(bucket, key, address.common)
    let create = CreateMultipartUpload(plain, object: object, encryption: encryption)
    for field in try create.request().headers.fields { digest.add(field.name.lowercased(), field.value) }
    // Parts under two keys would make an object that no key can read.
    let mark = try address.customerKey.map { (key) throws(Failure) in try key.mark(salt: "record of \(bucket)") }
    digest.add("customer key", mark)
    // An upload that is resumed keeps its own, which its record has.
    if withChecksum, let checksum { digest.add("checksum", checksum.word) }
    return try digest.hex()
  }
}

extension UploadJob {
  /// What a batch records about the upload.
  func recorded() throws(Failure) -> RunRecord.Object {
    RunRecord.Object(bucket: bucket, key: key, options: try digest(withChecksum: true), source: source.identity)
  }
}
