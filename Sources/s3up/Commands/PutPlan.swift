import MultipartCore

/// What `put` is going to do, and why.
struct PutPlan {
  let job: UploadJob
  let memory: StoreMemory?
  let book: RecordBook?
  let deadline: Duration?
  private let integrity: IntegrityOptions
  private let access: StoreAccess
  private let typeIsGuessed: Bool

  init(
    _ session: Session, source: UploadSource, target: S3URL, access: StoreAccess, memory: StoreMemory?,
    lessons: StoreLessons?
  ) throws(Failure) {
    let invocation = session.invocation
    let transfer = access.transfer
    let object = try ObjectOptions(invocation)
    let connection = try ConnectionOptions(invocation)
    integrity = try IntegrityOptions(invocation)
    let resume = try ResumeOptions(invocation)
    let folder = try StateOptions(invocation, environment: session.environment).directory
    self.memory = memory
    book = folder.map { RecordBook(folder: $0.text) }
    deadline = resume.deadline
    self.access = access
    typeIsGuessed = object.contentType == nil
    var job = UploadJob(source: source, bucket: target.bucket, key: target.key ?? "")
    job.object = try object.headers(contentType: typeIsGuessed ? try Self.guess(source, key: job.key) : nil)
    job.typeIsGuessed = typeIsGuessed
    job.encryption = object.encryption.server
    job.customerKey = try object.encryption.customerKey(for: access.bucket.origin, insecure: connection.insecure)
    job.conditions = try ConditionOptions(invocation).write
    job.common = access.common
    job.isDirectoryBucket = access.bucket.kind == .directory
    if job.isDirectoryBucket { try DirectoryBucket.check(invocation) }
    job.expectsAbortDate = access.bucket.isAWS && !job.isDirectoryBucket
    job.partSize = source.isStream ? transfer.partSize : transfer.partSize(forFileOf: source.size ?? 0)
    job.threshold = source.isStream ? nil : transfer.threshold
    job.line = (lessons?.line ?? .usual).bounded(by: transfer.limitRate)
    job.limitRate = transfer.limitRate
    job.concurrency = transfer.concurrency
    job.pace = ConnectionBounds.pace(
      transfer, isStream: source.isStream, line: lessons?.line, descriptors: ConnectionBounds.descriptors)
    job.hedges = transfer.hedges
    job.retry = access.retry
    job.checksum = integrity.checksum.form
    if job.checksum == nil {
      job.remembered = lessons?.form
      if job.isDirectoryBucket, job.remembered == .md5 { job.remembered = nil }
    }
    job.verifies = integrity.verify
    job.resume = ResumeMode(rawValue: resume.mode.rawValue) ?? .auto
    job.abortsOnInterrupt = resume.onInterrupt == .abort
    job.lockPatience = resume.lockPatience
    self.job = job
  }

  /// By the source's name or the key's, else by the first bytes, which of a stream nobody has seen yet.
  private static func guess(_ source: UploadSource, key: String) throws(Failure) -> String {
    let named = ContentType.guess(name: key, leading: [])
    guard case .file(let file) = source else { return named }
    let own = ContentType.guess(name: file.path.name, leading: [])
    if own != ContentType.unknown { return own }
    return named != ContentType.unknown
      ? named : ContentType.guess(name: file.path.name, leading: try file.leadingBytes(ContentType.leadingLength))
  }

  /// Before anything is sent: a wrong file is not worth a byte.
  func checkExpectations() throws(Failure) {
    guard case .file(let file) = job.source else { return }
    if let least = integrity.minSize, file.size < least {
      throw Failure(
        .dataMismatch, "the file has \(file.size) bytes, less than the \(least) that --min-size names")
    }
    if let size = integrity.expectSize, size != file.size {
      throw Failure(
        .dataMismatch, "the file has \(file.size) bytes, not the \(size) that --expect-size names")
    }
    if let wanted = integrity.expectSHA256 {
      let whole = PartSlice(file: file, offset: 0, length: file.size)
      let sum = try whole.checksums([.sha256])[.sha256]
      try file.checkUnchanged()
      guard let sum, sum.hex == wanted else {
        throw Failure(
          .dataMismatch, "the file's SHA-256 is \(sum?.hex ?? "not known"), not the one that --expect-sha256 names")
      }
      file.promise(sum)
    }
  }

