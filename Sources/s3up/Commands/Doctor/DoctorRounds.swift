import MultipartCore

/// Collects the facts for `doctor`. Each question has a time limit, and independent ones are asked at the same time, so
/// that everything ends within 15 seconds, even without any answer.
struct DoctorRounds: Sendable {
  private let session: Session
  private let url: S3URL?

  /// The limit for credentials, which may come from programs and services.
  private static let credentialLimit = Duration.seconds(10)
  private static let regionLimit = Duration.seconds(4)
  private static let nameLimit = Duration.seconds(4)
  /// The limit for a connection, unless the user sets it.
  private static let connectTimeout = Duration.seconds(4)
  private static let stallTimeout = Duration.seconds(5)

  init(_ session: Session, _ url: S3URL?) {
    // What other commands log, such as another region, is a finding here.
    var session = session
    let log = session.world.log
    session.world.log = { level, message in log(max(1, level), message()) }
    self.session = session
    self.url = url
  }

  /// Throws only for a wrong command line.
  func examine() async throws(Failure) -> Examination {
    var exam = Examination(now: session.world.now())
    exam.version = "s3up \(Version.text), \(TransportLibraries.versions)"
    exam.bucket = url?.bucket
    exam.prefix = url?.key ?? ""
    let options = session.storeOptions
    exam.verifiesTLS = options.verifiesTLS
    exam.state = StateFolderReport.look(at: options.stateFolder(session.environment))
    do throws(Failure) {
      let profile = try ProfileSettings(options, session.environment)
      // Without a bucket the service is examined; this name is not used in any URL.
      let settings = try StoreSettings(
        options, session.environment, profile, bucket: url?.bucket ?? StoreSettings.noBucket)
      try await look(&exam, options, profile, patient(settings))
    } catch {
      guard error.code != .usage, error.code != .interrupted else { throw error }
      exam.settings = error
    }
    return exam
  }

  /// Shortens the time limits, because a person is waiting and a late answer is a finding.
  private func patient(_ settings: StoreSettings) -> StoreSettings {
    var settings = settings
    if !session.invocation.has(.connectTimeout) { settings.transfer.connectTimeout = Self.connectTimeout }
    if !session.invocation.has(.stallTimeout) { settings.transfer.stallTimeout = Self.stallTimeout }
    settings.transfer.tries = min(2, settings.transfer.tries)
    return settings
  }

  private func look(
    _ exam: inout Examination, _ options: StoreOptions, _ profile: ProfileSettings, _ settings: StoreSettings
  ) async throws(Failure) {
    let transport = try options.transport(settings.transfer, session.world)
    async let signing = signing(profile, settings, transport)
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
    exam.place = Examination.Place(
      endpoint, source: ready.settings.endpointSource(endpoint, named: url != nil),
      regionSource: ready.settings.source(.region))
    let route = ProxyRoute(options, session.environment, endpoint.origin)
    exam.proxy = route?.proxy
    async let visit = visit(endpoint, route, options, ready.settings, transport)
    let signed = await signing
    exam.signing = signed.signing
    async let identity = identity(signed, endpoint, profile, ready.settings, transport)
    (exam.addresses, exam.visit) = await visit
    exam.identity = await identity
    try await probe(&exam, endpoint, ready.settings, signed, transport)
  }

  // MARK: - Who signs

  private struct Signed: Sendable {
    var signing: Examination.Signing
    var keeper: CredentialKeeper?
    var credentials: Credentials?
    /// The session, whose key is below the identity's prefix.
    var session: Session
  }

