/// A URL as it is signed and sent: the path encoded once, the query in the order of AWS's canonical request, which is by
/// the bytes of the encoded name, then by those of the value, so that a proxy has nothing to tidy.
struct CanonicalURL {
  /// `https://host`
  private let origin: String
  /// Begins with `/`.
  let path: String
  /// Encoded.
  private var items: [QueryItem] = []

  init(_ url: String) {
    origin = String(AddressBook.origin(of: url))
    let rest = Array(url.utf8.dropFirst(origin.utf8.count))
    let mark = rest.firstIndex(of: UInt8(ascii: "?")) ?? rest.endIndex
    path = String(decoding: rest[..<mark], as: UTF8.self)
    for item in rest[mark...].dropFirst().split(separator: UInt8(ascii: "&")) {
      let equals = item.firstIndex(of: UInt8(ascii: "="))
      let value = equals.map { String(decoding: item[($0 + 1)...], as: UTF8.self) }
      items.append(QueryItem(String(decoding: item[..<(equals ?? item.endIndex)], as: UTF8.self), value))
    }
    sort()
  }

  init(_ origin: Origin, path: String, query: [QueryItem]) {
    self.origin = origin.description
    self.path = path
    items = query.map(Self.encoded)
    sort()
  }

  private static func encoded(_ item: QueryItem) -> QueryItem {
    QueryItem(PercentEncoding.query(item.name), item.value.map(PercentEncoding.query))
  }

  private mutating func sort() {
    items.sort { a, b in
      if !a.name.utf8.elementsEqual(b.name.utf8) { return a.name.utf8.lexicographicallyPrecedes(b.name.utf8) }
      return (a.value ?? "").utf8.lexicographicallyPrecedes((b.value ?? "").utf8)
    }
  }

  /// Takes out what `isReplaced` says of its name, and puts these in.
  mutating func put(_ new: [QueryItem], inPlaceOf isReplaced: (String) -> Bool) {
    items = items.filter { !isReplaced($0.name) } + new.map(Self.encoded)
    sort()
  }

  var host: String {
    let slash = origin.utf8.lastIndex(of: UInt8(ascii: "/"))
    return String(origin[(slash.map { origin.utf8.index(after: $0) } ?? origin.startIndex)...])
  }

  /// `max-keys=2&uploads=`: a name without a value gets its `=` here.
  var signedQuery: String {
    var text = TextBuffer(reserving: room)
    add(to: &text) { $0 ?? "" }
    return text.text
  }

  /// `https://host/key?max-keys=2&uploads`
  var text: String {
    var text = TextBuffer(reserving: origin.utf8.count + path.utf8.count + 1 + room)
    text.add(origin, path)
    if !items.isEmpty { text.add(byte: "?") }
    add(to: &text) { $0 }
    return text.text
  }

  private var room: Int { items.reduce(0) { $0 + $1.name.utf8.count + ($1.value ?? "").utf8.count + 2 } }

  private func add(to text: inout TextBuffer, _ value: (String?) -> String?) {
    for (index, item) in items.enumerated() {
      if index > 0 { text.add(byte: "&") }
      text.add(item.name)
      guard let value = value(item.value) else { continue }
      text.add(byte: "=")
      text.add(value)
    }
  }
}

extension Request {
  /// Nothing is signed yet. `path` is encoded once (`PercentEncoding.path`) and begins with `/`.
  package init(
    method: HTTPMethod, origin: Origin, path: String, query: [QueryItem] = [], headers: HeaderList = [:],
    body: RequestBody = .none
  ) {
    self.init(
      method: method, url: CanonicalURL(origin, path: path, query: query).text, headers: headers, body: body)
  }
}
