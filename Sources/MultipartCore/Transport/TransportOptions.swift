import MultipartBasics

/// Options for all requests of a run.
struct TransportOptions: Sendable {
  var connectTimeout: Duration = .seconds(10)
  /// A PEM file of certificates to trust instead of the system's.
  var caBundle: String?
  /// The system's certificates; nil leaves them to libcurl. A closure, because libcurl may not be initialised yet.
  var systemTrust: @Sendable () -> SystemTrust? = { .ofSystem }
  var verifiesTLS = true
  var proxy = ProxySettings()
  /// How many idle connections each loop keeps.
  var connections = 8
  var userAgent = "s3up"
  var limiter: RateLimiter?
  /// Looks up the addresses of a name.
  var lookUp = HostLookup.onThread
  var congestion = CongestionControl.auto
  /// The secrets to remove from everything that is received.
  var secrets = SecretsInUse()
  /// Receives findings about the line, for the log.
  var note: @Sendable (Wording) -> Void = { _ in }

  init() {}
}
