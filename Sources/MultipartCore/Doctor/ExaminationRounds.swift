import MultipartBasics

/// Collects the facts of an ``Examination``. Each question has a time limit, and independent ones are asked at the same
/// time, so that everything ends within 15 seconds, even without any answer.
struct ExaminationRounds: Sendable {
  let world: World
  private let options: StoreOptions
  private let bucket: String?
  private let prefix: @Sendable () async throws(Failure) -> String

  /// The limit for credentials, which may come from programs and services.
  private static let credentialLimit = Duration.seconds(10)
  private static let regionLimit = Duration.seconds(4)
  private static let nameLimit = Duration.seconds(4)
  /// The limit for a connection, unless the user sets it.
  private static let connectTimeout = Duration.seconds(4)
  private static let stallTimeout = Duration.seconds(5)

  init(_ options: StoreOptions, bucket: String?, _ prefix: @escaping @Sendable () async throws(Failure) -> String) {
    // What is otherwise logged for everyone, such as another region, is a finding here.
    var world = options.openWorld()
    let log = world.log
    world.log = { level, message in log(max(1, level), message()) }
    self.world = world
    self.options = options
    self.bucket = bucket
    self.prefix = prefix
  }

  /// Throws only for options that are unusable by themselves.
  func examine() async throws(Failure) -> Examination {
    var exam = Examination(now: world.now())
    exam.version = TransportLibraries.versions
    exam.bucket = bucket
    exam.verifiesTLS = options.verifiesTLS
    exam.state = StateFolderReport.look(at: options.stateFolder(world.environment))
    do throws(Failure) {
      let options = try options.filled(from: world.environment)
      let profile = try ProfileSettings(options, world.environment)
      // Without a bucket the service is examined; this name is not used in any URL.
      let settings = try StoreSettings(
        options, world.environment, profile, bucket: bucket ?? StoreSettings.noBucket)
      await look(&exam, options, profile, patient(settings))
    } catch {
      guard error.code != .usage, error.code != .interrupted else { throw error }
      exam.settings = error
    }
    return exam
  }

  /// Shortens the time limits, because a person is waiting and a late answer is a finding.
  private func patient(_ settings: StoreSettings) -> StoreSettings {
    var settings = settings
    if options.connectTimeout == nil { settings.transfer.connectTimeout = Self.connectTimeout }
    if options.stallTimeout == nil { settings.transfer.stallTimeout = Self.stallTimeout }
    settings.transfer.tries = min(2, settings.transfer.tries)
    return settings
  }

  private func look(
    _ exam: inout Examination, _ options: StoreOptions, _ profile: ProfileSettings, _ settings: StoreSettings
  ) async {
    let transport: CurlTransport
    do throws(Failure) {
      transport = try options.transport(settings.transfer, world)
    } catch {
      exam.settings = error
      return
    }
    async let signing = signing(options, profile, settings, transport)
    let found = await place(options, profile, settings, transport)
    let ready: (endpoint: BucketEndpoint, settings: StoreSettings)
    switch found {
    case .failure(let failure):
      exam.settings = failure
      exam.signing = await signing.signing
      return
    case .success(let value): ready = value
    }
    let endpoint = ready.endpoint
    do throws(Failure) {
      try options.proxySettings(world.environment).check(for: endpoint.origin.description)
    } catch {
      exam.settings = error
      exam.signing = await signing.signing
      return
    }
    exam.place = Examination.Place(
      endpoint, source: ready.settings.endpointSource(endpoint, named: bucket != nil),
      regionSource: ready.settings.source(.region))
    let route = ProxyRoute(options, world.environment, endpoint.origin)
    exam.proxy = route?.proxy
    async let visit = visit(endpoint, route, options, ready.settings, transport)
    let signed = await signing
    exam.signing = signed.signing
    async let identity = identity(
      signed, endpoint, profile, ready.settings, options.services(transport, ready.settings, world))
    (exam.addresses, exam.visit) = await visit
    exam.identity = await identity
    await probe(&exam, endpoint, options, ready.settings, signed, transport)
  }

  // MARK: - Who signs

  private struct Signed: Sendable {
    var signing: Examination.Signing
    var keeper: CredentialKeeper?
    var credentials: Credentials?
    var prefix = ""
  }

  private func signing(
    _ options: StoreOptions, _ profile: ProfileSettings, _ settings: StoreSettings, _ transport: CurlTransport
  ) async -> Signed {
    let isAsking = Locked(false)
    let found = Locked(Signed(signing: .none(why: options.origins[.signsRequests]?.name ?? "as the options say")))
    let (region, prefix, world) = (settings.region, prefix, world)
    let result = await world.within(
      Self.credentialLimit, "no credentials within the time limit", remedy: "see which source hangs with \(.log)",
      unless: { isAsking.withLock { $0 } }
    ) { () async throws(Failure) in
      let prefix = try await prefix()
      found.withLock { $0.prefix = prefix }
      var services = options.services(transport, settings, world)
      // Two tries only, so that the answer of a service, or its silence, is reported before the time limit.
      services.retry = RetryPolicy(tries: 2)
      var sources = CredentialSources(options, services, profile)
      sources.onQuestion = { isAsking.withLock { $0 = true } }
      let keeper = try sources.credentials(region: region)
      found.withLock { $0.keeper = keeper }
      return try await keeper?.current().credentials
    }
    var signed = found.withLock { $0 }
    switch result {
    case .failure(let failure): signed.signing = .failed(failure)
    case .success(let credentials?):
      signed.signing = .keys(Examination.Keys(credentials))
      signed.credentials = credentials
    case .success(nil): break
    }
    return signed
  }

