/// A name with its value: a header, metadata, a tag.
public struct NamedValue: Sendable, Equatable {
  /// Written as it is sent.
  public var name: String
  /// Not encoded.
  public var value: String

  /// A pair.
  public init(_ name: String, _ value: String) {
    self.name = name
    self.value = value
  }
}
