/// The facts about reaching a store, before they are judged. A nil fact was not examined, or could not be, because
/// something before it failed.
struct Examination: Sendable {
  enum Signing: Sendable {
    /// Requests are not signed.
    case none(why: String)
    case keys(Keys)
    case failed(Failure)
  }

  /// The part of the credentials that may be shown.
  struct Keys: Sendable {
    var id: String
    var source: String
    var isTemporary: Bool
    var end: Timestamp?

    init(_ credentials: Credentials) {
      id = Self.shortened(credentials.accessKeyID)
      source = credentials.source
      isTemporary = credentials.sessionToken != nil
      end = credentials.expiration
    }

    /// The first and last four characters; fewer for an id so short that this would show all of it.
    static func shortened(_ id: String) -> String {
      let scalars = Array(id.unicodeScalars)
      let shown = min(4, scalars.count / 3)
      func text(_ part: ArraySlice<Unicode.Scalar>) -> String { String(String.UnicodeScalarView(part)) }
      return text(scalars.prefix(shown)) + "…" + text(scalars.suffix(shown))
    }
  }

  struct Place: Sendable {
    var origin: Origin
    /// Where the endpoint came from: `AWS_ENDPOINT_URL_S3`, `AWS's bucket`.
    var source: String
    var usesPath: Bool
    var region: String
    var regionSource: String
    var isAWS: Bool
    var kind: BucketEndpoint.Kind

    init(_ endpoint: BucketEndpoint, source: String, regionSource: String) {
      origin = endpoint.origin
      self.source = source
      usesPath = endpoint.usesPath
      region = endpoint.region
      self.regionSource = regionSource
      isAWS = endpoint.isAWS
      kind = endpoint.kind
    }
  }

  struct Proxy: Sendable {
    /// The URL without its password.
    var address: String
    var source: ProxySource
    /// The variable that excludes this store from the proxy.
    var bypassedBy: String?

    var isUsed: Bool { bypassedBy == nil }
  }

  /// The versions, such as `0.1.0, libcurl 7.88.1, OpenSSL 3.0.15`.
  var version = ""
  /// The bucket; nil if none was named.
  var bucket: String?
  var prefix = ""
  var signing: Signing?
  var identity: Result<CallerIdentity, Failure>?
  /// Unusable settings that prevented the other checks.
  var settings: Failure?
  var place: Place?
  var proxy: Proxy?
  var verifiesTLS = true
  var addresses: Result<[String], Failure>?
  var visit: StoreVisit?
  var probe: ProbeReport?
  var lifecycle: Result<[GetBucketLifecycle.Rule], Failure>?
  var state: StateFolderReport?
  /// The time by this machine's clock.
  var now: Timestamp

  /// The findings, in the order of the checks.
  var findings: [StoreFinding] {
    var all = [StoreFinding(.ok, .version, "\(version)")]
    all += signingFindings + placeFindings + connectionFindings + probeFindings + lifecycleFindings + stateFindings
    return all
  }
}
