import MultipartBasics

/// Checks whether a bucket's CORS rules let a page upload by a ticket, wherever the page was opened from.
public struct BrowserAccess: Sendable {
  private let store: Store
  private let found: [CORSRule]

  /// Reads the bucket's rules. If they are only looked at, and not going to be changed, a few tries are enough.
  public init(_ store: Store, onlyLooks: Bool = false) async throws(Failure) {
    self.store = store
    found = try await store.client.perform(
      GetBucketCORS(bucket: store.address), retrying: onlyLooks ? store.retry.atMost(3) : store.retry)
  }

  /// A page that was opened from a file has the origin `null`, which only `*` matches. What the requests may do is
  /// decided by their signatures.
  static let rule = CORSRule(
    id: "s3up-ticket", origins: ["*"], methods: ["GET", "PUT", "POST", "HEAD"], headers: ["*"],
    exposed: ["ETag", "x-amz-checksum-sha256"], maximumAge: 3000)

  /// Whether the rules are sufficient: the first rule that matches a request's origin and method decides.
  public var isGiven: Bool {
    Self.rule.methods.allSatisfy { method in
      let fitting = found.first { $0.origins.contains("*") && $0.methods.contains(method) }
      guard let fitting, fitting.headers.contains("*") else { return false }
      return method != "PUT" || fitting.exposed.contains { $0.lowercased() == "etag" }
    }
  }

  /// Adds a rule before the others, because an earlier one that matches could allow too little.
  public func give() async throws(Failure) {
    let others = found.filter { $0.id != Self.rule.id }
    try await store.client.perform(
      PutBucketCORS(bucket: store.address, rules: [Self.rule] + others), retrying: store.retry)
  }

  /// The rule that `give` adds, in the form of `aws s3api put-bucket-cors`.
  public static var text: String {
    JSON.object([
      (
        "CORSRules",
        .array([
          .object([
            ("AllowedOrigins", .array(rule.origins.map { .string($0) })),
            ("AllowedMethods", .array(rule.methods.map { .string($0) })),
            ("AllowedHeaders", .array(rule.headers.map { .string($0) })),
            ("ExposeHeaders", .array(rule.exposed.map { .string($0) })),
            ("MaxAgeSeconds", .int(rule.maximumAge ?? 0)),
          ])
        ])
      )
    ]).encoded
  }
}
