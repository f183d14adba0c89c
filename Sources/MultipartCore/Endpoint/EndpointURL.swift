import Glibc
import MultipartBasics

/// An endpoint as users write it: `https://s3.example.com`, `http://127.0.0.1:9000`, `http://[::1]:9000/s3`.
///
/// No message repeats the URL, which may contain a password.
struct EndpointURL: Sendable, Equatable {
  var scheme: Origin.Scheme
  /// In lower case; an IPv6 address is in brackets.
  var host: String
  /// The port; nil for the scheme's default.
  var port: Int?
  /// The path, without a trailing slash; empty or beginning with one.
  var path: String

  /// Host and port, as in the `Host` header.
  var authority: String { port.map { "\(host):\($0)" } ?? host }

  /// Whether the host is an IPv4 or IPv6 address.
  var isAddress: Bool { host.begins(with: "[") || BucketName.looksLikeAddress(host) }

  /// Parses the URL. `blame` is `.usage` if the caller gave it, and `.configuration` if it came from a variable or a
  /// file.
  /// `source` is where it came from, in words; `name` is what messages call it, and `form` how to write it.
  static func parse(
    _ text: String, blame: Failure.Code, from source: String? = nil, called name: String = "the endpoint URL",
    form: Wording = "write it like https://s3.example.com:9000"
  ) throws(Failure) -> EndpointURL {
    func failure(_ what: String, remedy: Wording? = nil) -> Failure {
      Failure(blame, "\(name)\(source.map { " of " + $0 } ?? "") \(what)", remedy: remedy ?? form)
    }
    let bytes = Array(ASCII.trimmed(text.utf8))
    guard !bytes.isEmpty else { throw failure("is empty") }
    guard bytes.allSatisfy(ASCII.isVisible) else {
      throw failure(
        "contains a space, a control character or a letter outside of ASCII",
        remedy: "write an international host name in its xn-- form")
    }
    guard let (scheme, rest) = scheme(of: bytes) else {
      throw failure("does not begin with http:// or https://")
    }
    if rest.contains(UInt8(ascii: "?")) { throw failure("has a query") }
    if rest.contains(UInt8(ascii: "#")) { throw failure("has a fragment") }
    let authority = rest.prefix { $0 != UInt8(ascii: "/") }
    if authority.contains(UInt8(ascii: "@")) {
      throw failure(
        "contains a user name or password", remedy: "remove it; credentials come from the environment or a profile")
    }
    guard let (host, portText) = split(authority) else { throw failure("has no usable host name") }
    var port: Int?
    if let portText, !portText.isEmpty {
      guard let number = Int(portText, in: 1...65535) else {
        throw failure(
          portText.allSatisfy(ASCII.isDigit)
            ? "has the port \(String(decoding: portText, as: UTF8.self)), which is not between 1 and 65535"
            : "has a port that is not a number from 1 to 65535")
      }
      port = number == scheme.defaultPort ? nil : number
    }
    var path = rest.dropFirst(authority.count)
    while path.last == UInt8(ascii: "/") { path.removeLast() }
    guard isPath(path) else {
      throw failure("has a path with a character that must be percent-encoded")
    }
    return EndpointURL(scheme: scheme, host: host, port: port, path: String(decoding: path, as: UTF8.self))
  }

  private static func scheme(of bytes: [UInt8]) -> (Origin.Scheme, ArraySlice<UInt8>)? {
    let text = String(decoding: bytes, as: UTF8.self).lowercased()
    for scheme in [Origin.Scheme.http, .https] where text.begins(with: scheme.rawValue + "://") {
      return (scheme, bytes.dropFirst(scheme.rawValue.utf8.count + 3))
    }
    return nil
  }

  private static func split(_ authority: ArraySlice<UInt8>) -> (host: String, port: ArraySlice<UInt8>?)? {
    let colon = UInt8(ascii: ":")
    if authority.first == UInt8(ascii: "[") {
      guard let close = authority.firstIndex(of: UInt8(ascii: "]")) else { return nil }
      let address = String(decoding: authority[(authority.startIndex + 1)..<close], as: UTF8.self)
      let rest = authority[(close + 1)...]
      var parsed = in6_addr()
      guard inet_pton(AF_INET6, address, &parsed) == 1, rest.isEmpty || rest.first == colon else { return nil }
      return ("[\(address.lowercased())]", rest.isEmpty ? nil : rest.dropFirst())
    }
    let host = authority.prefix { $0 != colon }
    guard isHost(host) else { return nil }
    let rest = authority.dropFirst(host.count)
    return (String(decoding: host, as: UTF8.self).lowercased(), rest.isEmpty ? nil : rest.dropFirst())
  }

  /// Whether the host consists of labels of letters, digits, `-` and `_` (used in names within clusters), at most 253
  /// bytes.
  private static func isHost(_ host: ArraySlice<UInt8>) -> Bool {
    guard (1...253).contains(host.count) else { return false }
    return host.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false).allSatisfy { label in
      (1...63).contains(label.count) && label.allSatisfy { ASCII.isAlphanumeric($0) || $0 == 0x2D || $0 == 0x5F }
    }
  }

  /// Whether the path consists of pchar (RFC 3986) and `/`.
  private static func isPath(_ path: ArraySlice<UInt8>) -> Bool {
    path.allSatisfy { ASCII.isAlphanumeric($0) || "/-._~!$&'()*+,;=:@%".utf8.contains($0) }
      && PercentEncoding.isWhole(path)
  }
}
