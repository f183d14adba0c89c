/// Checks whether the object has the requested settings, with one HEAD, and with a small request for each setting that
/// the HEAD does not show.
struct SettingsCheck: Sendable {
  let client: S3Client
  let address: ObjectAddress
  let asked: RequestedSettings
  /// Settings that a HEAD shows only in part are read in full.
  let asksAll: Bool
  /// The answer to a write of this run has confirmed the encryption.
  let encryptionIsConfirmed: Bool

  /// Runs the check; `made` is what the store said about the new object. Throws transient failures.
  func run(made: ReportedObject) async throws(Failure) -> UploadMachine.Inspection {
    var findings = asked.settings.map { RequestedSettings.Finding(setting: $0, state: .unseen) }
    var reasons: [String] = []
    var version: String?
    // A version shows whether the newest object is the one to ask about.
    if needsHead || made.versionID != nil {
      do throws(Failure) {
        guard let (object, isNewest) = try await head(made) else {
          return .kept(
            unconfirmed: findings.filter { !isConfirmed($0.setting) }.map(\.setting.title),
            why: "another object is now at the key")
        }
        findings = asked.findings(inHead: object.headers)
        if !isNewest { version = made.versionID }
      } catch {
        try passOn(error)
        reasons.append(error.reason(of: HeadObject.name))
      }
    }
    for index in findings.indices {
      guard let part = part(for: findings[index]) else { continue }
      do throws(Failure) {
        findings[index].state = try await ask(part, ofVersion: version)
      } catch {
        try passOn(error)
        reasons.append(error.reason(of: part.operation(ofVersion: version != nil)))
      }
    }
    findings.removeAll { isConfirmed($0.setting) && !$0.isDropped }
    let dropped = findings.filter(\.isDropped)
    guard dropped.isEmpty else { return .lost(failure(dropped)) }
    let unseen = findings.filter { $0.state == .unseen }.map(\.setting.title)
    return .kept(unconfirmed: unseen, why: reasons.isEmpty ? nil : reasons.joined(separator: "; "))
  }

  private var needsHead: Bool {
    asked.settings.contains { !isConfirmed($0) && $0 != .keyContext && $0 != .access } || asksAll
  }

  /// Whether the answer to a write of this run has confirmed it.
  private func isConfirmed(_ setting: RequestedSettings.Setting) -> Bool {
    encryptionIsConfirmed && setting.isEncryption && setting != .keyContext
  }

  /// The object that this run has written; nil if another client has written to the key since, and only that object is
  /// shown: it says nothing about this one.
  private func head(_ made: ReportedObject) async throws(Failure) -> (ObjectInfo, isNewest: Bool)? {
    switch try await ObjectAfterWrite.look(made, address, client) {
    case .absent: throw Self.notShown
    case .replaced: return nil
    case .object(let object, let isNewest):
      if let own = made.size, let found = object.size, own != found { return nil }
      return (object, isNewest)
    }
  }

  private func part(for finding: RequestedSettings.Finding) -> GetObjectSettings.Part? {
    switch finding.setting {
    case .access: .acl
    case .tags where finding.state == .unseen || (asksAll && finding.state == .kept): .tagging
    case .lock where finding.state == .unseen: .retention
    case .legalHold where finding.state == .unseen: .legalHold
    default: nil
    }
  }

  private func ask(
    _ part: GetObjectSettings.Part, ofVersion version: String?
  ) async throws(Failure) -> RequestedSettings.State {
    switch try await client.perform(GetObjectSettings(address, part: part, versionID: version)) {
    case .acl(let grants): return asked.access(grants)
    case .tags(let tags): return asked.tags(tags)
    case .retention(let mode?, let until?): return asked.lock(mode: mode, until: until)
    case .legalHold(let status?): return asked.legalHold(status)
    // Without grants nothing is granted. Access by other means is not visible.
    case .object where part == .acl:
      let access = asked.access([])
      return access == .kept ? .unseen : access
    case .retention, .legalHold, .none, .object: return .dropped(found: nil)
    }
  }

  /// Rethrows failures that say nothing about the object; any other leaves the setting unconfirmed.
  private func passOn(_ failure: Failure) throws(Failure) {
    switch failure.code {
    case .network, .stalled, .throttled, .interrupted, .local, .tls: throw failure
    case .server where failure.status.map { $0 >= 500 || $0 == 404 } ?? true: throw failure
    // The object is not shown yet, or was deleted by another client.
    case .refused where failure.s3Code == "NoSuchKey": throw Self.notShown
    default: return
    }
  }

  private static var notShown: Failure {
    Failure(.server, "the store does not show the object yet", status: 404)
  }

  private func failure(_ dropped: [RequestedSettings.Finding]) -> Failure {
    let what = dropped.map(\.sentence).joined(separator: ", ")
    var options: [Wording] = []
    for finding in dropped where !options.contains(finding.setting.option) { options.append(finding.setting.option) }
    let names = options.joined(separator: ", ")
    let why: Wording =
      asksAll ? "the upload was begun without \(names), or this store ignores it" : "this store ignores \(names)"
    return Failure(
      .refused, "the store did not keep what was requested: the object exists with \(what)",
      remedy: "delete the object if it must not stay like this; " + why)
  }
}

extension RequestedSettings.Setting {
  var isEncryption: Bool {
    switch self {
    case .encryption, .keyID, .keyContext, .bucketKey, .customerKey: true
    default: false
    }
  }
}

extension UploadMachine {
  /// Whether the object has the requested settings.
  enum Inspection: Sendable {
    /// The object has them, as far as the store shows; what could not be confirmed, and the reason if it can be
    /// resolved.
    case kept(unconfirmed: [String], why: String?)
    /// The object exists without them.
    case lost(Failure)

    /// What a user with the permission to read can do about it.
    var warning: Wording? {
      guard case .kept(let unconfirmed, let why?) = self, !unconfirmed.isEmpty else { return nil }
      return "could not be confirmed: \(unconfirmed.joined(separator: ", ")) (\(why))"
    }
  }
}
