/// One check and its result.
package struct Finding: Sendable {
  package enum Mark: String, Sendable {
    case ok
    /// Uploads work, but something should be fixed.
    case warn
    case fail
  }

  /// The checks, in the order of the findings.
  package enum Check: String, Sendable, CaseIterable {
    case version, credentials, identity, settings, region, endpoint, proxy, address, connection, tls, clock, bucket
    case upload, list, abort, lifecycle, state
  }

  package var check: Check
  package var mark: Mark
  package var text: Wording
  /// How to fix it, in one line.
  package var remedy: Wording?
  /// The code of a failure.
  package var code: Failure.Code?
  /// Values for programs, by name.
  package var facts: [String: JSON] = [:]

  init(
    _ mark: Mark, _ check: Check, _ text: Wording, remedy: Wording? = nil, code: Failure.Code? = nil,
    facts: [String: JSON] = [:]
  ) {
    self.check = check
    self.mark = mark
    self.text = text
    self.remedy = remedy
    self.code = code
    self.facts = facts
  }

  /// A finding whose text names neither settings nor actions.
  @_disfavoredOverload
  init(
    _ mark: Mark, _ check: Check, _ text: String, remedy: Wording? = nil, code: Failure.Code? = nil,
    facts: [String: JSON] = [:]
  ) {
    self.init(mark, check, Wording(text), remedy: remedy, code: code, facts: facts)
  }

  /// A failed check with a failure's message, followed by the store's code and request id.
  static func fail(
    _ check: Check, _ failure: Failure, _ front: Wording = "", code: Failure.Code? = nil, remedy: Wording? = nil
  ) -> Finding {
    Finding(
      .fail, check, front + Self.told(failure), remedy: remedy ?? failure.remedy ?? Self.wayOut(code ?? failure.code),
      code: code ?? failure.code, facts: Self.facts(failure))
  }

  static func told(_ failure: Failure) -> Wording {
    var details: [String] = []
    if let status = failure.status { details.append("HTTP \(status)") }
    if let code = failure.s3Code, !failure.message.description.contains(code) { details.append(code) }
    if let id = failure.requestID { details.append("request id \(id)") }
    return details.isEmpty ? failure.message : "\(failure.message) (\(details.joined(separator: ", ")))"
  }

  static func facts(_ failure: Failure) -> [String: JSON] {
    var facts: [String: JSON] = [:]
    if let status = failure.status { facts["status"] = .int(Int64(status)) }
    if let code = failure.s3Code { facts["s3_code"] = .string(code) }
    if let id = failure.requestID { facts["request_id"] = .string(id) }
    return facts
  }

  private static func wayOut(_ code: Failure.Code) -> Wording {
    switch code {
    case .credentials, .credentialsExpired: "check the credentials and what they allow"
    case .clockSkew: "set this machine's clock: timedatectl set-ntp true"
    case .network, .stalled: "check the endpoint, the network and any proxy or firewall on the way"
    case .tls: "give the authority of the store's certificate with \(.caBundle) FILE"
    case .throttled, .server: "try again later; the problem is at the store"
    default: "check the bucket's name, the region and the endpoint"
    }
  }
}

extension Finding {
  /// The finding with every text masked: each may contain what a server or its certificate said.
  package func masked(by secrets: SecretsInUse) -> Finding {
    var finding = self
    finding.text = secrets.masked(text)
    finding.remedy = remedy.map { secrets.masked($0) }
    finding.facts = facts.mapValues { Self.masked($0, by: secrets) }
    return finding
  }

  private static func masked(_ fact: JSON, by secrets: SecretsInUse) -> JSON {
    switch fact {
    case .string(let text): .string(secrets.masked(text))
    case .array(let facts): .array(facts.map { masked($0, by: secrets) })
    case .object(let facts): .object(facts.map { ($0.0, masked($0.1, by: secrets)) })
    case .null, .bool, .number: fact
    }
  }
}
