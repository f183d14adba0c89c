import MultipartCore

/// How the bytes travel.
struct TransferOptions: Sendable, Equatable {
  /// Nil: chosen by the file's size.
  var partSize: Int64?
  /// What the profile would have, where it fits: a file of another size may need larger parts.
  var preferredPartSize: Int64?
  /// From this size on a file goes in parts; nil: what is longer than one part.
  var threshold: Int64?
  var equalParts = false
  /// Parts at once; with `adapts` the number to begin with.
  var concurrency = 8
  var adapts = true
  var congestion = CongestionControl.auto
  /// A part that holds up the end is sent a second time.
  var hedges = true
  /// Bytes a second; nil: as fast as it goes.
  var limitRate: Int64?
  /// Tries of one request, the first included.
  var retries = 10
  var stallTimeout = Duration.seconds(30)
  /// While a store puts the parts together; what was said holds for that too.
  var answerTimeout = S3Client.patience
  var connectTimeout = Duration.seconds(10)

  /// The profile fills what nobody said; the names of what it filled.
  mutating func fill(from profile: ProfileS3, _ invocation: Invocation) -> [FlagName] {
    var filled: [FlagName] = []
    if let concurrency = profile.concurrency, !invocation.has(.concurrency) {
      self.concurrency = concurrency
      adapts = false
      filled.append(.concurrency)
    }
    if let rate = profile.rate, !invocation.has(.limitRate) {
      limitRate = rate
      filled.append(.limitRate)
    }
    guard !invocation.has(.partSize) else { return filled }
    threshold = profile.threshold
    if let size = profile.chunkSize {
      preferredPartSize = min(max(size, Self.partSizes.lowerBound), Self.partSizes.upperBound)
    }
    if profile.threshold != nil || profile.chunkSize != nil { filled.append(.partSize) }
    return filled
  }

  /// For a file of this size: the preferred one if it makes no more parts than S3 takes.
  func partSize(forFileOf size: Int64) -> Int64? {
    partSize ?? preferredPartSize.flatMap { $0 * Int64(StepOptions.lastPart) >= size ? $0 : nil }
  }

  /// What S3 allows for every part but the last.
  static let partSizes: ClosedRange<Int64> = (5 << 20)...(5 << 30)

  init() {}

  init(_ invocation: Invocation) throws(Failure) {
    partSize = try Self.partSize(invocation)
    equalParts = invocation.toggle(.equalParts) ?? false
    if let given = invocation.last(.concurrency), given.value.text != "auto" {
      concurrency = try invocation.number(.concurrency, in: 1...1000) ?? concurrency
      adapts = false
    }
    hedges = try invocation.choice(.hedge) ?? HedgeChoice.auto == .auto
    retries = try invocation.number(.retries, in: 1...1000) ?? retries
    stallTimeout = try invocation.duration(.stallTimeout) ?? stallTimeout
    if invocation.has(.stallTimeout) { answerTimeout = stallTimeout }
    connectTimeout = try invocation.duration(.connectTimeout) ?? connectTimeout
    if let given = invocation.last(.tcpCongestion) {
      switch given.value.text {
      case "auto": congestion = .auto
      case "system": congestion = .system
      case let name:
        // The kernel's longest name has 15 bytes.
        guard (1...15).contains(name.utf8.count), name.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
          throw invocation.wrong(
            given, "is no name of a congestion control",
            remedy: "Take auto, system, or a name of /proc/sys/net/ipv4/tcp_allowed_congestion_control.")
        }
        congestion = .named(name)
      }
    }
    if let given = invocation.last(.limitRate) {
      guard let rate = RateValue.parse(given.value.text) else {
        throw invocation.wrong(given, "is not a rate", remedy: RateValue.form)
      }
      if case .bytesPerSecond(let bytes) = rate { limitRate = bytes }
    }
  }

  private static func partSize(_ invocation: Invocation) throws(Failure) -> Int64? {
    guard let given = invocation.last(.partSize), given.value.text != "auto" else { return nil }
    let size = try invocation.size(.partSize) ?? 0
    guard partSizes.contains(size) else {
      throw invocation.wrong(given, "is no size for a part", remedy: "S3 takes parts of 5M to 5G.")
    }
    return size
  }
}

/// What is done about an upload that was not finished, and about this one if it is not.
struct ResumeOptions: Sendable, Equatable {
  var mode = ResumeChoice.auto
  var onInterrupt = InterruptChoice.keep
  /// Nil: a second run at the same object ends at once.
  var lockPatience: Duration?
  /// Nil: the run takes as long as it takes.
  var deadline: Duration?

  /// As good as for ever.
  private static let longPatience = Duration.seconds(365 * 86_400)

  init(_ invocation: Invocation) throws(Failure) {
    mode = try invocation.choice(.resume) ?? .auto
    onInterrupt = try invocation.choice(.onInterrupt) ?? .keep
    deadline = try invocation.duration(.deadline)
    if let given = invocation.last(.waitLock) {
      lockPatience = given.value.bytes.isEmpty ? Self.longPatience : try invocation.duration(.waitLock)
    }
  }
}

/// What proves that the bytes arrived.
struct IntegrityOptions: Sendable, Equatable {
  var checksum = ChecksumChoice.auto
  var payloadSigning = PayloadSigningChoice.auto
  var verify = false
  var expectSize: Int64?
  var minSize: Int64?
  /// 64 hex digits, in small letters.
  var expectSHA256: String?

  init() {}

  init(_ invocation: Invocation) throws(Failure) {
    checksum = try invocation.choice(.checksum) ?? .auto
    payloadSigning = try invocation.choice(.payloadSigning) ?? .auto
    verify = invocation.toggle(.verify) ?? false
    expectSize = try invocation.size(.expectSize)
    minSize = try invocation.size(.minSize)
    if let given = invocation.last(.expectSHA256) {
      let hex = given.value.text.lowercased()
      guard hex.utf8.count == 64, hex.allSatisfy({ $0.isASCII && $0.isHexDigit }) else {
        throw invocation.wrong(
          given, "is no SHA-256", remedy: "Give its 64 hexadecimal digits, as sha256sum prints them.")
      }
      expectSHA256 = hex
    }
  }
}

/// What must hold of the object that is there.
struct ConditionOptions: Sendable, Equatable {
  var ifNoneMatch = false
  var ifMatch: String?

  init() {}

  init(_ invocation: Invocation) throws(Failure) {
    ifNoneMatch = invocation.toggle(.ifNoneMatch) ?? false
    ifMatch = try invocation.text(.ifMatch)
    if ifNoneMatch, ifMatch != nil {
      throw Failure(
        .usage, "--if-none-match and --if-match exclude each other",
        remedy: "Use --if-none-match to create, --if-match ETAG to replace.")
    }
  }
}
