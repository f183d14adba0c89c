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
