/// One pair of a query, not encoded yet. Unlike a ``NamedValue`` it can have no value: that is `?uploads`, and an empty
/// value is `?uploads=`; both are signed the same way.
package struct QueryItem: Sendable, Equatable {
  package var name: String
  package var value: String?

  package init(_ name: String, _ value: String? = nil) {
    self.name = name
    self.value = value
  }
}
