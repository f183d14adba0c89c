extension Store {
  /// Uploads many objects in one run, which can be watched and stopped. It starts with `run()`.
  public func batch<Items: AsyncSequence & Sendable>(
    _ items: Items, _ options: BatchOptions = BatchOptions(),
    onEvent: @escaping @Sendable (BatchEvent) -> Void = { _ in }
  ) -> BatchUpload where Items.Element == UploadItem {
    batch(options, onEvent: onEvent) { give in
      for try await item in items where await !give(.candidate(Candidate(item))) { return }
    }
  }

  /// Uploads many objects in one run, which can be watched and stopped. It starts with `run()`.
  public func batch(
    _ items: [UploadItem], _ options: BatchOptions = BatchOptions(),
    onEvent: @escaping @Sendable (BatchEvent) -> Void = { _ in }
  ) -> BatchUpload {
    batch(options, onEvent: onEvent) { give in
      for item in items where await !give(.candidate(Candidate(item))) { return }
    }
  }

  /// Uploads what the sources find, such as the contents of a folder, in one run that can be watched and stopped. It
  /// starts with `run()`. If that run fails, the next one of the same sources skips what it uploaded.
  public func batch(
    _ sources: BatchSources, _ options: BatchOptions = BatchOptions(),
    onEvent: @escaping @Sendable (BatchEvent) -> Void = { _ in }
  ) throws(Failure) -> BatchUpload {
    try check(options.upload)
    var options = options
    options.record = options.onlyLooks ? nil : runRecord(of: sources.identity)
    let compares =
      options.upload.skipsSame || options.upload.skipsExisting || options.record?.isResumed == true
    options.outputs.stateFolder = self.options.stateFolder(world.environment)
    return batch(options, onEvent: onEvent) { [self, outputs = options.outputs] give in
      try await sources.find(in: bucket, besides: outputs, give) {
        guard compares, !isDirectoryBucket else { return nil }
        return PrefixListing(
          client: client, address, prefix: sources.prefix, retrying: retry.atMost(3))
      }
    }
  }

  /// The record of an earlier run of the same sources that did not succeed, or a new one; nil without a state folder.
  func runRecord(of identity: [String]) -> RunRecord? {
    guard let folder = self.options.stateFolder(world.environment) else { return nil }
    do throws(Failure) {
      let name = try RunRecord.name(of: [signer.origin, bucket] + identity)
      guard let record = try RunRecord.open(folder: folder, name: name, now: world.now()) else {
        world.log(1, "another run of the same sources is in progress: this one is not recorded")
        return nil
      }
      return record
    } catch {
      world.log(0, "an interrupted run would have to compare all files: \(error.message)")
      return nil
    }
  }

  func batch(
    _ options: BatchOptions, onEvent: @escaping @Sendable (BatchEvent) -> Void, _ find: @escaping Finder<Candidate>
  ) -> BatchUpload {
    let line = lessons()?.line
    let driver = RunDriver<Uploader>(
      settings.transfer.scheduling(
        hedges: options.upload.hedges, line: line, buffers: (line ?? .usual).buffers, world: world),
      transport: client.transport, origin: signer.origin, world: world,
      ahead: ConnectionBounds.ahead(settings.transfer, descriptors: ConnectionBounds.descriptors))
    return BatchUpload(
      UploaderMaker(self, options), options, driver: driver, find: find, onEvent: onEvent)
  }

  /// Another bucket of the same store, over the same connections.
  func sibling(bucket: String, region: String?) async throws(Failure) -> Store {
    var options = options
    if let region { options.region = region }
    let profile = try ProfileSettings(options, world.environment)
    var settings = try StoreSettings(options, world.environment, profile, bucket: bucket)
    let endpoint = try await settings.endpoint(
      machine: { [self] in self.settings.region }, transport: client.transport, world: world)
    return Store(
      endpoint, settings, options, credentials: credentials, transport: client.transport, world: world)
  }
}

extension TransferSettings {
  /// The scheduler of a batch, or of one object. The bytes of a stream are sent in order.
  func scheduling(
    hedges: Bool, isOne: Bool = false, isStream: Bool = false, line: LineClass?, buffers: Buffers = .none, world: World
  ) -> RunSettings {
    var scheduling = RunSettings()
    scheduling.concurrency = concurrency
    scheduling.limitRate = limitRate?.rate(at: world.now())
    scheduling.pace = ConnectionBounds.pace(
      self, isStream: isStream, line: line, descriptors: ConnectionBounds.descriptors)
    scheduling.pace?.limit = scheduling.limitRate
    if !isOne { scheduling.mostSmall = ConnectionBounds.mostSmall(descriptors: ConnectionBounds.descriptors) }
    scheduling.retry = RetryPolicy(tries: tries)
    scheduling.hedges = hedges
    scheduling.buffers = buffers
    scheduling.seed = UInt64(world.random() * 0x1p52)
    return scheduling
  }
}
