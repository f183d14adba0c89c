import MultipartBasics

/// Checks how the store is reached: addresses, connection, TLS, clock.
extension Examination {
  private static let mostAddresses = 8
  /// The difference in seconds that S3 allows for a signature's time.
  private static let grantedSkew: Int64 = 900

  var connectionFindings: [StoreFinding] {
    [addressFinding, connectionFinding, tlsFinding, clockFinding].compactMap { $0 }
  }

  private var isProxied: Bool { proxy?.isUsed == true }

  private var addressFinding: StoreFinding? {
    switch addresses {
    case nil: return nil
    case .failure(let failure)?:
      return .fail(.address, failure, isProxied ? "the proxy: " : "")
    case .success(let found)?:
      let more = found.count - Self.mostAddresses
      let text = found.prefix(Self.mostAddresses).joined(separator: ", ") + (more > 0 ? " and \(more) more" : "")
      return StoreFinding(
        .ok, .address, text + (isProxied ? " (the proxy, which resolves the store's name itself)" : ""),
        facts: ["addresses": .strings(found)])
    }
  }

  /// The failure if the TLS handshake began and did not finish.
  private var tlsFailure: Failure? {
    guard let visit, case .failure(let failure) = visit.outcome, place?.origin.scheme == .https else { return nil }
    if failure.code == .tls || failure.code == .configuration { return failure }
    // A proxy that refuses the connection does so before TLS.
    let isPast = visit.connection.proxyStatus == 0 || (200..<300).contains(visit.connection.proxyStatus)
    return visit.connection.isConnected && visit.connection.tlsHandshake == .zero && isPast ? failure : nil
  }

  private var connectionFinding: StoreFinding? {
    guard let visit else { return nil }
    let connection = visit.connection
    var facts: [String: StoreFinding.Fact] = [:]
    if let address = connection.address {
      facts["address"] = .string(address)
      facts["port"] = .int(Int64(connection.port))
    }
    if connection.handshake > .zero { facts["round_trip_ms"] = Self.number(connection.handshake) }
    var words = connection.address.map { ["\($0) port \(connection.port)"] } ?? []
    if connection.handshake > .zero { words.append("round trip \(Self.milliseconds(connection.handshake))") }
    let round = words.isEmpty ? "made" : words.joined(separator: ", ")
    switch visit.outcome {
    case .failure(let failure):
      guard tlsFailure == nil else {
        return connection.isConnected ? StoreFinding(.ok, .connection, round, facts: facts) : nil
      }
      var finding = StoreFinding.fail(.connection, failure)
      finding.facts.merge(facts) { $1 }
      return finding
    case .success:
      facts["answer_ms"] = Self.number(connection.firstByte)
      return StoreFinding(
        .ok, .connection, round + ", answered after \(Self.milliseconds(connection.firstByte))", facts: facts)
    }
  }

  // MARK: - TLS

  private var tlsFinding: StoreFinding? {
    guard let place else { return nil }
    guard place.origin.scheme == .https else {
      if place.origin.isLoopback {
        guard case .success? = visit?.outcome else { return nil }
        return StoreFinding(.ok, .tls, "none: plain HTTP, within this machine")
      }
      return StoreFinding(
        .warn, .tls, "none: plain HTTP, so anyone on the network path can read what is sent",
        remedy: "use the store's https:// address, if it has one")
    }
    guard let visit else { return nil }
    if let failure = tlsFailure { return distrust(failure, visit) }
    guard case .success = visit.outcome, let tls = visit.connection.tls else { return nil }
    let facts: [String: StoreFinding.Fact] = [
      "version": .string(tls.version), "cipher": .string(tls.cipher), "verified": .bool(verifiesTLS),
      "subject": .optional(tls.subject), "issuer": .optional(tls.issuer),
      "certificate_end": .optional(tls.end?.iso8601),
    ]
    let text = "\(tls.version), \(tls.cipher); certificate \(Self.certificate(tls))"
    guard verifiesTLS else {
      return StoreFinding(
        .warn, .tls, text + ", not verified: anyone on the network path can read and change everything",
        remedy: "leave \(off: .verifiesTLS) out, and give the store's authority with \(.caBundle) FILE",
        facts: facts)
    }
    return StoreFinding(.ok, .tls, text + ", verified", facts: facts)
  }

  private static func certificate(_ tls: TLSReport) -> String {
    var words = tls.subject.map { "of \($0)" } ?? "without a name"
    if let issuer = tls.issuer { words += issuer == tls.subject ? " by itself" : " by \(issuer)" }
    if let end = tls.end { words += ", until \(end.iso8601)" }
    return words
  }

  private func distrust(_ failure: Failure, _ visit: StoreVisit) -> StoreFinding {
    var finding = StoreFinding.fail(.tls, failure)
    finding.facts["verified"] = .bool(false)
    if let shown = visit.distrusted {
      finding.text += "; it is \(Self.certificate(shown))"
      finding.facts["subject"] = .optional(shown.subject)
      finding.facts["issuer"] = .optional(shown.issuer)
    }
    return finding
  }

  // MARK: - Clock

  private var clockFinding: StoreFinding? {
    if let settings = clockRefusal, visit?.clockAhead.map({ abs($0) <= 60 }) ?? true {
      return .fail(.clock, settings)
    }
    guard let visit, case .success = visit.outcome else { return nil }
    guard let ahead = visit.clockAhead else {
      return StoreFinding(.ok, .clock, "not known: the store does not send its time")
    }
    let facts: [String: StoreFinding.Fact] = ["skew_seconds": .int(-ahead)]
    guard abs(ahead) > 1 else { return StoreFinding(.ok, .clock, "within a second of the store's", facts: facts) }
    let text = "\(Self.span(ahead)) \(ahead > 0 ? "behind" : "ahead of") the store's"
    guard abs(ahead) > 60 else { return StoreFinding(.ok, .clock, text, facts: facts) }
    let remedy: Wording = "set it: timedatectl set-ntp true"
    guard abs(ahead) > Self.grantedSkew else { return StoreFinding(.warn, .clock, text, remedy: remedy, facts: facts) }
    return StoreFinding(
      .fail, .clock,
      "this machine's is \(text); S3 allows 15 min; uploads are corrected for it, presigned URLs are not",
      remedy: remedy, code: .clockSkew, facts: facts)
  }

  /// The refusal of a signature for its time even after correcting it.
  private var clockRefusal: Failure? {
    if case .failure(let failure)? = probe?.began, failure.code == .clockSkew { return failure }
    return nil
  }

  /// A duration in milliseconds, such as `0.2 ms` or `31 ms`.
  static func milliseconds(_ duration: Duration) -> String {
    let tenths = (duration.seconds * 10_000).rounded()
    return tenths < 100 ? "\(tenths / 10) ms" : "\(Int(tenths / 10)) ms"
  }

  private static func number(_ duration: Duration) -> StoreFinding.Fact {
    .double((duration.seconds * 100_000).rounded() / 100)
  }
}

extension Origin {
  /// The host without its port and without the brackets of an IPv6 address.
  var bareHost: String {
    String(host.rest(after: "[")?.upTo("]") ?? host.upTo(":"))
  }
}
