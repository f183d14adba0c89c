import MultipartBasics

/// How a run transfers its bytes, from options and profile.
struct TransferSettings: Sendable, Equatable {
  var connections = StoreOptions.Connections.adaptive
  var limitRate: RateLimit?
  /// How often one request is tried, including the first time.
  var tries = 10
  var stallTimeout = Duration.seconds(30)
  /// How long to wait for an answer while the store assembles the parts; the caller's stall timeout also sets this.
  var answerTimeout = S3Client.patience
  var connectTimeout = Duration.seconds(10)
  var congestion = CongestionControl.auto
  /// The certificates to trust that a profile names; the caller's and AWS's variable come first.
  private(set) var caBundle: String?
  /// The profile's part size: used where it fits, because a larger file may need larger parts.
  private(set) var preferredPartSize: Int64?
  /// Files of at least this size are sent in parts; nil: those longer than one part.
  private(set) var threshold: Int64?

  init(_ options: StoreOptions = StoreOptions()) {
    if case .fixed(let count)? = options.connections {
      let bounds = StoreOptions.connectionCounts
      connections = .fixed(min(max(count, bounds.lowerBound), bounds.upperBound))
    }
    limitRate = options.limitRate
    tries = options.tries ?? tries
    stallTimeout = options.stallTimeout?.bounded ?? stallTimeout
    answerTimeout = options.stallTimeout?.bounded ?? answerTimeout
    connectTimeout = options.connectTimeout?.bounded ?? connectTimeout
    congestion = options.congestion
  }

  /// The number of parts sent at once; if it is adaptive, the first target.
  var concurrency: Int {
    if case .fixed(let count) = connections { count } else { 8 }
  }

  /// Fills values that are not set from the profile; returns the names of what it filled.
  mutating func fill(from profile: ProfileS3, unless isSaid: (Setting) -> Bool) -> [Setting] {
    var filled: [Setting] = []
    if let concurrency = profile.concurrency, !isSaid(.concurrency) {
      connections = .fixed(concurrency)
      filled.append(.concurrency)
    }
    if let rate = profile.rate, !isSaid(.limitRate) {
      limitRate = .bytesPerSecond(rate)
      filled.append(.limitRate)
    }
    if let tries = profile.tries, !isSaid(.tries) {
      self.tries = tries
      filled.append(.tries)
    }
    if let caBundle = profile.caBundle, !isSaid(.caBundle) {
      self.caBundle = caBundle
      filled.append(.caBundle)
    }
    guard !isSaid(.partSize) else { return filled }
    threshold = profile.threshold
    preferredPartSize = profile.chunkSize.map {
      min(max($0, UploadOptions.partSizes.lowerBound), UploadOptions.partSizes.upperBound)
    }
    if profile.threshold != nil || profile.chunkSize != nil { filled.append(.partSize) }
    return filled
  }

  /// The preferred size, if a file of this length then has no more parts than S3 allows.
  func partSize(forFileOf size: Int64) -> Int64? {
    preferredPartSize.flatMap { $0 * Int64(S3Limits.mostParts) >= size ? $0 : nil }
  }
}
