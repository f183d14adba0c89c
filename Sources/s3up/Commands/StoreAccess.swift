import MultipartCore

/// The way to one bucket, as the options, the environment and the profile say.
struct StoreAccess {
  let bucket: BucketEndpoint
  let signer: BucketSigner
  let client: S3Client
  let retry: RetryPolicy
  let common: CommonHeaders
  /// Where the region came from, for those who ask why.
  let regionSource: String

  init(_ session: Session, bucket name: String) throws(Failure) {
    let invocation = session.invocation
    let connection = try ConnectionOptions(invocation)
    let transfer = try TransferOptions(invocation)
    let profile = try ProfileSettings(invocation, session.environment)
    let place = try Self.place(connection, invocation, profile)
    regionSource = place.regionSource
    bucket = try EndpointResolver.resolve(
      bucket: name, region: place.region, endpointURL: place.endpointURL,
      addressing: Addressing(rawValue: connection.addressing.rawValue) ?? .auto, blame: place.blame)
    let payload = try IntegrityOptions(invocation).payloadSigning
    let world = session.world
    let transport = try Self.transport(session)
    let services = ServiceClient(transport: transport, world: world)
    let sources = CredentialSources(session, services, profile)
    var context = CredentialContext(services: services, region: connection.region)
    try sources.fill(&context)
    context.askCode = TerminalQuestion(world: world, signals: session.signals).ask
    signer = BucketSigner(
      bucket: bucket, payloadSigning: PayloadSigning(rawValue: payload.rawValue) ?? .auto, now: world.now,
      credentials: try profile.credentials(
        unsigned: CredentialOptions(invocation).noSignRequest, context,
        chosen: sources.chosen(region: connection.region)))
    client = S3Client(
      signer: signer, transport: transport, world: world, stallTimeout: transfer.stallTimeout)
    retry = RetryPolicy(tries: transfer.retries)
    common = CommonHeaders(
      expectedBucketOwner: connection.expectedBucketOwner, requestPayer: connection.requestPayer)
  }

  /// Loops and their connections, for any requests of this run.
  static func transport(_ session: Session) throws(Failure) -> CurlTransport {
    let connection = try ConnectionOptions(session.invocation)
    let transfer = try TransferOptions(session.invocation)
    var options = TransportOptions()
    options.connectTimeout = transfer.connectTimeout
    options.caBundle = connection.caBundle?.text
    options.verifiesTLS = !connection.insecure
    options.proxy = ProxySettings(option: connection.proxy, environment: session.environment)
    options.connections = transfer.concurrency
    options.userAgent = "s3up/\(Version.text)"
    options.limiter = transfer.limitRate.map { RateLimiter(rate: $0, now: session.world.uptime()) }
    return try CurlTransport(options: options)
  }

  private struct Where {
    var region: String?
    var regionSource: String
    var endpointURL: String?
    var blame: Failure.Code
  }

  /// The option or its variable, else the profile.
  private static func place(
    _ connection: ConnectionOptions, _ invocation: Invocation, _ profile: ProfileSettings
  ) throws(Failure) -> Where {
    var found = Where(region: connection.region, regionSource: "default", blame: .configuration)
    if let given = invocation.last(.region) {
      found.regionSource = given.origin.text
    } else if let region = try profile.value("region") {
      found.region = region
      found.regionSource = "profile \(profile.choice.name)"
    }
    found.endpointURL = connection.endpointURL
    if found.endpointURL == nil { found.endpointURL = try profile.endpointURL() }
    for name in [FlagName.region, .endpointURL] {
      if case .commandLine = invocation.last(name)?.origin { found.blame = .usage }
    }
    return found
  }
}
