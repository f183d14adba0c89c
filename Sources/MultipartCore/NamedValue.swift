/// A name with its value, such as a header, an entry of metadata, or a tag.
public struct NamedValue: Sendable, Equatable {
  /// The name as it is sent.
  public var name: String
  /// The value, not encoded.
  public var value: String

  /// A pair.
  public init(_ name: String, _ value: String) {
    self.name = name
    self.value = value
  }
}
