import MultipartBasics

/// Begins an upload whose parts the caller will send.
struct CreationOfUpload {
  private let store: Store
  private let operation: CreateMultipartUpload

  init(_ store: Store, key: String, _ options: UploadOptions) throws(Failure) {
    self.store = store
    try store.check(options)
    var operation = CreateMultipartUpload(
      store.address(key, customerKey: options.customerKey), object: options.object, encryption: options.encryption)
    if options.object.contentType == nil {
      operation.object.contentType = ContentType.guess(name: key, leading: [])
    }
    // By default no checksum is named: S3 would then refuse parts without one, such as a plain PUT to a URL.
    if case .algorithm(let algorithm)? = options.checksum { operation.checksum = algorithm }
    self.operation = operation
  }

  struct Begun: Sendable {
    let upload: MultipartUpload
    /// The time of creation by the store's clock.
    let created: Timestamp
    let etagMayBeMD5: Bool
  }

  func run() async throws(Failure) -> Begun {
    let start = store.world.uptime()
    let made = try await perform()
    let took = store.world.uptime() - start
    let upload = MultipartUpload(store, operation.address, uploadID: made.uploadID, requestID: made.requestID)
    do throws(Failure) {
      try confirm(made)
      if Task.isCancelled { throw Failure.interrupted }
    } catch {
      throw await upload.takenBack(error)
    }
    var created = store.world.now()
    if case .upload(let begun)? = made.date.map({ Freshness.begun(answered: $0, took: took) }) { created = begun }
    let isPlain = operation.address.customerKey == nil && operation.encryption.map { $0.algorithm == .aes256 } ?? true
    return Begun(
      upload: upload, created: created,
      etagMayBeMD5: isPlain && made.encryption.etagMayBeMD5)
  }

  /// Sends create. If its answer was lost, it may still have begun an upload. That upload cannot be identified, because
  /// another program may have begun one at the same moment, so it is reported and not aborted.
  private func perform() async throws(Failure) -> CreateMultipartUpload.Output {
    let mayBeLost = Locked(false)
    func say() {
      guard mayBeLost.withLock({ $0 }) else { return }
      let list = RemedyAction.listUploads(bucket: store.bucket, key: operation.address.key)
      store.world.log(0, "an answer was lost: another upload may have been begun; \(run: list) shows it")
    }
    defer { say() }
    return try await store.retry.run(CreateMultipartUpload.name.description, in: store.world) {
      (_) async throws(Failure) in
      do throws(Failure) {
        return try await evenIfCancelled { [client = store.client, operation] () throws(Failure) in
          try await client.perform(operation)
        }
      } catch {
        if error.mayHaveWorked { mayBeLost.withLock { $0 = true } }
        throw error
      }
    }
  }

  /// The sender of the parts does not know the requested encryption, so this answer must confirm it. With the caller's
  /// own key (SSE-C) the answer to each part confirms it too.
  private func confirm(_ made: CreateMultipartUpload.Output) throws(Failure) {
    let asked = try RequestedSettings(object: operation.object, encryption: operation.encryption)
    guard let lost = asked.findings(inWrite: made.encryption).first(where: \.isDropped) else { return }
    throw Failure(
      .refused, "the store does not encrypt as requested: it answers with \(lost.sentence)", requestID: made.requestID,
      remedy:
        "leave \(lost.setting.option) out, or use \(run: .upload), which checks it with each part")
  }
}

extension MultipartUpload {
  /// What `createUpload` requested and its answer cannot confirm: only `complete` can, with the same options.
  public func unconfirmed(_ options: UploadOptions) -> [String] {
    let asked = try? RequestedSettings(object: options.object, encryption: options.encryption)
    return (asked?.settings ?? []).filter { !$0.isEncryption }.map(\.title)
  }

  /// Aborts an upload whose id could not be delivered; otherwise it would stay forever.
  public func takenBack(_ failure: Failure) async -> Failure {
    var failure = failure
    do throws(Failure) {
      _ = try await evenIfCancelled { [steps] () throws(Failure) in try await steps.abort() }
      failure.message += "; the upload that was begun has been aborted"
    } catch {
      let end = RemedyAction.abort(bucket: store.bucket, key: key, uploadID: uploadID)
      failure.remedy = "abort the upload that was begun: \(run: end)"
    }
    return failure
  }
}

/// Awaits what the store was asked to begin or to abort: if it were cancelled, it could leave an upload that no one
/// knows of.
func evenIfCancelled<Result: Sendable>(
  _ work: @escaping @Sendable () async throws(Failure) -> Result
) async throws(Failure) -> Result {
  let task = Task { () async -> Swift.Result<Result, Failure> in
    do throws(Failure) {
      return .success(try await work())
    } catch {
      return .failure(error)
    }
  }
  return try await task.value.get()
}
