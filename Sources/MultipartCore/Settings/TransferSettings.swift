/// How the bytes of a run travel, once options and profile have been read.
package struct TransferSettings: Sendable, Equatable {
  package var connections = StoreOptions.Connections.adaptive
  /// Bytes a second; nil: as fast as it goes.
  package var limitRate: Int64?
  /// Tries of one request, the first included.
  package var tries = 10
  package var stallTimeout = Duration.seconds(30)
  /// While a store puts the parts together; what was said holds for that too.
  package var answerTimeout = S3Client.patience
  package var connectTimeout = Duration.seconds(10)
  package var congestion = CongestionControl.auto
  /// What the profile would have, where it fits: a file of another size may need larger parts.
  package private(set) var preferredPartSize: Int64?
  /// From this size on a file goes in parts; nil: what is longer than one part.
  package private(set) var threshold: Int64?

  package init(_ options: StoreOptions = StoreOptions()) {
    connections = options.connections ?? connections
    limitRate = options.limitRate
    tries = options.tries ?? tries
    stallTimeout = options.stallTimeout ?? stallTimeout
    answerTimeout = options.stallTimeout ?? answerTimeout
    connectTimeout = options.connectTimeout ?? connectTimeout
    congestion = options.congestion
  }

  /// Parts at once; where the number is found out, the one to come to first.
  package var concurrency: Int {
    if case .fixed(let count) = connections { count } else { 8 }
  }

  /// The profile fills what nobody said; the names of what it filled.
  mutating func fill(from profile: ProfileS3, unless isSaid: (Setting) -> Bool) -> [Setting] {
    var filled: [Setting] = []
    if let concurrency = profile.concurrency, !isSaid(.concurrency) {
      connections = .fixed(concurrency)
      filled.append(.concurrency)
    }
    if let rate = profile.rate, !isSaid(.limitRate) {
      limitRate = rate
      filled.append(.limitRate)
    }
    guard !isSaid(.partSize) else { return filled }
    threshold = profile.threshold
    preferredPartSize = profile.chunkSize.map {
      min(max($0, UploadOptions.partSizes.lowerBound), UploadOptions.partSizes.upperBound)
    }
    if profile.threshold != nil || profile.chunkSize != nil { filled.append(.partSize) }
    return filled
  }

  /// The preferred size if a file of this length then has no more parts than S3 takes.
  package func partSize(forFileOf size: Int64) -> Int64? {
    preferredPartSize.flatMap { $0 * Int64(S3Limits.mostParts) >= size ? $0 : nil }
  }
}
