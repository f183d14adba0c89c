/// Sends the bytes of a part, or of a whole object, and determines the proof that they arrived.
struct BodySender: Sendable {
  let client: S3Client
  let job: UploadJob
  let asked: RequestedSettings
  let progress: TransferProgress

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
    let sums = try await sums(of: body, form, part: number)
    let operation = UploadPart(
      job.address, uploadID: uploadID, partNumber: number, body: .part(body),
      checksum: form.header(sums), payloadSHA256: sums[.sha256].flatMap { client.signsPayload ? $0.hex : nil })
    let answer = try await counted(operation, body, fresh, TransferProgress.Transfer(part: number, isCopy: isCopy))
    try requireEncrypted(answer.encryption, answer.requestID, isConfirmed: createNamedEncryption)
    let etag = try answer.requiredETag()
    // This applies even if the signature covers the payload's SHA-256: a store that returns no checksum may not verify
    // that either.
    let sent = try assess(
      body, form, sums, etag: etag, checksums: answer.checksums, encryption: answer.encryption,
      comparesMD5: job.checksum != ChecksumForm.nothing)
    return PartReceipt(
      number: number, size: body.length, etag: etag, checksum: sent.checksum, proof: sent.proof,
      localSum: sent.checksum ?? sent.md5 ?? sums.first?.value)
  }

  func put(
    _ body: any PartBody, form: ChecksumForm, sums: [ChecksumAlgorithm: Checksum], fresh: Bool
  ) async throws(Failure) -> (sent: Sent, answer: WrittenObject) {
    let form = carried(form)
    var operation = PutObject(
      job.address, body: .source(body), object: job.object, checksum: form.header(sums),
      payloadSHA256: sums[.sha256].flatMap { client.signsPayload ? $0.hex : nil }, conditions: job.conditions,
      encryption: job.encryption)
    // As for complete: libcurl must not repeat the request, because the second time the condition would fail due to the
    // first try.
    let fresh = fresh || job.conditions != WriteConditions()
    let answer = try await job.conditions.sending(of: HeadObject(job.address), client) { (conditions) throws(Failure) in
      operation.conditions = conditions
      return try await counted(operation, body, fresh)
    }
    try requireEncrypted(answer.encryption, answer.requestID, whole: true)
    let sent = try assess(
      body, form, sums, etag: answer.etag, checksums: answer.checksums, encryption: answer.encryption,
      comparesMD5: job.checksum != ChecksumForm.nothing, isPublished: true)
    return (sent, answer)
  }

  /// A request that locks an object carries a digest of its bytes, because S3 requires one whatever else is set.
  func carried(_ form: ChecksumForm) -> ChecksumForm {
    form == .nothing && asked.locks && job.ticket == nil ? .md5 : form
  }

  /// Requires that the response names the encryption, as that of S3 does. A store that does not support encryption
  /// ignores the headers and stores the bytes unencrypted, with a 200. If the response to create named the encryption,
  /// that of a part may omit it, but must not name a different one.
  private func requireEncrypted(
    _ found: EncryptionInfo, _ requestID: String?, whole: Bool = false, isConfirmed: Bool = false
  ) throws(Failure) {
    let lost = asked.findings(inWrite: found).filter { finding in
      isConfirmed && finding.setting != .customerKey ? finding.contradicts : finding.isDropped
    }
    if let first = lost.first { throw refusal(first, requestID, whole: whole) }
  }

  func refusal(_ first: RequestedSettings.Finding, _ requestID: String?, whole: Bool = false) -> Failure {
    if first.setting == .customerKey {
      let message = "the store does not encrypt with the SSE-C key"
      return Failure(
        .refused, whole ? message + ": the object exists, unencrypted" : message, requestID: requestID,
        remedy: whole
          ? "delete the object, or upload it without \(.customerKey): this store has no SSE-C"
          : "this store has no SSE-C: leave \(.customerKey) out")
    }
    let message = "the store does not encrypt as requested: it answers with \(first.sentence)"
    return Failure(
      .refused, whole ? message + ", and the object exists" : message, requestID: requestID,
      remedy: "\(whole ? "delete the object, or upload it" : "upload it") without \(first.setting.option): "
        + "this store does not confirm it")
  }

  /// Checks the source after a part. If the source has changed, that is the failure: a checksum mismatch is only a
  /// consequence.
  private func counted<Operation: S3Operation>(
    _ operation: Operation, _ body: any PartBody, _ fresh: Bool, _ transfer: TransferProgress.Transfer? = nil
  ) async throws(Failure) -> Operation.Output {
    let part = progress.begin(transfer, sending: body.length)
    var confirmed: Int64?
    defer { part.end(confirmed: confirmed) }
    do throws(Failure) {
      let answer = try await client.perform(operation) { request in
        request.freshConnection = fresh
        part.goes(with: request.trace)
        request.onSent = { [trace = request.trace] in part.add($0, of: trace) }
        request.onAcknowledged = { part.acknowledge($0) }
      }
      // The last bytes were sent only if the source had not changed. A later change does not matter: the object already
      // exists.
      if transfer != nil { try body.checkSource() }
      confirmed = body.length
      return answer
    } catch {
      try body.checkSource()
      throw error
    }
  }

  /// The checksums that the request carries and its signature needs, and `others`.
  func sums(
    of body: any PartBody, _ form: ChecksumForm, also others: Set<ChecksumAlgorithm> = [], part: Int? = nil
  ) async throws(Failure) -> [ChecksumAlgorithm: Checksum] {
    try body.checkSource()
    var wanted = others
    if client.signsPayload { wanted.insert(.sha256) }
    switch carried(form) {
    case .algorithm(let algorithm): wanted.insert(algorithm)
    case .md5: wanted.insert(.md5)
    case .nothing: break
    }
    return try await client.world.timed("checksums", at: Place(key: job.key, part: part)) { () async throws(Failure) in
      try await body.sums(wanted) { [progress] in progress.isStopped }
    }
  }

  /// Judges the part by what the store returned. Without a checksum the ETag is compared with the MD5 of the bytes,
  /// which is computed now if it was not sent.
  private func assess(
    _ body: any PartBody, _ form: ChecksumForm, _ sums: [ChecksumAlgorithm: Checksum], etag: String?,
    checksums given: [String: String], encryption: EncryptionInfo, comparesMD5: Bool, isPublished: Bool = false
  ) throws(Failure) -> Sent {
    var sent = Sent(etag: etag, checksum: nil, md5: sums[.md5], proof: .none)
    if case .algorithm(let algorithm) = form, let sum = sums[algorithm] {
      sent.checksum = sum
      if try PartProof.isVerified(sum, by: given) {
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
        // A published object stays published, whatever happens to the file or this run.
        if isPublished { return sent }
        throw error
      }
    }
    guard let md5 else { return sent }
    guard named == md5.bytes else {
      if isPublished, (try? body.checkSource()) == nil { return sent }
      throw PartProof.refuted
    }
    sent.md5 = md5
    sent.proof = max(sent.proof, .etag)
    return sent
  }
}

extension ChecksumForm {
  /// The checksum header for the store to verify.
  func header(_ sums: [ChecksumAlgorithm: Checksum]) -> NamedValue? {
    switch self {
    case .algorithm(let algorithm): sums[algorithm].map { NamedValue(algorithm.headerName, $0.base64) }
    case .md5: sums[.md5].map { NamedValue(HeaderName.contentMD5, $0.base64) }
    case .nothing: nil
    }
  }
}
