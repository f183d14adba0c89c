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
