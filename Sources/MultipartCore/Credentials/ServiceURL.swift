/// The address of a service as a variable gives it, with the query that it may have. No message repeats it: what
/// stands in the query may be a secret.
struct ServiceURL: Sendable, Equatable {
  var origin: Origin
  /// Encoded once, begins with `/`.
  var path: String
  var query: [QueryItem]

  /// `blame` is the code of a failure, `name` the variable it comes from.
  static func parse(_ text: String, name: String, blame: Failure.Code = .configuration) throws(Failure) -> ServiceURL {
    let bytes = Array(ASCII.trimmed(text).utf8)
    let mark = bytes.firstIndex(of: UInt8(ascii: "?")) ?? bytes.count
    let endpoint: EndpointURL
    do throws(Failure) {
      endpoint = try EndpointURL.parse(String(decoding: bytes[..<mark], as: UTF8.self), blame: blame)
    } catch {
      var failure = error
      failure.message = "\(name): \(error.message)"
      failure.remedy = "\(name) must be a whole address: http://HOST/PATH"
      throw failure
    }
    guard let items = items(bytes.dropFirst(mark + 1)) else {
      throw Failure(blame, "\(name): the query of the address cannot be read", remedy: "write its values in UTF-8")
    }
    let host = endpoint.port.map { "\(endpoint.host):\($0)" } ?? endpoint.host
    // Taken from the text itself, as the endpoint drops slashes at the end, which a path may mean.
    let rest = bytes[..<mark].split(
      separator: UInt8(ascii: "/"), maxSplits: 3, omittingEmptySubsequences: false)
    let path = rest.count > 3 ? String(decoding: rest[3], as: UTF8.self) : ""
    return ServiceURL(origin: Origin(scheme: endpoint.scheme, host: host), path: "/" + path, query: items)
  }

  /// Pairs, decoded; nil where an escape is none or gives no UTF-8.
  private static func items(_ query: ArraySlice<UInt8>) -> [QueryItem]? {
    var items: [QueryItem] = []
    for pair in query.split(separator: UInt8(ascii: "&")) {
      let sides = pair.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
      guard let name = decoded(sides[0]) else { return nil }
      guard sides.count == 2 else {
        items.append(QueryItem(name))
        continue
      }
      guard let value = decoded(sides[1]) else { return nil }
      items.append(QueryItem(name, value))
    }
    return items
  }

  private static func decoded(_ text: ArraySlice<UInt8>) -> String? {
    guard PercentEncoding.isWhole(text), text.allSatisfy({ ASCII.isVisible($0) && $0 != UInt8(ascii: "#") })
    else { return nil }
    return String(validating: PercentEncoding.bytes(of: Array(text)), as: UTF8.self)
  }
}
