import MultipartCore

/// The way to one bucket, as the options, the environment and the profile say.
struct StoreAccess {
  let bucket: BucketEndpoint
  let signer: BucketSigner
  let client: S3Client
  let retry: RetryPolicy
  let common: CommonHeaders
  /// What was said, and where.
  let settings: StoreSettings

  var transfer: TransferOptions { settings.transfer }

  static func open(_ session: Session, bucket name: String) async throws(Failure) -> StoreAccess {
    let profile = try ProfileSettings(session.invocation, session.environment)
    var settings = try StoreSettings(session.invocation, session.environment, profile, bucket: name)
    let transport = try transport(session, settings.transfer)
    let services = ServiceClient(transport: transport, world: session.world)
    let sources = CredentialSources(session, services, profile)
    let bucket = try await settings.endpoint(
      machine: { await sources.region() }, transport: transport, world: session.world)
    return try StoreAccess(session, bucket, settings, sources.credentials(region: settings.region), transport)
  }

  init(
    _ session: Session, _ bucket: BucketEndpoint, _ settings: StoreSettings, _ credentials: CredentialKeeper?,
    _ transport: CurlTransport
  ) throws(Failure) {
    let invocation = session.invocation
    let connection = try ConnectionOptions(invocation)
    let world = session.world
    self.bucket = bucket
    self.settings = settings
    let retry = RetryPolicy(tries: settings.transfer.retries)
    self.retry = retry
    let stallTimeout = settings.transfer.stallTimeout
    func signer(_ session: ExpressSession?) -> BucketSigner {
      BucketSigner(
        bucket: bucket, payloadSigning: settings.payloadSigning, verifiesTLS: !connection.insecure, now: world.now,
        session: session, credentials: credentials)
    }
    var shared: ExpressSession?
    if bucket.kind == .directory, credentials != nil {
      let opener = S3Client(signer: signer(nil), transport: transport, world: world, stallTimeout: stallTimeout)
      let begin = CreateSession(bucket: bucket.bucket, encryption: try EncryptionOptions(invocation).server)
      shared = ExpressSession(uptime: world.uptime) { () async throws(Failure) in
        let session = try await opener.perform(begin, retrying: retry)
        world.secrets.add(session.credentials)
        return session
      }
    }
    self.signer = signer(shared)
    client = S3Client(
      signer: self.signer, transport: transport, world: world, stallTimeout: stallTimeout,
      answerTimeout: settings.transfer.answerTimeout)
    common = CommonHeaders(
      expectedBucketOwner: connection.expectedBucketOwner, requestPayer: connection.requestPayer)
  }

  /// Loops and their connections, for any requests of this run.
  static func transport(
    _ session: Session, _ transfer: TransferOptions, trustsAnybody: Bool = false
  ) throws(Failure) -> CurlTransport {
    let connection = try ConnectionOptions(session.invocation)
    var options = TransportOptions()
    options.connectTimeout = transfer.connectTimeout
    options.caBundle = connection.caBundle?.text
    options.verifiesTLS = !connection.insecure && !trustsAnybody
    options.proxy = ProxySettings(session.invocation, session.environment)
    options.connections = transfer.adapts ? ConnectionBounds.most : transfer.concurrency
    options.congestion = transfer.congestion
    options.secrets = session.world.secrets
    let log = session.world.log
    options.note = { text in log(1, text) }
    options.userAgent = "s3up/\(Version.text)"
    options.limiter = transfer.limitRate.map { RateLimiter(rate: $0, now: session.world.uptime()) }
    return try CurlTransport(options: options)
  }
}
