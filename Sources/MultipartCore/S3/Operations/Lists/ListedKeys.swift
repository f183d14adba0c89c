import MultipartBasics

/// Determines whether the keys of a page are percent-encoded, as was requested. Its `EncodingType` alone does not show
/// it: some stores repeat it and encode nothing, some encode without saying so, some encode the keys but not the
/// marker. The evidence, in this order:
/// 1. the prefix that was requested, which all keys have in one reading only;
/// 2. slashes: the store says that it encodes, and no key has a slash but some have `%2F`;
/// 3. a character in any key that every encoder would escape: then no key is encoded. `|` is not such a character.
///
/// Otherwise `EncodingType` decides, and a key has another reading, which may be the right one.
struct ListedKeys {
  private let written: [String]
  private let areEncoded: Bool
  private let isShown: Bool
  private let isClaimed: Bool

  init(_ written: [String], encodingType: String?, prefix: String? = nil) {
    self.written = written
    isClaimed = encodingType.map { ASCII.trimmed($0).lowercased() } == "url"
    let shown = Self.evidence(written, isClaimed: isClaimed, prefix: prefix ?? "")
    isShown = shown != nil
    areEncoded = shown ?? isClaimed
  }

  /// Whether they are encoded; nil if nothing shows it.
  private static func evidence(_ written: [String], isClaimed: Bool, prefix: String) -> Bool? {
    let encoded = written.allSatisfy { PercentEncoding.decoded($0).begins(with: prefix) }
    let plain = written.allSatisfy { $0.begins(with: prefix) }
    if encoded != plain { return encoded }
    let slash = UInt8(ascii: "/")
    if isClaimed, !written.contains(where: { $0.utf8.contains(slash) }),
      written.contains(where: { PercentEncoding.decoded($0).utf8.contains(slash) })
    {
      return true
    }
    return written.allSatisfy(couldBeEncoded) ? nil : false
  }

  func decoded(_ key: String) -> String {
    areEncoded ? PercentEncoding.decoded(key) : key
  }

  /// The key in the other reading, if nothing shows which one is right: worth a try if the store has nothing under the
  /// first.
  func other(_ key: String) -> String? {
    let decoded = PercentEncoding.decoded(key)
    guard !isShown, !decoded.utf8.elementsEqual(key.utf8) else { return nil }
    return areEncoded ? key : decoded
  }

  /// Whether neither the store nor a key shows how keys are written, although it makes a difference.
  var areDoubtful: Bool { !isClaimed && written.contains { other($0) != nil } }

  /// The decoded marker. It is mostly a key of its page, in the form used there or in the decoded form.
  func decoded(marker: String) -> String {
    guard areEncoded else { return marker }
    if written.contains(where: { $0.utf8.elementsEqual(marker.utf8) }) { return PercentEncoding.decoded(marker) }
    if written.contains(where: { PercentEncoding.decoded($0).utf8.elementsEqual(marker.utf8) }) { return marker }
    return Self.couldBeEncoded(marker) ? PercentEncoding.decoded(marker) : marker
  }

  private static func couldBeEncoded(_ text: String) -> Bool {
    PercentEncoding.isWhole(text.utf8)
      && text.utf8.allSatisfy { ASCII.isVisible($0) && !"\"<>\\^`{}#?".utf8.contains($0) }
  }
}

/// One page of a list of keys: its entries, and how their keys are written.
struct ListedPage {
  let root: XMLElement
  let entries: [XMLElement]
  /// The store has sent more entries or folders than are read.
  let isCut: Bool
  /// The common prefixes of keys, up to a delimiter, decoded.
  let folders: [String]
  let keys: ListedKeys

  /// A thousand of the longest keys, fully encoded, take about 4 MiB.
  static let mostBytes = 8 << 20

  /// Reads the page; nil if it is not a list: its root is not called `name`, and it has neither an entry nor the
  /// `limit` of a page. A list with an error, or with an entry or a folder without a name, would hide objects.
  init?(_ tree: XMLTree, _ name: String, of names: String..., limit: String, prefix: String?) {
    guard let root = tree.root,
      root.isNamed(name) || names.contains(where: { root.first($0) != nil }) || root.first(limit) != nil
    else { return nil }
    self.root = root
    var entries: [XMLElement] = []
    var folders: [String] = []
    var isCut = false
    for child in root.children {
      let isEntry = names.contains { child.isNamed($0) }
      // An empty element is how some programs write that there is none.
      guard isEntry || child.isNamed("CommonPrefixes") && !child.isEmpty else { continue }
      isCut = entries.count + folders.count == 10 * S3Limits.pageLength
      if isCut { break }
      if isEntry {
        entries.append(child)
      } else if let text = child.string("Prefix") {
        folders.append(text)
      } else {
        return nil
      }
    }
    let written = entries.compactMap { $0.string("Key") }
    guard written.count == entries.count, root.first("Error") == nil else { return nil }
    let keys = ListedKeys(
      written + folders, encodingType: root.string("EncodingType"), prefix: prefix)
    self.entries = entries
    self.isCut = isCut
    self.folders = folders.map { keys.decoded($0) }
    self.keys = keys
  }

  /// The entries that have a key.
  var objects: [ListedObject] {
    entries.compactMap { element in element.string("Key").map { ListedObject(element, key: keys.decoded($0)) } }
  }
}

extension ListedObject {
  fileprivate init(_ element: XMLElement, key: String) {
    self.init(
      key: key, size: element.integer("Size", in: 0...S3Limits.largestObject),
      etag: ETag.text(element.string("ETag")),
      lastModified: element.string("LastModified").flatMap(DateText.iso8601),
      storageClass: element.string("StorageClass").map(ASCII.trimmed))
    guard let id = element.string("VersionId") else { return }
    version = Version(
      id: id, isLatest: element.boolean("IsLatest") ?? false, isDeleteMarker: element.isNamed("DeleteMarker"))
  }
}
