import MultipartCore

/// What `put` is going to do, and why.
struct PutPlan {
  let job: UploadJob
  let memory: StoreMemory?
  private let integrity: IntegrityOptions
  private let access: StoreAccess
  private let typeIsGuessed: Bool

  init(_ session: Session, file: MappedFile, target: S3URL, access: StoreAccess) throws(Failure) {
    let invocation = session.invocation
    let transfer = try TransferOptions(invocation)
    let object = try ObjectOptions(invocation)
    let connection = try ConnectionOptions(invocation)
    integrity = try IntegrityOptions(invocation)
    memory = try StateOptions(invocation, environment: session.environment).directory
      .map { StoreMemory(folder: $0.text) }
    self.access = access
    typeIsGuessed = object.contentType == nil
    var job = UploadJob(file: file, bucket: target.bucket, key: target.key ?? "")
    let guessed = typeIsGuessed ? ContentType.guess(name: file.path.name, leading: try file.leadingBytes(512)) : nil
    job.object = try object.headers(contentType: guessed)
    job.encryption = object.encryption.server
    job.customerKey = try object.encryption.customerKey(for: access.bucket.origin, insecure: connection.insecure)
    job.conditions = try ConditionOptions(invocation).write
    job.common = access.common
    job.partSize = transfer.partSize
    job.concurrency = transfer.concurrency
    job.retry = access.retry
    job.checksum = integrity.checksum.form
    if job.checksum == nil {
      job.remembered = memory?.form(for: access.signer.origin, now: session.world.now())
    }
    job.verifies = integrity.verify
    self.job = job
  }

  /// Before anything is sent: a wrong file is not worth a byte.
  func checkExpectations() throws(Failure) {
    if let size = integrity.expectSize, size != job.file.size {
      throw Failure(
        .dataMismatch, "the file has \(job.file.size) bytes, not the \(size) that --expect-size names")
    }
    if let wanted = integrity.expectSHA256 {
      let whole = PartSlice(file: job.file, offset: 0, length: job.file.size)
      let found = try whole.checksums([.sha256])[.sha256]?.hex ?? ""
      try job.file.checkUnchanged()
      guard found == wanted else {
        throw Failure(.dataMismatch, "the file's SHA-256 is \(found), not the one that --expect-sha256 names")
      }
    }
  }

  /// The lines of `--explain`.
  func explanation(_ plan: UploadPlan) async throws(Failure) -> [String] {
    let credentials = try await access.signer.credentialsSource() ?? "none: requests are not signed"
    let parts =
      plan.isSingle
      ? "one PutObject: the file is no longer than a part (\(Human.size(plan.partSize)))"
      : "\(plan.partCount) parts of \(Human.size(plan.partSize))"
        + (job.partSize == nil ? ", as the size asks for" : ", as --part-size says")
    let checksum =
      switch (job.checksum, job.remembered) {
      case (let form?, _): "\(form.title), as --checksum says"
      case (nil, let form?): "\(form.title), as was learnt of this store"
      case (nil, nil): "CRC64NVME, which S3 verifies; another if the store does not"
      }
    return [
      "source       \(SafeText.oneLine(job.file.path.text)), \(Human.size(job.file.size))",
      "target       s3://\(job.bucket)/\(SafeText.oneLine(job.key))",
      "endpoint     \(access.bucket.origin), \(access.bucket.usesPath ? "bucket in the path" : "bucket in the host")",
      "region       \(access.bucket.region) (\(access.regionSource))",
      "credentials  \(SafeText.oneLine(credentials))",
      "parts        \(parts)",
      "connections  \(job.concurrency)",
      "checksum     \(checksum)",
      "signature    " + (access.signer.signsPayload ? "covers the SHA-256 of the body" : "leaves the body to TLS"),
      "type         \(job.object.contentType ?? "none")" + (typeIsGuessed ? " (guessed)" : ""),
    ]
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
