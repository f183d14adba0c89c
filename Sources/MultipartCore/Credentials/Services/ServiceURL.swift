import MultipartBasics

/// The URL of a service from a variable, which may have a query. No message repeats the URL: its query may contain a
/// secret.
struct ServiceURL: Sendable, Equatable {
  var origin: Origin
  /// The path, encoded once; begins with `/`.
  var path: String
  var query: [QueryItem]

  /// Parses the URL. `blame` is the failure's code, `name` the variable that the URL comes from.
  static func parse(_ text: String, name: String, blame: Failure.Code = .configuration) throws(Failure) -> ServiceURL {
    let bytes = Array(ASCII.trimmed(text.utf8))
    let given = URLQuery(of: bytes)
    let endpoint: EndpointURL
    do throws(Failure) {
      endpoint = try EndpointURL.parse(String(decoding: given.place, as: UTF8.self), blame: blame)
    } catch {
      var failure = error
      failure.message = "\(name): \(error.message)"
      failure.remedy = "\(name) must be a complete URL: http://HOST/PATH"
      throw failure
    }
    guard let items = items(given) else {
      throw Failure(blame, "\(name): the query of the address cannot be read", remedy: "write its values in UTF-8")
    }
    let host = endpoint.port.map { "\(endpoint.host):\($0)" } ?? endpoint.host
    // Taken from the text itself: the endpoint parser drops trailing slashes, which a path may need.
    let rest = given.place.split(
      separator: UInt8(ascii: "/"), maxSplits: 3, omittingEmptySubsequences: false)
    let path = rest.count > 3 ? String(decoding: rest[3], as: UTF8.self) : ""
    return ServiceURL(origin: Origin(scheme: endpoint.scheme, host: host), path: "/" + path, query: items)
  }

  /// The decoded pairs; nil if an escape is invalid or the result is not UTF-8.
  private static func items(_ query: URLQuery) -> [QueryItem]? {
    var items: [QueryItem] = []
    for item in query.items where !item.text.isEmpty {
      guard let name = decoded(item.name) else { return nil }
      guard let text = item.value else {
        items.append(QueryItem(name))
        continue
      }
      guard let value = decoded(text) else { return nil }
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
