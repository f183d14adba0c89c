import MultipartBasics

/// Checks which credentials sign, and where requests go.
extension Examination {
  /// Codes by which a store refuses the credentials themselves, whatever the request is.
  private static let identityCodes = S3ErrorTable.rejectedKeys.union([
    "InvalidSecurity", "NotSignedUp", "SignatureDoesNotMatch",
  ])

  static func isAboutCredentials(_ failure: Failure) -> Bool {
    failure.code == .credentialsExpired || failure.s3Code.map(identityCodes.contains) ?? false
  }

  /// The refusal of the credentials: the store's, else that of STS.
  private var refusal: Failure? {
    if case .failure(let failure)? = probe?.began, Self.isAboutCredentials(failure) { return failure }
    if case .failure(let failure)? = identity, Self.isAboutCredentials(failure) { return failure }
    return nil
  }

  var signingFindings: [StoreFinding] {
    var findings: [StoreFinding] = []
    switch signing {
    case nil: break
    case .none(let why)?: findings.append(StoreFinding(.ok, .credentials, "none: requests are not signed (\(why))"))
    case .failed(let failure)?: findings.append(.fail(.credentials, failure))
    case .keys(let keys)?: findings.append(finding(keys))
    }
    switch identity {
    case .success(let caller)?:
      findings.append(
        StoreFinding(
          .ok, .identity, "account \(caller.account), \(caller.arn)",
          facts: ["account": .string(caller.account), "arn": .string(caller.arn)]))
    case .failure(let failure)? where !Self.isAboutCredentials(failure):
      findings.append(
        StoreFinding(
          .warn, .identity, "STS did not return the identity: " + StoreFinding.told(failure),
          remedy: failure.remedy ?? "uploads do not need it; set AWS_ENDPOINT_URL_STS for an STS elsewhere"))
    default: break
    }
    return findings
  }

  private func finding(_ keys: Keys) -> StoreFinding {
    let who = "\(keys.id) from \(keys.source)"
    var facts: [String: StoreFinding.Fact] = [
      "access_key_id": .string(keys.id), "source": .string(keys.source), "temporary": .bool(keys.isTemporary),
    ]
    if let end = keys.end { facts["expires"] = .string(end.iso8601) }
    if let refusal {
      var finding = StoreFinding.fail(.credentials, refusal, "\(who): ")
      finding.facts.merge(facts) { $1 }
      return finding
    }
    guard let end = keys.end else {
      let text = keys.isTemporary ? "temporary, but their source gives no expiry" : "which do not expire"
      return StoreFinding(.ok, .credentials, "\(who), \(text)", facts: facts)
    }
    // By the store's clock, if it returned its time.
    let left = end.seconds - now.seconds - (visit?.clockAhead ?? 0)
    guard left > 0 else {
      return StoreFinding(
        .fail, .credentials, "\(who), expired at \(end.iso8601)", remedy: "get new credentials from that source",
        code: .credentialsExpired, facts: facts)
    }
    return StoreFinding(.ok, .credentials, "\(who), until \(end.iso8601) (in \(Self.span(left)))", facts: facts)
  }

  /// A time span, such as `40 s`, `20 min`, `11 h`, `3 days`.
  static func span(_ seconds: Int64) -> String {
    switch abs(seconds) {
    case ..<90: "\(abs(seconds)) s"
    case ..<5400: "\((abs(seconds) + 30) / 60) min"
    case ..<172_800: "\((abs(seconds) + 1800) / 3600) h"
    default: "\((abs(seconds) + 43_200) / 86_400) days"
    }
  }

  // MARK: - Where requests go

  /// The region that the store names, if it differs from the one that requests are signed for.
  private var otherRegion: String? {
    guard let place, place.kind == .bucket, bucket != nil else { return nil }
    var named = probe?.region
    if named == nil || named == place.region, case .failure(let failure)? = probe?.began { named = failure.region }
    if named == nil || named == place.region, case .success(let answer)? = visit?.outcome {
      named = answer.headers[HeaderName.bucketRegion].flatMap(S3ErrorBody.region)
    }
    return named.flatMap { $0 == place.region ? nil : $0 }
  }

  /// Whether the region was wrong, not the request.
  static func isAboutRegion(_ failure: Failure) -> Bool {
    failure.s3Code.map(Redirect.codes.contains) == true && failure.region != nil
  }

  var placeFindings: [StoreFinding] {
    var findings: [StoreFinding] = []
    if let settings { findings.append(.fail(.settings, settings)) }
    guard let place else { return findings }
    var facts: [String: StoreFinding.Fact] = ["region": .string(place.region), "source": .string(place.regionSource)]
    if let other = otherRegion {
      facts["named_by_store"] = .string(other)
      findings.append(
        StoreFinding(
          .fail, .region, "\(place.region) (\(place.regionSource)), but the store says that the bucket is in \(other)",
          remedy: Self.mend(region: other, source: place.regionSource), code: .configuration, facts: facts))
    } else {
      findings.append(StoreFinding(.ok, .region, "\(place.region) (\(place.regionSource))", facts: facts))
    }
    let style = bucket == nil ? "" : place.usesPath ? ", bucket in the path" : ", bucket in the host"
    findings.append(
      StoreFinding(
        .ok, .endpoint, "\(place.origin) (\(place.source))" + style,
        facts: ["url": .string(place.origin.description), "source": .string(place.source)]))
    let proxied: Wording? = proxy.map { proxy in
      proxy.bypassedBy.map { "none for this store, as \($0) says" } ?? "\(proxy.address) (\(proxy.source.words))"
    }
    findings.append(
      StoreFinding(
        .ok, .proxy, proxied ?? "none",
        facts: [
          "address": proxy.map { .string($0.address) } ?? .null, "used": .bool(proxy?.isUsed ?? false),
        ]))
    return findings
  }

  /// How to correct the region where it was set.
  private static func mend(region: String, source: String) -> Wording {
    if let profile = source.rest(after: "profile ") {
      return "aws configure set region \(region) --profile \(ShellWord.quoted(String(profile)))"
    }
    let isVariable = source.utf8.allSatisfy { (0x41...0x5A).contains($0) || $0 == UInt8(ascii: "_") }
    if isVariable { return "export \(source)=\(region)" }
    return "give \(.region, region), or: export AWS_REGION=\(region)"
  }
}
