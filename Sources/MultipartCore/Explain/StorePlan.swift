import MultipartBasics

/// What an explanation says about the store, and how its requests are made.
struct StorePlan {
  private let store: Store
  private let credentials: String
  private var settings: StoreSettings { store.settings }

  init(_ store: Store) async throws(Failure) {
    self.store = store
    credentials = try await store.signer.currentCredentials()?.source ?? "none: requests are not signed"
  }

  var place: [PlanLine] {
    let endpoint = store.endpoint
    let style = endpoint.usesPath ? "bucket in the path" : "bucket in the host"
    let asked = settings.sources[.addressing].map { ", as \($0) says" } ?? ""
    return [
      PlanLine("endpoint", "\(endpoint.origin) (\(settings.endpointSource(endpoint))), \(style)\(asked)"),
      PlanLine("region", "\(endpoint.region) (\(settings.source(.region)))"),
      PlanLine("credentials", "\(SafeText.oneLine(credentials))"),
    ]
  }

  /// The number of connections; `small` is the most small objects that are sent at once.
  func connections(pace: Pace.Bounds?, _ concurrency: Int, small: Int = 0) -> PlanLine {
    PlanLine("connections", "\(count(pace, concurrency, small)) (\(settings.source(.concurrency)))")
  }

  private func count(_ pace: Pace.Bounds?, _ concurrency: Int, _ small: Int) -> String {
    guard let pace else { return String(concurrency) }
    let opening = pace.opening ?? pace.start
    let first = "\(opening) at first" + (opening < pace.start ? ", \(pace.start) once the line takes them" : "")
    let more = pace.most > pace.start ? ", up to \(pace.most) while more are faster" : ""
    let many = pace.mostWhenLossy > pace.most ? ", or \(pace.mostWhenLossy) if each loses packets" : ""
    let objects = small > pace.most ? ", or \(small) for small files that wait for responses" : ""
    let isLimited = settings.transfer.limitRate != nil
    return first + more + many + objects + ", fewer where the line\(isLimited ? " or the limit" : "") is slow"
  }

  var rate: PlanLine {
    guard let limit = settings.transfer.limitRate else { return PlanLine("rate", "not limited") }
    let minute = store.world.now().localMinute
    let next = limit.next(after: minute).map { ", from \($0.time) \(Self.rate($0.bytesPerSecond))" } ?? ""
    return PlanLine("rate", "\(Self.rate(limit.rate(at: minute)))\(next) (\(settings.source(.limitRate)))")
  }

  private static func rate(_ bytes: Int64?) -> String { bytes.map { Human.rate(Double($0)) } ?? "not limited" }

  func checksum(_ asked: ChecksumForm?, _ remembered: ChecksumForm?) -> PlanLine {
    let words: Wording =
      switch (asked, remembered) {
      case (let form?, _): "\(form.title), as \(.checksum) says"
      case (nil, let form?): "\(form.title), as learned from earlier uploads"
      case (nil, nil): "CRC64NVME, which S3 verifies; another if the store does not"
      }
    return PlanLine("checksum", words)
  }

  var signature: PlanLine {
    let what = store.signer.signsPayload ? "covers the SHA-256 of the body" : "leaves the body to TLS"
    return PlanLine("signature", "\(what)\(settings.sources[.payloadSigning].map { ", as \($0) says" } ?? "")")
  }
}

extension RateLimit.Change {
  /// The time of day, such as `08:00`.
  fileprivate var time: String { Human.two(Int64(minute / 60)) + ":" + Human.two(Int64(minute % 60)) }
}
