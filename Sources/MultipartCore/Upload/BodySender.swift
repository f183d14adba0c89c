/// Sends the bytes of a part, as a part or as a whole object, and says how it is known that they arrived.
struct BodySender: Sendable {
  let client: S3Client
  let job: UploadJob
  let asked: RequestedSettings
  let progress: UploadProgress

  struct Sent: Sendable {
    var etag: String?
    var checksum: Checksum?
    var md5: Checksum?
    var proof: PartProof
  }

  func sendPart(
    _ body: any PartBody, number: Int, uploadID: String, form: ChecksumForm, fresh: Bool, isCopy: Bool = false,
    createNamedEncryption: Bool = false
  ) async throws(Failure) -> PartReceipt {
    let form = carried(form)
    let sums = try await sums(of: body, form)
    let operation = UploadPart(
      bucket: job.bucket, key: job.key, uploadID: uploadID, partNumber: number, body: .part(body),
      checksum: form.header(sums), payloadSHA256: sums[.sha256].flatMap { client.signsPayload ? $0.hex : nil },
      customerKey: job.customerKey, common: job.common)
    let answer = try await counted(operation, body, fresh, UploadProgress.Transfer(part: number, isCopy: isCopy))
    try requireEncrypted(answer.encryption, answer.requestID, isConfirmed: createNamedEncryption)
    guard let etag = answer.etag, ETag(etag) != nil else {
      throw Failure(.server, "the store answered without an ETag", status: 200, requestID: answer.requestID)
    }
    // Also where the signature holds the payload's SHA-256: a store that gives no checksum back may not look at that.
    let sent = try assess(
      body, form, sums, etag: etag, checksums: answer.checksums, encryption: answer.encryption,
      comparesMD5: job.checksum != ChecksumForm.none)
    return PartReceipt(
      number: number, size: body.length, etag: etag, checksum: sent.checksum, proof: sent.proof,
      localSum: sent.checksum ?? sent.md5 ?? sums.first?.value)
  }

  func put(
    _ body: any PartBody, form: ChecksumForm, sums: [ChecksumAlgorithm: Checksum], fresh: Bool
  ) async throws(Failure) -> (sent: Sent, answer: PutObject.Output) {
    let form = carried(form)
    let operation = PutObject(
      bucket: job.bucket, key: job.key, body: .source(body), object: job.object, checksum: form.header(sums),
      payloadSHA256: sums[.sha256].flatMap { client.signsPayload ? $0.hex : nil }, conditions: job.conditions,
      encryption: job.encryption, customerKey: job.customerKey, common: job.common)
    // As with complete: a condition is met once only, and libcurl must not repeat the request by itself.
    let answer = try await counted(operation, body, fresh || job.conditions != WriteConditions())
    try requireEncrypted(answer.encryption, answer.requestID, whole: true)
    let sent = try assess(
      body, form, sums, etag: answer.etag, checksums: answer.checksums, encryption: answer.encryption,
      comparesMD5: job.checksum != ChecksumForm.none, isPublished: true)
    return (sent, answer)
  }

  /// A request that locks an object carries a digest of its bytes: S3 takes none without, whatever else was asked for.
  func carried(_ form: ChecksumForm) -> ChecksumForm {
    form == .none && asked.locks ? .md5 : form
  }

  /// S3 names the encryption in its answer. A store that does not know it passes over its headers and keeps the bytes as
  /// they are, with a 200. Where the answer to create named it, that of a part may say nothing, but nothing else.
  private func requireEncrypted(
    _ found: EncryptionInfo, _ requestID: String?, whole: Bool = false, isConfirmed: Bool = false
  ) throws(Failure) {
    let lost = asked.findings(inWrite: found).filter { finding in
      isConfirmed && finding.setting != .customerKey ? finding.contradicts : finding.isDropped
    }
    guard let first = lost.first else { return }
    if first.setting == .customerKey {
      let message = "the store does not encrypt with the SSE-C key"
      throw Failure(
        .refused, whole ? message + ": the object is there, unencrypted" : message, requestID: requestID,
        remedy: whole
          ? "delete the object, or upload it without \(.customerKey): this store has no SSE-C"
          : "this store has no SSE-C: leave \(.customerKey) out")
    }
    let message = "the store does not encrypt as asked for: it answers with \(first.sentence)"
    throw Failure(
      .refused, whole ? message + ", and the object is there" : message, requestID: requestID,
      remedy: "\(whole ? "delete the object, or upload it" : "upload it") without \(first.setting.option): "
        + "this store does not confirm it")
  }

