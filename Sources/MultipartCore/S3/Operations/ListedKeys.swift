/// Whether the keys of a page are percent-encoded, which its `EncodingType` alone does not tell: some stores repeat it
/// and encode nothing, some encode the keys and not the marker. A character that no encoder leaves as it is, in any
/// key of the page, shows that none is encoded.
struct ListedKeys {
  private let written: [String]
  private let areEncoded: Bool

  init(_ written: [String], encodingType: String?) {
    self.written = written
    areEncoded =
      encodingType.map { S3Text.trimmed($0).lowercased() } == "url" && written.allSatisfy(Self.couldBeEncoded)
  }

  func decoded(_ key: String) -> String {
    areEncoded ? S3Text.percentDecoded(key) : key
  }

  /// A marker is mostly a key of its page, and then in the form in which it stands there or in that key's own.
  func decoded(marker: String) -> String {
    guard areEncoded else { return marker }
    if written.contains(where: { $0.utf8.elementsEqual(marker.utf8) }) { return S3Text.percentDecoded(marker) }
    if written.contains(where: { S3Text.percentDecoded($0).utf8.elementsEqual(marker.utf8) }) { return marker }
    return Self.couldBeEncoded(marker) ? S3Text.percentDecoded(marker) : marker
  }

  private static func couldBeEncoded(_ text: String) -> Bool {
    let bytes = Array(text.utf8)
    return bytes.indices.allSatisfy { i in
      switch bytes[i] {
      case 0...0x20, 0x7F...0xFF: false
      case UInt8(ascii: "%"):
        i + 2 < bytes.count && S3Text.nibble(bytes[i + 1]) != nil && S3Text.nibble(bytes[i + 2]) != nil
      case let byte: !"\"<>\\^`{|}#?".utf8.contains(byte)
      }
    }
  }
}