  /// The lines of `--explain`.
  func explanation(_ plan: UploadPlan) async throws(Failure) -> [String] {
    let settings = access.settings
    let credentials = try await access.signer.currentCredentials()?.source ?? "none: requests are not signed"
    let parts =
      if case .stream(let stream) = job.source {
        explanation(stream)
      } else if plan.isSingle {
        job.threshold.map {
          "one PutObject: the file is shorter than \(Human.size($0)), as \(settings.source(.partSize)) says"
        }
          ?? "one PutObject: the file is no longer than a part (\(Human.size(plan.partSize)))"
      } else {
        "\(plan.partCount) parts of \(Human.size(plan.partSize))"
          + (job.partSize == nil ? reason(plan) : ", as \(settings.source(.partSize)) says")
      }
    let checksum =
      switch (job.checksum, job.remembered) {
      case (let form?, _): "\(form.title), as --checksum says"
      case (nil, let form?): "\(form.title), as was learnt of this store"
      case (nil, nil): "CRC64NVME, which S3 verifies; another if the store does not"
      }
    return [
      "source       \(SafeText.oneLine(job.source.path.text)), "
        + (job.source.size.map(Human.size) ?? "of unknown length"),
      "target       s3://\(job.bucket)/\(SafeText.oneLine(job.key))",
      "endpoint     \(access.bucket.origin) (\(settings.endpointSource(access.bucket))), "
        + (access.bucket.usesPath ? "bucket in the path" : "bucket in the host")
        + (settings.sources[.addressing].map { ", as \($0) says" } ?? ""),
      "region       \(access.bucket.region) (\(settings.source(.region)))",
      "credentials  \(SafeText.oneLine(credentials))",
      "parts        \(parts)",
      "connections  \(connections) (\(settings.source(.concurrency)))",
      "rate         \(rate)",
      "checksum     \(checksum)",
      "signature    " + (access.signer.signsPayload ? "covers the SHA-256 of the body" : "leaves the body to TLS")
        + (settings.sources[.payloadSigning].map { ", as \($0) says" } ?? ""),
      "type         \(job.object.contentType ?? "none")" + (typeIsGuessed ? " (guessed)" : ""),
    ]
  }
}

extension PutPlan {
  fileprivate var connections: String {
    guard let pace = job.pace else { return String(job.concurrency) }
    let opening = pace.opening ?? pace.start
    let first = "\(opening) at first" + (opening < pace.start ? ", \(pace.start) once the line takes them" : "")
    let more = pace.most > pace.start ? ", up to \(pace.most) while more are faster" : ""
    return first + more + ", fewer where the line\(job.limitRate == nil ? "" : " or the limit") is slow"
  }

  fileprivate func reason(_ plan: UploadPlan) -> String {
    guard let usual = try? UploadPlan(size: plan.size), usual.partSize != plan.partSize else {
      return ", as the size asks for"
    }
    return ", as the size asks for on a line that was \(job.line.rawValue)"
  }

  fileprivate var rate: String {
    guard let rate = access.transfer.limitRate else { return "not limited" }
    return "\(Human.size(rate)) a second (\(access.settings.source(.limitRate)))"
  }

  fileprivate func explanation(_ stream: UploadStream) -> String {
    let plan = stream.source.plan
    let size = "parts of \(Human.size(plan.firstSize))" + (plan.isEqual ? "" : ", growing with the stream")
    let cap = plan.memoryCap(concurrency: job.concurrency, length: plan.capacity)
    let first = plan.memoryCap(concurrency: job.concurrency, length: plan.firstSize)
    return size + "; up to \(Human.size(plan.capacity)) in all; at most \(Human.size(first)) of them in memory"
      + (cap > first ? ", \(Human.size(cap)) for the longest stream" : "")
  }
}

extension ChecksumForm {
  var title: String {
    switch self {
    case .algorithm(let algorithm): algorithm.awsName ?? algorithm.rawValue
    case .md5: "Content-MD5"
    case .none: "none"
    }
  }
}
