import MultipartBasics

/// Which answers to writes have confirmed the requested encryption.
enum EncryptionWord: Sendable {
  case none
  /// The answer to create said nothing, so the answer to each part must confirm it.
  case parts
  case create
}

/// The requested settings of an object, as request headers, and whether a store's answers show that they were kept.
///
///     let asked = try RequestedSettings(object: object, encryption: encryption)
///     asked.findings(inHead: answer.headers).filter(\.isDropped)
struct RequestedSettings: Sendable, Equatable {
  enum Setting: Sendable, Hashable {
    case encryption, keyID, keyContext, bucketKey, customerKey
    case lock, legalHold, access, tags, storageClass, redirect
    case metadata(String)
    /// A header such as `content-language`.
    case header(String)

    var title: String {
      switch self {
      case .encryption: "encryption"
      case .keyID: "KMS key"
      case .keyContext: "KMS encryption context"
      case .bucketKey: "bucket key"
      case .customerKey: "encryption with the SSE-C key"
      case .lock: "object lock"
      case .legalHold: "legal hold"
      case .access: "ACL"
      case .tags: "tags"
      case .storageClass: "storage class"
      case .redirect: "website redirect"
      case .metadata(let name): "metadata \(SafeText.oneLine(name, limit: 80))"
      case .header(let name): name
      }
    }

    /// The option that requests the setting, to be left out if a store does not support it.
    var option: Wording {
      switch self {
      case .encryption: "\(.serverSideEncryption)"
      case .keyID: "\(.kmsKeyID)"
      case .keyContext: "\(.kmsContext)"
      case .bucketKey: "\(.bucketKey)"
      case .customerKey: "\(.customerKey)"
      case .lock: "\(.objectLockMode)"
      case .legalHold: "\(.legalHold)"
      case .access: "\(.accessControl) or \(.grants)"
      case .tags: "\(.tags)"
      case .storageClass: "\(.storageClass)"
      case .redirect: "\(.websiteRedirect)"
      case .metadata: "\(.metadata)"
      case .header("content-type"): "\(.contentType)"
      case .header("cache-control"): "\(.cacheControl)"
      case .header("content-disposition"): "\(.contentDisposition)"
      case .header("content-encoding"): "\(.contentEncoding)"
      case .header("content-language"): "\(.contentLanguage)"
      case .header("expires"): "\(.expires)"
      case .header(let name): "\(name)"
      }
    }
  }

  enum State: Sendable, Equatable {
    case kept
    /// The store has a different value, or none.
    case dropped(found: String?)
    /// The answer does not show it.
    case unseen
  }

  struct Finding: Sendable, Equatable {
    var setting: Setting
    var state: State

    var isDropped: Bool {
      if case .dropped = state { return true }
      return false
    }

    /// Whether the store shows a different value, rather than none.
    var contradicts: Bool {
      if case .dropped(_?) = state { return true }
      return false
    }

    /// The finding in words: `no object lock`, `another storage class (STANDARD)`.
    var sentence: String {
      guard case .dropped(let found) = state else { return setting.title }
      guard let found, !found.isEmpty else { return "no \(setting.title)" }
      return "another \(setting.title) (\(SafeText.oneLine(found, limit: 120)))"
    }
  }

  /// The settings as they are sent; names are compared without case.
  let asked: HeaderList

  init(_ asked: HeaderList) {
    self.asked = asked
  }

  /// `typeIsGuessed`: the content type was not requested.
  init(
    object: ObjectHeaders, typeIsGuessed: Bool = false, encryption: ServerSideEncryption? = nil,
    customerKey: CustomerKey? = nil
  ) throws(Failure) {
    var object = object
    let typedByHand = object.extra.contains { $0.name.lowercased().utf8.elementsEqual("content-type".utf8) }
    if typeIsGuessed, !typedByHand { object.contentType = nil }
    var headers = S3HeaderBuilder()
    try encryption?.add(to: &headers)
    if customerKey != nil { try headers.add(HeaderName.customerAlgorithm, "AES256") }
    try object.add(to: &headers)
    asked = headers.list
  }

  /// Every requested setting that can be checked; the caller's own extra headers cannot.
  var settings: [Setting] {
    var found: [Setting] = []
    for field in asked.fields {
      let name = field.name.lowercased()
      let setting: Setting? =
        switch name {
        case HeaderName.encryption: .encryption
        case HeaderName.keyID: .keyID
        case HeaderName.keyContext: .keyContext
        case HeaderName.bucketKey: .bucketKey
        case HeaderName.customerAlgorithm: .customerKey
        case HeaderName.lockMode, HeaderName.lockDate: .lock
        case HeaderName.legalHold: .legalHold
        case HeaderName.acl: .access
        case HeaderName.tagging: field.value.isEmpty ? nil : .tags
        case HeaderName.storageClass: .storageClass
        case HeaderName.redirect: .redirect
        case _ where name.begins(with: HeaderName.grant): .access
        case _ where name.begins(with: HeaderName.metadata):
          name.rest(after: HeaderName.metadata).map { .metadata(String($0)) }
        case _ where HeaderName.content.contains(name): .header(name)
        default: nil
        }
      if let setting, !found.contains(setting) { found.append(setting) }
    }
    return found
  }

  var isEmpty: Bool { settings.isEmpty }

  /// Whether a retention or a legal hold is requested.
  var locks: Bool { settings.contains { $0 == .lock || $0 == .legalHold } }

  /// Whether the answer names all of the requested encryption.
  func isConfirmed(by answer: EncryptionInfo) -> Bool {
    !findings(inWrite: answer).contains(where: \.isDropped)
  }

  /// The encryption, which the answer to create, a part or PutObject must confirm.
  func findings(inWrite answer: EncryptionInfo) -> [Finding] {
    settings.compactMap { setting in state(of: setting, answer).map { Finding(setting: setting, state: $0) } }
  }

  /// The findings of a HEAD about the requested settings.
  func findings(inHead headers: HeaderList) -> [Finding] {
    let encryption = EncryptionInfo(headers)
    return settings.map { setting in
      Finding(setting: setting, state: state(of: setting, encryption) ?? state(of: setting, inHead: headers))
    }
  }

  /// Settings in a HEAD that differ from the requested ones: the object was not created by this request.
  func differences(inHead headers: HeaderList) -> [Finding] {
    findings(inHead: headers).filter(\.isDropped)
  }
}
