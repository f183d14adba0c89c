/// Whether the keys of a page are percent-encoded. Its `EncodingType` alone does not tell: some stores repeat it and
/// encode nothing, some encode the keys but not the marker. A character in any key that every encoder would escape shows
/// that none is encoded.
struct ListedKeys {
  private let written: [String]
  private let areEncoded: Bool

  init(_ written: [String], encodingType: String?) {
    self.written = written
    areEncoded =
      encodingType.map { ASCII.trimmed($0).lowercased() } == "url" && written.allSatisfy(Self.couldBeEncoded)
  }

  func decoded(_ key: String) -> String {
    areEncoded ? PercentEncoding.decoded(key) : key
  }

  /// A marker is mostly a key of its page, in the form used there or in the decoded form.
  func decoded(marker: String) -> String {
    guard areEncoded else { return marker }
    if written.contains(where: { $0.utf8.elementsEqual(marker.utf8) }) { return PercentEncoding.decoded(marker) }
    if written.contains(where: { PercentEncoding.decoded($0).utf8.elementsEqual(marker.utf8) }) { return marker }
    return Self.couldBeEncoded(marker) ? PercentEncoding.decoded(marker) : marker
  }

  private static func couldBeEncoded(_ text: String) -> Bool {
    PercentEncoding.isWhole(text.utf8)
      && text.utf8.allSatisfy { ASCII.isVisible($0) && !"\"<>\\^`{|}#?".utf8.contains($0) }
  }
}

/// One page of a list of keys: its entries, and how their keys are written.
struct ListedPage {
  let root: XMLElement
  let entries: [XMLElement]
  let keys: ListedKeys

  /// A thousand of the longest keys, fully encoded, take about 4 MiB.
  static let mostBytes = 8 << 20
  /// As many as a page of S3 has.
  static let usual = 1000

  /// Nil if it is no list: neither `name` is its root, nor does it have an `entry` or the `limit` of a page.
  init?(_ tree: XMLTree, _ name: String, of entry: String, limit: String) {
    guard let root = tree.root, root.isNamed(name) || root.first(entry) != nil || root.first(limit) != nil else {
      return nil
    }
    self.root = root
    entries = Array(root.children.lazy.filter { $0.isNamed(entry) }.prefix(10 * Self.usual))
    keys = ListedKeys(entries.compactMap { $0.string("Key") }, encodingType: root.string("EncodingType"))
  }
}
