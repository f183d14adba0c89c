/// One thing that ``Store/examine(_:bucket:below:)`` has checked, and the result.
public struct StoreFinding: Sendable {
  /// How serious a finding is.
  public enum Mark: String, Sendable {
    /// Nothing is wrong.
    case ok
    /// Uploads work, but something should be fixed.
    case warn
    /// Uploads do not work.
    case fail
  }

  /// The checks, in the order of the findings.
  public enum Check: String, Sendable, CaseIterable {
    case version, credentials, identity, settings, region, endpoint, proxy, address, connection, tls, clock, bucket
    case upload, list, abort, lifecycle, state
  }

  /// A value for programs.
  public enum Fact: Sendable, Equatable {
    case null
    case bool(Bool)
    case int(Int64)
    case double(Double)
    case string(String)
    case strings([String])

    static func optional(_ text: String?) -> Fact { text.map { .string($0) } ?? .null }
  }

  /// What was checked.
  public var check: Check
  /// How serious it is.
  public var mark: Mark
  /// What was found, in one line.
  public var text: Wording
  /// How to fix it, in one line.
  public var remedy: Wording?
  /// The code of a failure.
  public var code: Failure.Code?
  /// Values for programs, by name.
  public var facts: [String: Fact] = [:]

  init(
    _ mark: Mark, _ check: Check, _ text: Wording, remedy: Wording? = nil, code: Failure.Code? = nil,
    facts: [String: Fact] = [:]
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
    facts: [String: Fact] = [:]
  ) {
    self.init(mark, check, Wording(text), remedy: remedy, code: code, facts: facts)
  }

  /// A failed check with a failure's message, followed by the store's code and request id.
  static func fail(
    _ check: Check, _ failure: Failure, _ front: Wording = "", code: Failure.Code? = nil, remedy: Wording? = nil
  ) -> StoreFinding {
    StoreFinding(
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

  static func facts(_ failure: Failure) -> [String: Fact] {
    var facts: [String: Fact] = [:]
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
    case .throttled, .server: "try again later; the server that answered has a problem"
    default: "check the bucket's name, the region and the endpoint"
    }
  }
}

extension StoreFinding {
  /// The finding with every text masked: each may contain what a server or its certificate said.
  func masked(by secrets: SecretsInUse) -> StoreFinding {
    var finding = self
    finding.text = secrets.masked(text)
    finding.remedy = remedy.map { secrets.masked($0) }
    finding.facts = facts.mapValues { Self.masked($0, by: secrets) }
    return finding
  }

  private static func masked(_ fact: Fact, by secrets: SecretsInUse) -> Fact {
    switch fact {
    case .string(let text): .string(secrets.masked(text))
    case .strings(let texts): .strings(texts.map { secrets.masked($0) })
    case .null, .bool, .int, .double: fact
    }
  }
}
