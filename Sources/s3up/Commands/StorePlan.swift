import MultipartCore

/// What the plans of one upload and of a batch say about the store, and how its requests are made.
struct StorePlan {
  private let store: Store
  private let credentials: String
  private var settings: StoreSettings { store.settings }

  init(_ store: Store) async throws(Failure) {
    self.store = store
    credentials = try await store.signer.currentCredentials()?.source ?? "none: requests are not signed"
  }

  var place: [String] {
    [
      "endpoint     \(store.endpoint.origin) (\(settings.endpointSource(store.endpoint))), "
        + (store.endpoint.usesPath ? "bucket in the path" : "bucket in the host")
        + (settings.sources[.addressing].map { ", as \($0) says" } ?? ""),
      "region       \(store.endpoint.region) (\(settings.source(.region)))",
      "credentials  \(SafeText.oneLine(credentials))",
    ]
  }

  /// The number of connections; `small` is the most small objects that are sent at once.
  func connections(pace: Pace.Bounds?, _ concurrency: Int, small: Int = 0) -> String {
    "connections  \(count(pace, concurrency, small)) (\(settings.source(.concurrency)))"
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

  var rate: String {
    guard let limit = settings.transfer.limitRate else { return "rate         not limited" }
    let minute = store.world.now().localMinute
    let next = limit.next(after: minute).map { ", from \($0.time) \(Self.rate($0.bytesPerSecond))" } ?? ""
    return "rate         \(Self.rate(limit.rate(at: minute)))\(next) (\(settings.source(.limitRate)))"
  }

  private static func rate(_ bytes: Int64?) -> String { bytes.map { "\(Human.size($0)) a second" } ?? "not limited" }

  func checksum(_ asked: ChecksumForm?, _ remembered: ChecksumForm?) -> String {
    let words =
      switch (asked, remembered) {
      case (let form?, _): "\(form.title), as --checksum says"
      case (nil, let form?): "\(form.title), as learned from earlier uploads"
      case (nil, nil): "CRC64NVME, which S3 verifies; another if the store does not"
      }
    return "checksum     \(words)"
  }

  var signature: String {
    "signature    " + (store.signer.signsPayload ? "covers the SHA-256 of the body" : "leaves the body to TLS")
      + (settings.sources[.payloadSigning].map { ", as \($0) says" } ?? "")
  }
}

extension RateLimit.Change {
  /// The time of day, such as `08:00`.
  fileprivate var time: String { Human.two(Int64(minute / 60)) + ":" + Human.two(Int64(minute % 60)) }
}

extension ChecksumForm {
  var title: String {
    switch self {
    case .algorithm(let algorithm): algorithm.awsName ?? algorithm.rawValue
    case .md5: "Content-MD5"
    case .nothing: "none"
    }
  }
}
