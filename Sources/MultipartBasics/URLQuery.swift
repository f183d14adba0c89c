/// A URL divided at its question mark, and the items of its query, by bytes: a combining mark after a `=` must not hide
/// the `=`. Nothing is decoded.
public struct URLQuery: Sendable {
  /// An item of a query: `name=value`, or only a name.
  public struct Item: Sendable {
    /// The item as it stands in the URL.
    public let text: ArraySlice<UInt8>
    private let end: Int

    /// An item from its text.
    public init(_ text: ArraySlice<UInt8>) {
      self.text = text
      end = text.firstIndex(of: UInt8(ascii: "=")) ?? text.endIndex
    }

    /// What is before the `=`.
    public var name: ArraySlice<UInt8> { text[..<end] }
    /// What is after the `=`; nil without one.
    public var value: ArraySlice<UInt8>? { end < text.endIndex ? text[(end + 1)...] : nil }
    /// From the `=` on.
    public var rest: ArraySlice<UInt8> { text[end...] }

    /// Whether the name has these bytes.
    public func isNamed(_ name: StaticString) -> Bool {
      name.withUTF8Buffer { self.name.elementsEqual($0) }
    }

    /// The value, decoded; nil if there is none, or if it is not UTF-8.
    public var decodedValue: String? {
      value.flatMap { String(validating: PercentEncoding.bytes(of: Array($0)), as: UTF8.self) }
    }
  }

  /// What is before the question mark.
  public let place: ArraySlice<UInt8>
  /// Whether there is a question mark.
  public let isThere: Bool
  /// The items of the query, also the empty ones.
  public let items: [Item]

  /// Divides a URL.
  public init(of url: [UInt8]) {
    let mark = url.firstIndex(of: UInt8(ascii: "?"))
    place = url[..<(mark ?? url.endIndex)]
    isThere = mark != nil
    items = mark.map { Self.items(url[($0 + 1)...]) } ?? []
  }

  /// The items of a query, also the empty ones.
  public static func items(_ query: ArraySlice<UInt8>) -> [Item] {
    query.split(separator: UInt8(ascii: "&"), omittingEmptySubsequences: false).map(Item.init)
  }
}
