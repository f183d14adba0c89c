/// A query as it is signed and sent: each name and value encoded, sorted as AWS's canonical request wants it: by the
/// bytes of the encoded name, then of the value. Made once per request.
struct CanonicalQuery {
  private let items: [QueryItem]

  init(_ items: [QueryItem]) {
    let encoded = items.map { QueryItem(PercentEncoding.query($0.name), $0.value.map(PercentEncoding.query)) }
    self.items = encoded.sorted { a, b in
      if !a.name.utf8.elementsEqual(b.name.utf8) { return a.name.utf8.lexicographicallyPrecedes(b.name.utf8) }
      return (a.value ?? "").utf8.lexicographicallyPrecedes((b.value ?? "").utf8)
    }
  }

  /// `max-keys=2&uploads=`: in the signature a name without a value has a `=` as well.
  var signed: String { text { $0.value ?? "" } }

  /// `max-keys=2&uploads`: the query of the URL.
  var sent: String { text(\.value) }

  private func text(_ value: (QueryItem) -> String?) -> String {
    var text = TextBuffer(reserving: items.reduce(0) { $0 + $1.name.utf8.count + ($1.value ?? "").utf8.count + 2 })
    for (index, item) in items.enumerated() {
      if index > 0 { text.add(byte: "&") }
      text.add(item.name)
      guard let value = value(item) else { continue }
      text.add(byte: "=")
      text.add(value)
    }
    return text.text
  }
}
