/// A name with its value: a header, metadata, a tag.
public struct NamedValue: Sendable, Equatable {
  /// As it is written.
  public var name: String
  /// Not encoded.
  public var value: String

  /// A pair.
  public init(_ name: String, _ value: String) {
    self.name = name
    self.value = value
  }
}

/// One pair of a query, not yet encoded. Unlike a ``NamedValue`` it may go without a value: no value is `?uploads`, an
/// empty one `?uploads=`; both are signed alike.
package struct QueryItem: Sendable, Equatable {
  package var name: String
  package var value: String?

  package init(_ name: String, _ value: String? = nil) {
    self.name = name
    self.value = value
  }
}
