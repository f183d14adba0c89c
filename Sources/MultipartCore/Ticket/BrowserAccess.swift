/// Checks whether a bucket's CORS rules let a page upload by a ticket, wherever the page was opened from.
package struct BrowserAccess: Sendable {
  private let store: Store

  package init(_ store: Store) {
    self.store = store
  }

  /// A page that was opened from a file has the origin `null`, which only `*` matches. What the requests may do is
  /// decided by their signatures.
  static let rule = CORSRule(
    id: "s3up-ticket", origins: ["*"], methods: ["GET", "PUT", "POST", "HEAD"], headers: ["*"],
    exposed: ["ETag", "x-amz-checksum-sha256"], maximumAge: 3000)

  package func rules() async throws(Failure) -> [CORSRule] {
    try await store.client.perform(
      GetBucketCORS(bucket: store.address), retrying: store.retry)
  }

  /// Whether the rules are sufficient: the first rule that matches a request's origin and method decides.
  package static func suffices(_ rules: [CORSRule]) -> Bool {
    rule.methods.allSatisfy { method in
      let fitting = rules.first { $0.origins.contains("*") && $0.methods.contains(method) }
      guard let fitting, fitting.headers.contains("*") else { return false }
      return method != "PUT" || fitting.exposed.contains { $0.lowercased() == "etag" }
    }
  }

  /// Adds the rule before the others, because an earlier one that matches could allow too little.
  package func allow(beside rules: [CORSRule]) async throws(Failure) {
    let others = rules.filter { $0.id != Self.rule.id }
    try await store.client.perform(
      PutBucketCORS(bucket: store.address, rules: [Self.rule] + others), retrying: store.retry)
  }

  /// The rule in the form of `aws s3api put-bucket-cors`.
  package static var text: String {
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