  /// Checks the source after a part, and puts a failure down to the source when that has changed: a checksum that
  /// does not fit is then its consequence.
  private func counted<Operation: S3Operation>(
    _ operation: Operation, _ body: any PartBody, _ fresh: Bool, _ transfer: UploadProgress.Transfer? = nil
  ) async throws(Failure) -> Operation.Output {
    let part = progress.begin(transfer)
    var confirmed: Int64?
    defer { part.end(confirmed: confirmed) }
    do throws(Failure) {
      let answer = try await client.perform(operation) { request in
        request.freshConnection = fresh
        request.onSent = { part.add($0) }
        request.onAcknowledged = { part.acknowledge($0) }
      }
      // The last bytes went out only while the source was the one it had been. What changes it later cannot take back an
      // object that is there.
      if transfer != nil { try body.checkSource() }
      confirmed = body.length
      return answer
    } catch {
      try body.checkSource()
      throw error
    }
  }

  /// What the request carries, and what its signature needs.
  func sums(of body: any PartBody, _ form: ChecksumForm) async throws(Failure) -> [ChecksumAlgorithm: Checksum] {
    try body.checkSource()
    var wanted: Set<ChecksumAlgorithm> = client.signsPayload ? [.sha256] : []
    switch carried(form) {
    case .algorithm(let algorithm): wanted.insert(algorithm)
    case .md5: wanted.insert(.md5)
    case .none: break
    }
    return try await body.sums(wanted) { [progress] in progress.isStopped }
  }

  /// What the store gave back decides. Without a checksum the ETag is held against the MD5 of the bytes, computed now
  /// where it was not sent.
  private func assess(
    _ body: any PartBody, _ form: ChecksumForm, _ sums: [ChecksumAlgorithm: Checksum], etag: String?,
    checksums given: [String: String], encryption: EncryptionInfo, comparesMD5: Bool, isPublished: Bool = false
  ) throws(Failure) -> Sent {
    var sent = Sent(etag: etag, checksum: nil, md5: sums[.md5], proof: .none)
    if case .algorithm(let algorithm) = form, let sum = sums[algorithm] {
      sent.checksum = sum
      if let text = given[algorithm.headerName] {
        guard Checksum(algorithm, base64: text) == sum else {
          throw Failure(.dataMismatch, "the store received other bytes than were sent (\(algorithm.awsName ?? ""))")
        }
        sent.proof = .checksum
        return sent
      }
    }
    if client.signsPayload {
      sent.proof = .signedPayload
    } else if form == .md5 {
      sent.proof = .contentMD5
    }
    guard comparesMD5 || sums[.md5] != nil, job.etagMayBeMD5, encryption.etagMayBeMD5,
      case .md5(let named)? = etag.flatMap(ETag.init)?.form
    else { return sent }
    var md5 = sums[.md5]
    if md5 == nil {
      do throws(Failure) {
        md5 = try body.checksums([.md5], unless: { progress.isStopped || Task.isCancelled })[.md5]
      } catch {
        // An object that is there stays there, whatever becomes of the file or of this run.
        if isPublished { return sent }
        throw error
      }
    }
    guard let md5 else { return sent }
    guard named == md5.bytes else {
      if isPublished, (try? body.checkSource()) == nil { return sent }
      throw Failure(
        .dataMismatch, "the ETag is not the MD5 of the bytes that were sent",
        remedy:
          "the store received other bytes; or its ETags only look like MD5s, and \(.checksum, "none") leaves this out")
    }
    sent.md5 = md5
    sent.proof = max(sent.proof, .etag)
    return sent
  }
}

extension ChecksumForm {
  /// The header that carries the value for the store to verify.
  func header(_ sums: [ChecksumAlgorithm: Checksum]) -> NamedValue? {
    switch self {
    case .algorithm(let algorithm): sums[algorithm].map { NamedValue(algorithm.headerName, $0.base64) }
    case .md5: sums[.md5].map { NamedValue("Content-MD5", $0.base64) }
    case .none: nil
    }
  }
}
