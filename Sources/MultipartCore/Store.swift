import Glibc
import MultipartBasics

/// One bucket of a store, with the credentials to use it.
///
///     let store = try await Store(bucket: "my-bucket", StoreOptions(endpoint: "https://s3.example.com"))
///     let object = try await store.upload(.file("disk.img"), to: "images/disk.img")
///
/// Its connections and its thread end when the last reference is released.
public final class Store: Sendable {
  /// The bucket as the caller gave it: a name, an alias or an ARN.
  public var bucket: String { endpoint.bucket }
  /// Whether it is a directory bucket (S3 Express One Zone), which takes fewer settings.
  var isDirectoryBucket: Bool { endpoint.kind == .directory }
  /// The store's address, such as `https://s3.example.com`.
  public var origin: String { signer.origin }
  /// The region that requests are signed for.
  public var region: String { endpoint.region }
  /// Whether nothing names the region, and AWS did not say which it is.
  public var regionIsGuessed: Bool { endpoint.isAWS && settings.sources[.region] == nil }
  let endpoint: BucketEndpoint
  let signer: BucketSigner
  let client: S3Client
  let retry: RetryPolicy
  /// The bucket as requests address it.
  let address: BucketAddress
  /// The settings, and where each one came from.
  let settings: StoreSettings
  let options: StoreOptions
  /// The clock and the log of this store.
  public let world: World
  /// The credentials; nil: requests are not signed.
  let credentials: CredentialKeeper?

  /// The time by the store's clock, as far as answers have shown that this machine's is wrong.
  public var now: Timestamp { signer.corrected(world.now()) }

  /// Whether an ETag may be an MD5: those of a directory bucket only look like one.
  var etagMayBeMD5: Bool { !isDirectoryBucket }

  /// Finds the store's address, and looks up the bucket's region if it is not set anywhere. Credentials are read when
  /// the first request needs them.
  public convenience init(bucket: String, _ options: StoreOptions = StoreOptions()) async throws(Failure) {
    try await self.init(of: bucket, options)
  }

  /// A store without a bucket, for requests that concern none.
  convenience init(of bucket: String?, _ options: StoreOptions) async throws(Failure) {
    let world = options.openWorld()
    let options = try options.filled(from: world.environment)
    let profile = try ProfileSettings(options, world.environment)
    var settings = try StoreSettings(options, world.environment, profile, bucket: bucket ?? StoreSettings.noBucket)
    let transport = try options.transport(settings.transfer, world)
    let sources = CredentialSources(options, options.services(transport, settings, world), profile)
    let endpoint =
      bucket == nil
      ? try await settings.serviceEndpoint { await sources.region() }
      : try await settings.endpoint(machine: { await sources.region() }, transport: transport, world: world)
    self.init(
      endpoint, settings, options, credentials: try sources.credentials(region: settings.region),
      transport: transport, world: world)
  }

  init(
    _ endpoint: BucketEndpoint, _ settings: StoreSettings, _ options: StoreOptions, credentials: CredentialKeeper?,
    transport: any Transport, world: World, _ presigned: PresignedSigner? = nil
  ) {
    self.endpoint = endpoint
    self.settings = settings
    self.options = options
    self.world = world
    self.credentials = credentials
    let retry = RetryPolicy(tries: settings.transfer.tries)
    self.retry = retry
    let stallTimeout = settings.transfer.stallTimeout
    func signer(_ session: ExpressSession?) -> BucketSigner {
      BucketSigner(
        bucket: endpoint, payloadSigning: settings.payloadSigning, verifiesTLS: options.verifiesTLS, now: world.now,
        session: session, credentials: credentials)
    }
    var shared: ExpressSession?
    if endpoint.kind == .directory, credentials != nil {
      let opener = S3Client(signer: signer(nil), transport: transport, world: world, stallTimeout: stallTimeout)
      let begin = CreateSession(bucket: endpoint.bucket, encryption: options.sessionEncryption)
      shared = ExpressSession(uptime: world.uptime) { () async throws(Failure) in
        let session = try await opener.perform(begin, retrying: retry)
        world.secrets.add(session.credentials)
        return session
      }
    }
    self.signer = signer(shared)
    client = S3Client(
      signer: presigned ?? self.signer, transport: transport, world: world, stallTimeout: stallTimeout,
      answerTimeout: settings.transfer.answerTimeout, connectTimeout: settings.transfer.connectTimeout)
    address = BucketAddress(
      endpoint.bucket,
      CommonHeaders(expectedBucketOwner: options.expectedBucketOwner, requestPayer: options.requestPayer))
  }

