import MultipartBasics

/// One attribute of an object, under its name in lists: `cache-control`, `tag.team`, `meta.source`.
struct ObjectAttribute: Sendable, Equatable {
  enum Name: Sendable, Hashable {
    case header(Header)
    /// A tag, by its bytes: a `String` equals every other encoding of its characters, and those are different tags.
    case tag([UInt8])
    /// Metadata, by its name in lower case, as stores keep it.
    case metadata(String)

    static let list = Header.allCases.map(\.rawValue).joined(separator: ", ") + ", tag.K, meta.K"

    init?(_ word: String) {
      if let tag = word.rest(after: "tag."), !tag.isEmpty {
        self = .tag(Array(tag.utf8))
      } else if let name = word.rest(after: "meta."), HeaderText.isName(String(name)) {
        self = .metadata(name.lowercased())
      } else if let header = Header(rawValue: word) {
        self = .header(header)
      } else {
        return nil
      }
    }
  }

  enum Header: String, Sendable, CaseIterable {
    case contentType = "content-type"
    case cacheControl = "cache-control"
    case contentDisposition = "content-disposition"
    case contentEncoding = "content-encoding"
    case contentLanguage = "content-language"
    case expires
    case websiteRedirect = "website-redirect"
    case storageClass = "storage-class"

    var property: WritableKeyPath<ObjectHeaders, String?> {
      switch self {
      case .contentType: \.contentType
      case .cacheControl: \.cacheControl
      case .contentDisposition: \.contentDisposition
      case .contentEncoding: \.contentEncoding
      case .contentLanguage: \.contentLanguage
      case .expires: \.expires
      case .websiteRedirect: \.websiteRedirect
      case .storageClass: \.storageClass
      }
    }

    /// The header's name in requests, in lower case.
    var field: String {
      switch self {
      case .websiteRedirect: HeaderName.redirect
      case .storageClass: HeaderName.storageClass
      default: rawValue
      }
    }
  }

  var name: Name
  var value: String

  /// An attribute; nil if a header cannot have the value.
  init?(_ name: Name, _ value: String) {
    guard !value.isEmpty, HeaderText.isValue(value) else { return nil }
    self.name = name
    // A date may be written as in options.
    self.value = name == .header(.expires) ? Timestamp(date: value)?.httpDate ?? value : value
  }
}

extension ObjectHeaders {
  /// Sets the attributes, each replacing one of the same name, also one among the further headers.
  mutating func set(_ attributes: [ObjectAttribute]) {
    for attribute in attributes {
      switch attribute.name {
      case .header(let header): set(header, attribute.value)
      case .tag(let name):
        takeTags()
        tags.set(String(decoding: name, as: UTF8.self), attribute.value) { $0.utf8.elementsEqual(name) }
      case .metadata(let name):
        drop { $0 == HeaderName.metadata + name }
        metadata.set(name, attribute.value) { $0.lowercased() == name }
      }
    }
  }

  /// Sets a header, in place of an earlier value.
  mutating func set(_ header: ObjectAttribute.Header, _ value: String) {
    drop { $0 == header.field }
    self[keyPath: header.property] = value
  }

  /// Sets the metadata, in place of all that there was.
  mutating func replaceMetadata(_ metadata: [NamedValue]) {
    drop { $0.begins(with: HeaderName.metadata) }
    self.metadata = metadata
  }

  /// Removes further headers by their names in lower case: they would replace what a property says.
  private mutating func drop(_ isMeant: (String) -> Bool) { extra.removeAll { isMeant($0.name.lowercased()) } }

  /// Makes tags of a further header that lists them, so that one of them can be set.
  private mutating func takeTags() {
    guard let header = extra.last(where: { $0.name.lowercased() == HeaderName.tagging }) else { return }
    tags = Self.tags(header.value)
    drop { $0 == HeaderName.tagging }
  }

  /// Adds the file's modification time, in rclone's format. A value that the caller gives under that name stays.
  mutating func note(_ time: FileTime) {
    guard !metadata.contains(where: { $0.name.lowercased() == FileTime.rcloneName }) else { return }
    metadata.append(NamedValue(FileTime.rcloneName, time.text))
  }
}

extension [NamedValue] {
  fileprivate mutating func set(_ name: String, _ value: String, where isSame: (String) -> Bool) {
    removeAll { isSame($0.name) }
    append(NamedValue(name, value))
  }
}
