import MultipartBasics

/// Defines what counts as equal: stores write names, dates and keys in different ways, and only a clear difference
/// counts as a setting that was not kept.
extension RequestedSettings {
  /// The state of a setting of the encryption; nil for other settings.
  func state(of setting: Setting, _ shown: EncryptionInfo) -> State? {
    switch setting {
    case .encryption:
      guard let algorithm = shown.algorithm else { return .dropped(found: nil) }
      return same(algorithm, asked[HeaderName.encryption]) ? .kept : .dropped(found: algorithm)
    case .customerKey: return shown.customerAlgorithm == nil ? .dropped(found: nil) : .kept
    case .keyID: return Self.state(ofKey: asked[HeaderName.keyID] ?? "", shown: shown.kmsKeyID)
    case .keyContext: return .unseen
    case .bucketKey:
      let wanted = same("true", asked[HeaderName.bucketKey])
      return wanted == shown.bucketKey ? .kept : .dropped(found: wanted ? nil : "on")
    default: return nil
    }
  }

  func state(of setting: Setting, inHead headers: HeaderList) -> State {
    switch setting {
    case .lock: lock(mode: headers[HeaderName.lockMode], until: headers[HeaderName.lockDate])
    case .legalHold: legalHold(headers[HeaderName.legalHold])
    case .tags:
      headers["x-amz-tagging-count"].flatMap { Int(ASCII.trimmed($0), in: 0 ... .max) }
        .map { $0 == tags.count ? .kept : .dropped(found: "\($0) of \(tags.count)") } ?? .unseen
    case .storageClass: storageClass(headers)
    case .redirect: text(asked[HeaderName.redirect], headers[HeaderName.redirect])
    case .metadata(let name): metadata(name, headers)
    case .header("expires"): expires(headers["expires"])
    case .header(let name): text(asked[name], headers[name], ignoringCase: name == "content-type")
    default: .unseen
    }
  }

  /// The state of the lock. A store shows it only to users who may read it, so a missing one says nothing.
  func lock(mode: String?, until: String?) -> State {
    guard let mode, let until else { return .unseen }
    let wanted = asked[HeaderName.lockDate].flatMap(DateText.iso8601)
    guard same(mode, asked[HeaderName.lockMode]) else { return .dropped(found: "\(mode) until \(until)") }
    guard let wanted, let found = DateText.iso8601(until) else { return .unseen }
    return found == wanted ? .kept : .dropped(found: "\(mode) until \(until)")
  }

  func legalHold(_ shown: String?) -> State {
    guard let shown else { return same("OFF", asked[HeaderName.legalHold]) ? .kept : .unseen }
    return same(shown, asked[HeaderName.legalHold]) ? .kept : .dropped(found: shown)
  }

  private var tags: [NamedValue] { ObjectHeaders.tags(asked[HeaderName.tagging] ?? "") }

  func tags(_ shown: [NamedValue]) -> State {
    let (wanted, found) = (tags, shown)
    let isSame =
      wanted.count == found.count
      && wanted.allSatisfy { tag in found.contains { Self.equal($0.name, tag.name) && Self.equal($0.value, tag.value) }
      }
    return isSame
      ? .kept : .dropped(found: found.isEmpty ? nil : found.map { "\($0.name)=\($0.value)" }.joined(separator: "&"))
  }

  /// The state of the storage class. S3 does not return STANDARD, the default.
  private func storageClass(_ headers: HeaderList) -> State {
    let shown = headers.storageClass ?? "STANDARD"
    return same(shown, asked[HeaderName.storageClass]) ? .kept : .dropped(found: shown)
  }

  /// The state of metadata. Values outside of ASCII are returned in forms that cannot all be decoded, an empty value is
  /// often omitted, and if there is too much metadata S3 only says that some does not fit into headers.
  private func metadata(_ name: String, _ headers: HeaderList) -> State {
    let wanted = asked[HeaderName.metadata + name] ?? ""
    guard let shown = headers[HeaderName.metadata + name] else {
      return wanted.isEmpty || headers["x-amz-missing-meta"] != nil ? .unseen : .dropped(found: nil)
    }
    let (plain, found) = (EncodedWord.decode(wanted), EncodedWord.decode(shown))
    if Self.equal(SigV4.folded(plain), SigV4.folded(found)) { return .kept }
    return plain.utf8.allSatisfy { $0 < 0x80 } ? .dropped(found: shown) : .unseen
  }

  private func expires(_ shown: String?) -> State {
    if let shown, let found = DateText.http(shown), let wanted = asked["expires"].flatMap(DateText.http) {
      return found == wanted ? .kept : .dropped(found: shown)
    }
    return text(asked["expires"], shown)
  }

  private func text(_ wanted: String?, _ shown: String?, ignoringCase: Bool = false) -> State {
    let (wanted, found) = (SigV4.folded(wanted ?? ""), SigV4.folded(shown ?? ""))
    if Self.equal(wanted, found) || (ignoringCase && Self.equal(loose(wanted), loose(found))) { return .kept }
    return .dropped(found: shown)
  }

  /// Normalises a content type: `Text/HTML; charset=utf-8` equals `text/html;charset=utf-8`.
  private func loose(_ type: String) -> String {
    String(decoding: type.lowercased().utf8.filter { $0 != 0x20 }, as: UTF8.self)
  }

  private func same(_ a: String, _ b: String?) -> Bool {
    b.map { Self.equal(a.lowercased(), $0.lowercased()) } ?? false
  }

  private static func equal(_ a: String, _ b: String) -> Bool { a.utf8.elementsEqual(b.utf8) }

  // MARK: - KMS keys

  /// Compares KMS keys. A key is requested by its ID, its ARN, an alias or another store's name for it, and the answer
  /// is usually its ARN. Only two different keys of the same form contradict each other.
  static func state(ofKey wanted: String, shown: String?) -> State {
    guard let shown, !shown.isEmpty else { return .unseen }
    if equal(wanted.lowercased(), shown.lowercased()) { return .kept }
    let (a, b) = (keyID(wanted), keyID(shown))
    if wanted.holds("alias/") || shown.holds("alias/") { return .unseen }
    if equal(a.id, b.id) { return a.isWhole && b.isWhole ? .dropped(found: shown) : .kept }
    return isUnique(a.id) == isUnique(b.id) ? .dropped(found: shown) : .unseen
  }

  /// The key's ID. `arn:aws:kms:eu-west-1:123456789012:key/ID` is complete; other stores write `arn:aws:kms:NAME`.
  private static func keyID(_ text: String) -> (id: String, isWhole: Bool) {
    let text = text.lowercased()
    guard text.begins(with: "arn:") else { return (text.rest(after: "key/").map(String.init) ?? text, false) }
    let last = text.words(between: ":").last.map(String.init) ?? text
    return last.rest(after: "key/").map { (String($0), true) } ?? (last, false)
  }

  /// Whether it is a UUID, or `mrk-` with 32 digits: the id of a key at AWS, and not a name that a person chose.
  private static func isUnique(_ id: String) -> Bool {
    let digits = (id.rest(after: "mrk-") ?? id[...]).utf8.filter { $0 != UInt8(ascii: "-") }
    return digits.count == 32 && digits.allSatisfy { Hex.value(of: $0) != nil }
  }
}