  private func signing(
    _ profile: ProfileSettings, _ settings: StoreSettings, _ transport: CurlTransport
  ) async -> Signed {
    let isAsking = Locked(false)
    let resolved = Locked<(Session, CredentialKeeper?)?>(nil)
    let region = settings.region
    let result = await session.world.within(
      Self.credentialLimit, "no credentials within the time limit", remedy: "see which source hangs with -vv",
      unless: { isAsking.withLock { $0 } }
    ) { () async throws(Failure) in
      let session = try await IdentityKeys.resolved(session)
      var services = ServiceClient(transport: transport, world: session.world)
      // Two tries only, so that the answer of a service, or its silence, is reported before the time limit.
      services.retry = RetryPolicy(tries: 2)
      var sources = CredentialSources(session.storeOptions, services, profile)
      sources.onQuestion = { isAsking.withLock { $0 = true } }
      let keeper = try sources.credentials(region: region)
      resolved.withLock { $0 = (session, keeper) }
      return try await keeper?.current().credentials
    }
    var signed = Signed(signing: .none(why: "--no-sign-request"), session: session)
    if let (session, keeper) = resolved.withLock({ $0 }) { (signed.session, signed.keeper) = (session, keeper) }
    switch result {
    case .failure(let failure): signed.signing = .failed(failure)
    case .success(let credentials?):
      signed.signing = .keys(Examination.Keys(credentials))
      signed.credentials = credentials
    case .success(nil):
      if let origin = session.invocation.last(.noSignRequest)?.origin { signed.signing = .none(why: origin.text) }
    }
    return signed
  }

  /// Asks STS if the credentials are AWS's, or if an STS endpoint is configured.
  private func identity(
    _ signed: Signed, _ endpoint: BucketEndpoint, _ profile: ProfileSettings, _ settings: StoreSettings,
    _ transport: CurlTransport
  ) async -> Result<CallerIdentity, Failure>? {
    let named = session.environment["AWS_ENDPOINT_URL_STS"].map { !$0.isEmpty } ?? false
    guard let credentials = signed.credentials, endpoint.isAWS || named else { return nil }
    var services = ServiceClient(transport: transport, world: session.world)
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
    let sources = CredentialSources(options, ServiceClient(transport: transport, world: session.world), profile)
    let (session, isNamed) = (session, url != nil)
    let result = await session.world.within(
      Self.regionLimit, "the region could not be looked up", remedy: "give it with --region REGION"
    ) { () async throws(Failure) in
      var settings = settings
      guard isNamed else { return (try await settings.serviceEndpoint { await sources.region() }, settings) }
      let endpoint = try await settings.endpoint(
        machine: { await sources.region() }, transport: transport, world: session.world)
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
    let blind = try? options.transport(settings.transfer, session.world, trustsAnybody: true)
    let limit = settings.transfer.connectTimeout + settings.transfer.stallTimeout
    let visit = await StoreVisit.make(
      endpoint.origin.description + (url == nil ? "/" : endpoint.pathForBucket), origin: endpoint.origin,
      transport: transport, blind: blind, world: session.world, limit: limit)
    return (addresses, visit)
  }

  // MARK: - The bucket

  private func probe(
    _ exam: inout Examination, _ endpoint: BucketEndpoint, _ settings: StoreSettings, _ signed: Signed,
    _ transport: CurlTransport
  ) async throws(Failure) {
    guard let url, case .success(let answer)? = exam.visit?.outcome, answer.status != 407 else { return }
    if case .failed? = exam.signing { return }
    let access = Store(
      endpoint, settings, signed.session.storeOptions, credentials: signed.keeper, transport: transport,
      world: session.world)
    let prefix =
      try signed.session.invocation.positionals.first.map { (word) throws(Failure) in try S3URL(word).key } ?? url.key
    exam.prefix = prefix ?? ""
    let probe = UploadProbe(
      client: access.client, world: session.world,
      access.address(UploadProbe.key(under: exam.prefix, dice: session.world.random)),
      knowsMD5: endpoint.kind != .directory)
    let (signals, stop) = (session.signals, ProbeStop())
    // From here on there is something to clean up, so the first signal does not end the program.
    signals.listen { stop.stop() }
    var report = await probe.run(stop: stop)
    report.region = access.signer.bucket.region
    exam.probe = report
    guard case .success(let upload) = report.began, upload.abortDate == nil, endpoint.kind != .directory,
      signals.received == nil
    else { return }
    do throws(Failure) {
      exam.lifecycle = .success(
        try await access.client.perform(GetBucketLifecycle(access.address)))
    } catch {
      exam.lifecycle = .failure(error)
    }
  }
}