  /// Asks STS if the credentials are AWS's, or if an STS endpoint is configured.
  private func identity(
    _ signed: Signed, _ endpoint: BucketEndpoint, _ profile: ProfileSettings, _ settings: StoreSettings,
    _ services: ServiceClient
  ) async -> Result<CallerIdentity, Failure>? {
    let named = world.environment["AWS_ENDPOINT_URL_STS"].map { !$0.isEmpty } ?? false
    guard let credentials = signed.credentials, endpoint.isAWS || named else { return nil }
    var services = services
    services.retry = RetryPolicy(tries: 1)
    do throws(Failure) {
      let region = endpoint.isAWS ? endpoint.region : settings.region
      let address = try profile.serviceAddresses().address(of: .sts, region: region)
      return .success(
        try await STSClient(services: services, address: address)
          .callerIdentity(signedBy: credentials, limit: Self.stallTimeout))
    } catch {
      return .failure(error)
    }
  }

  // MARK: - Region and endpoint

  private func place(
    _ options: StoreOptions, _ profile: ProfileSettings, _ settings: StoreSettings, _ transport: CurlTransport
  ) async -> Result<(endpoint: BucketEndpoint, settings: StoreSettings), Failure> {
    let sources = CredentialSources(options, options.services(transport, settings, world), profile)
    let (world, isNamed) = (world, bucket != nil)
    let result = await world.within(
      Self.regionLimit, "the region could not be looked up", remedy: "give it with \(.region) REGION"
    ) { () async throws(Failure) in
      var settings = settings
      guard isNamed else { return (try await settings.serviceEndpoint { await sources.region() }, settings) }
      let endpoint = try await settings.endpoint(
        machine: { await sources.region() }, transport: transport, world: world)
      return (endpoint, settings)
    }
    guard case .failure(let failure) = result, failure.code == .stalled else {
      return result.map { (endpoint: $0.0, settings: $0.1) }
    }
    // Like an upload: starts at the default region and follows redirects from there.
    do throws(Failure) {
      return .success((try EndpointResolver.resolve(settings.question), settings))
    } catch {
      return .failure(error)
    }
  }

  private func visit(
    _ endpoint: BucketEndpoint, _ route: ProxyRoute?, _ options: StoreOptions, _ settings: StoreSettings,
    _ transport: CurlTransport
  ) async -> (Result<[String], Failure>, StoreVisit?) {
    let host = route?.usedHost ?? endpoint.origin.bareHost
    let addresses = await HostLookup.addresses(of: host, limit: min(Self.nameLimit, settings.transfer.connectTimeout))
    guard case .success = addresses else { return (addresses, nil) }
    let blind = try? options.transport(settings.transfer, world, trustsAnybody: true)
    let limit = settings.transfer.connectTimeout + settings.transfer.stallTimeout
    let visit = await StoreVisit.make(
      endpoint.origin.description + (bucket == nil ? "/" : endpoint.pathForBucket), origin: endpoint.origin,
      transport: transport, blind: blind, world: world, limit: limit)
    return (addresses, visit)
  }

  // MARK: - The bucket

  private func probe(
    _ exam: inout Examination, _ endpoint: BucketEndpoint, _ options: StoreOptions, _ settings: StoreSettings,
    _ signed: Signed, _ transport: CurlTransport
  ) async {
    guard bucket != nil, !Task.isCancelled, case .success? = exam.visit?.outcome else { return }
    if case .failed? = exam.signing { return }
    let access = Store(
      endpoint, settings, options, credentials: signed.keeper, transport: transport, world: world)
    exam.prefix = signed.prefix
    let probe = UploadProbe(
      client: access.client, world: world,
      access.address(UploadProbe.key(under: exam.prefix, dice: world.random)),
      knowsMD5: endpoint.kind != .directory)
    let stop = ProbeStop()
    // Not a child of this task, because an upload that was begun must be aborted although this task is cancelled.
    let running = Task { await probe.run(stop: stop) }
    var report = await withTaskCancellationHandler {
      await running.value
    } onCancel: {
      stop.stop()
    }
    report.region = access.signer.bucket.region
    exam.probe = report
    guard case .success(let upload) = report.began, upload.abortDate == nil, endpoint.kind != .directory,
      !Task.isCancelled
    else { return }
    do throws(Failure) {
      exam.lifecycle = .success(
        try await access.client.perform(GetBucketLifecycle(access.address)))
    } catch {
      exam.lifecycle = .failure(error)
    }
  }
}
