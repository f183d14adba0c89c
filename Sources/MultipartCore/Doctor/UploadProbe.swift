import MultipartBasics

/// The result of an upload that is begun only to see whether the store accepts one.
struct ProbeReport: Sendable {
  var key: String
  var began: Result<CreateMultipartUpload.Output, Failure>
  var part: Result<UploadPart.Output, Failure>?
  /// What the part was sent with for the store to verify.
  var form = ChecksumForm.algorithm(.crc64nvme)
  /// Whether the store listed the part that was sent.
  var list: Result<Bool, Failure>?
  var ended: Result<MultipartUpload.AbortOutcome, Failure>?
  /// Set if create may have worked although its answer was lost, and uploads of this key could not be listed or
  /// aborted.
  var leftBehind: Failure?
  /// The region that requests were signed for in the end.
  var region: String?
}

/// Begins an upload, sends one small part, lists it, aborts the upload and checks that it is gone. Nothing is published.
/// Whatever fails, the upload is aborted as far as the store allows it.
struct UploadProbe: Sendable {
  private let client: S3Client
  private let world: World
  private let address: ObjectAddress
  /// S3 Express does not support MD5.
  private let knowsMD5: Bool
  private let retry = RetryPolicy(tries: 2)
  private static let bytes = Array("s3up doctor\n".utf8)

  init(client: S3Client, world: World, _ address: ObjectAddress, knowsMD5: Bool) {
    self.client = client
    self.world = world
    self.address = address
    self.knowsMD5 = knowsMD5
  }

  /// A unique key below the prefix: 16 random digits of base 36 are 82 bits.
  static func key(under prefix: String, dice: () -> Double) -> String {
    let digits = Array("0123456789abcdefghijklmnopqrstuvwxyz")
    return prefix + ".s3up-doctor-" + String((0..<16).map { _ in digits[min(35, Int(dice() * 36))] })
  }

  /// Runs the probe. `stop` cancels the step in progress; the upload is aborted all the same.
  func run(stop: ProbeStop = ProbeStop()) async -> ProbeReport {
    let (began, form) = await simpler(from: .algorithm(.crc64nvme), begin)
    var report = ProbeReport(key: address.key, began: began, form: form)
    switch began {
    case .failure(let failure):
      if failure.mayHaveWorked { report.leftBehind = await endLost() }
    case .success(let upload):
      if let (part, form) = await stop.step({ await simpler(from: form) { await send(upload, $0) } }) {
        (report.part, report.form) = (part, form)
      }
      if case .success? = report.part { report.list = await stop.step { await list(upload.uploadID) } }
      report.ended = await end(upload.uploadID)
    }
    return report
  }

  /// Begins the upload, with a single try: a second one could create a second upload.
  private func begin(_ form: ChecksumForm) async -> Result<CreateMultipartUpload.Output, Failure> {
    await Self.result { () async throws(Failure) in
      try await client.perform(CreateMultipartUpload(address, checksum: form.algorithm))
    }
  }

  /// Sends the part, and judges the answer as an upload does.
  private func send(
    _ upload: CreateMultipartUpload.Output, _ form: ChecksumForm
  ) async -> Result<UploadPart.Output, Failure> {
    await Self.result { () async throws(Failure) in
      var checksums = try MultiChecksum(Set([.md5] + (form.algorithm.map { [$0] } ?? [])))
      Self.bytes.withUnsafeBytes { checksums.update($0) }
      let sums = try checksums.finish()
      let answer = try await client.perform(
        UploadPart(
          address, uploadID: upload.uploadID, partNumber: 1, body: .bytes(Self.bytes), checksum: form.header(sums)),
        retrying: retry)
      let etag = ETag(try answer.requiredETag())
      if let sum = form.algorithm.flatMap({ sums[$0] }), try PartProof.isVerified(sum, by: answer.checksums) {
        return answer
      }
      if knowsMD5, upload.encryption.etagMayBeMD5, answer.encryption.etagMayBeMD5, case .md5(let named)? = etag?.form,
        named != sums[.md5]?.bytes
      {
        throw PartProof.refuted
      }
      return answer
    }
  }

  /// Steps down, as an upload does, until the store accepts the checksum or refuses for another reason.
  private func simpler<Output>(
    from form: ChecksumForm, _ step: (ChecksumForm) async -> Result<Output, Failure>
  ) async -> (Result<Output, Failure>, ChecksumForm) {
    var form = form
    while true {
      let result = await step(form)
      guard case .failure(let failure) = result, failure.code == .checksumUnsupported,
        let next = form.steppedDown(payloadIsSigned: !knowsMD5)
      else { return (result, form) }
      form = next
    }
  }

  private func list(_ id: String) async -> Result<Bool, Failure> {
    await Self.result { () async throws(Failure) in
      let page = try await client.perform(ListParts(address, uploadID: id), retrying: retry)
      return page.parts.contains { $0.number == 1 && $0.size == Int64(Self.bytes.count) }
    }
  }

  private func end(_ id: String) async -> Result<MultipartUpload.AbortOutcome, Failure> {
    await Self.result { () async throws(Failure) in
      try await UploadSteps(address, uploadID: id, client, RetryPolicy(tries: 3)).abort()
    }
  }

  /// Aborts all uploads of the key. Only this run uses the key, so they are all its own.
  private func endLost() async -> Failure? {
    do throws(Failure) {
      let found = try await client.allUploads(ListMultipartUploads(address.inBucket, prefix: address.key))
      for upload in found.uploads where upload.key.utf8.elementsEqual(address.key.utf8) {
        _ = try await end(upload.uploadID).get()
      }
      return nil
    } catch {
      return error
    }
  }

  private static func result<Value>(
    _ work: () async throws(Failure) -> Value
  ) async -> Result<Value, Failure> {
    do throws(Failure) {
      return .success(try await work())
    } catch {
      return .failure(error)
    }
  }
}

/// Stops a probe early: the step in progress is cancelled, and only those that clean up still run.
final class ProbeStop: Sendable {
  private struct State: Sendable {
    var isStopped = false
    var cancel: (@Sendable () -> Void)?
  }

  private let state = Locked(State())

  init() {}

  func stop() {
    let cancel = state.withLock { state in
      state.isStopped = true
      return state.cancel
    }
    cancel?()
  }

  /// Runs a step; nil if the probe was stopped before it.
  func step<Value: Sendable>(_ work: @escaping @Sendable () async -> Value) async -> Value? {
    let task = state.withLock { state -> Task<Value, Never>? in
      guard !state.isStopped else { return nil }
      let task = Task { await work() }
      state.cancel = { task.cancel() }
      return task
    }
    return await task?.value
  }
}
