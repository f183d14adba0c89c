import MultipartBasics

/// A URL as it is signed and sent: the path encoded once, the query in the order of AWS's canonical request, which is
/// by the bytes of the encoded name, then by those of the value, so that a proxy has nothing to normalise.
struct CanonicalURL {
  /// The origin, `https://host`.
  private let origin: String
  /// The path; begins with `/`.
  let path: String
  /// The query's items, `name=value` or `name`, encoded.
  private var items: [URLQuery.Item]

  init(_ url: String) {
    origin = String(AddressBook.origin(of: url))
    let query = URLQuery(of: Array(url.utf8))
    path = String(decoding: query.place.dropFirst(origin.utf8.count), as: UTF8.self)
    items = query.items.filter { !$0.text.isEmpty }
    sort()
  }

  init(_ origin: Origin, path: String, query: [QueryItem]) {
    self.origin = origin.description
    self.path = path
    items = query.map(Self.encoded)
    sort()
  }

  private static func encoded(_ item: QueryItem) -> URLQuery.Item {
    let value = item.value.map { "=" + PercentEncoding.query($0) } ?? ""
    return URLQuery.Item(Array((PercentEncoding.query(item.name) + value).utf8)[...])
  }

  private mutating func sort() {
    items.sort { a, b in
      if !a.name.elementsEqual(b.name) { return a.name.lexicographicallyPrecedes(b.name) }
      return a.rest.lexicographicallyPrecedes(b.rest)
    }
  }

  /// Replaces the items whose names `isReplaced` selects with these.
  mutating func put(_ new: [QueryItem], inPlaceOf isReplaced: (String) -> Bool) {
    items.removeAll { isReplaced(String(decoding: $0.name, as: UTF8.self)) }
    items += new.map(Self.encoded)
    sort()
  }

  var host: String {
    let bytes = Array(origin.utf8)
    return String(decoding: bytes[((bytes.lastIndex(of: UInt8(ascii: "/")) ?? -1) + 1)...], as: UTF8.self)
  }

  /// The query as it is signed, such as `max-keys=2&uploads=`: a name without a value gets its `=` here.
  var signedQuery: String {
    var text = TextBuffer(reserving: room)
    add(to: &text, isSigned: true)
    return text.text
  }

  /// The URL, such as `https://host/key?max-keys=2&uploads`.
  var text: String {
    var text = TextBuffer(reserving: origin.utf8.count + path.utf8.count + 1 + room)
    text.add(origin, path)
    if !items.isEmpty { text.add(byte: "?") }
    add(to: &text, isSigned: false)
    return text.text
  }

  private var room: Int { items.reduce(0) { $0 + $1.text.count + 2 } }

  private func add(to text: inout TextBuffer, isSigned: Bool) {
    for (index, item) in items.enumerated() {
      if index > 0 { text.add(byte: "&") }
      text.add(item.text)
      if isSigned, item.value == nil { text.add(byte: "=") }
    }
  }
}

extension Request {
  /// An unsigned request. `path` is encoded once (`PercentEncoding.path`) and begins with `/`.
  init(
    method: HTTPMethod, origin: Origin, path: String, query: [QueryItem] = [], headers: HeaderList = [:],
    body: RequestBody = .none
  ) {
    self.init(
      method: method, url: CanonicalURL(origin, path: path, query: query).text, headers: headers, body: body)
  }
}