  /// Throws unless this process may have the threads and open files that a small run needs. Without them the system
  /// would end the process, or let it wait forever, with no message: call it once, before the first `Task`.
  public static func requireProcessLimits() throws(Failure) {
    try ThreadSupply.prove()
    try ConnectionBounds.proveDescriptors()
  }

  /// When credentials expire that nothing here can renew; nil if they last, or are renewed, or requests are not signed.
  public func lastExpiration() async throws(Failure) -> Timestamp? {
    let held = try await signer.currentCredentials()
    return held?.isFixed == true ? held?.expiration : nil
  }

  /// Fails if the bucket does not exist, or the store cannot be reached. It asks for a byte of this object, which need
  /// not exist: that changes nothing, and unlike the response to a HEAD, its response says what is missing.
  public func requireBucket(for key: String) async throws(Failure) {
    do throws(Failure) {
      _ = try await client.perform(GetObject(address(key), range: 0...0, maximumAnswer: 1 << 20), retrying: retry)
    } catch {
      // Credentials that may write need not be allowed to read.
      if error.s3Code == "NoSuchBucket" || error.code == .network { throw error }
    }
  }

  /// The address of an object in the bucket.
  func address(_ key: String, customerKey: CustomerKey? = nil) -> ObjectAddress {
    ObjectAddress(bucket, key, customerKey: customerKey, address.common)
  }
}

extension StoreOptions {
  /// The event loops and connections that all requests of the store share.
  func transport(
    _ transfer: TransferSettings, _ world: World, trustsAnybody: Bool = false
  ) throws(Failure) -> CurlTransport {
    let caBundle = caBundle ?? transfer.caBundle
    if let caBundle, verifiesTLS, !trustsAnybody {
      try Self.check(caBundle, self.caBundle == nil ? "ca_bundle of the profile" : origins[.caBundle]?.name)
    }
    var options = TransportOptions()
    options.connectTimeout = transfer.connectTimeout
    options.caBundle = caBundle
    options.systemTrust = SystemTrust.chosen(by: world.environment)
    options.verifiesTLS = verifiesTLS && !trustsAnybody
    options.proxy = proxySettings(world.environment)
    // A variable is checked when a request uses its proxy.
    if proxy != nil { try options.proxy.check() }
    options.connections = transfer.connections == .adaptive ? ConnectionBounds.mostForSmall : transfer.concurrency
    options.congestion = transfer.congestion
    options.secrets = world.secrets
    let log = world.log
    options.note = { text in log(1, text) }
    try S3HeaderBuilder.checkValue(userAgent, of: "User-Agent")
    options.userAgent = userAgent
    options.limiter = transfer.limitRate.map { limit in
      RateLimiter(limit, now: world.uptime(), minute: { world.now().localMinute }, note: { log(1, "\($0)") })
    }
    return try CurlTransport(options: options)
  }

  /// Reads the bundle in advance: libcurl opens it only for the first connection, and does not say what is wrong with
  /// it.
  private static func check(_ bundle: String, _ origin: String?) throws(Failure) {
    guard access(bundle, R_OK) != 0 else { return }
    throw .system(
      .configuration, errno,
      "the certificates of \(origin.map { "\($0)" } ?? "\(.caBundle)") cannot be read from \(SafeText.oneLine(bundle))",
      remedy: "name a file of certificates in PEM form, or leave it out to trust the system's")
  }

  /// The variables of this process, which a store uses while `environment` is nil.
  public static func processEnvironment() -> [String: String] { ProcessEnvironment.variables() }

  func proxySettings(_ environment: [String: String]) -> ProxySettings {
    ProxySettings(
      option: proxy, name: origins[.proxy].map { "\($0.name)" } ?? "\(.proxy)", environment: environment)
  }

  /// The state folder; nil without the option, `XDG_STATE_HOME` and `HOME`.
  public func stateFolder(_ environment: [String: String]) -> String? {
    if let stateFolder { return stateFolder.isEmpty ? nil : stateFolder }
    if let base = environment["XDG_STATE_HOME"], base.begins(with: "/") { return base + "/s3up" }
    guard let home = environment["HOME"], !home.isEmpty else { return nil }
    return home + "/.local/state/s3up"
  }

  func openWorld() -> World {
    var world =
      world
      ?? .ofProcess(
        environment ?? ProcessEnvironment.variables(), upTo: log == nil ? -1 : 2, log: log ?? { _, _ in })
    if let timeline {
      world.timeline = timeline
      timeline.begin(in: world)
    }
    return world
  }
}
