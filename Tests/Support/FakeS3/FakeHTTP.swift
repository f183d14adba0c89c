import Foundation
@testable import MultipartCore

/// The head of a request as it was received.
struct HTTPHead: Sendable {
  var method: String
  var rawPath: String
  var rawQuery: String
  var headers: HeaderList
  var query: [(name: String, value: String)]
  var secure: Bool

  func query(_ name: String) -> String? { query.first { $0.name == name }?.value }

  var contentLength: Int? { headers["content-length"].flatMap { Int($0) } }
  var expectsContinue: Bool { headers["expect"]?.lowercased() == "100-continue" }
  /// The signature in the header or in the URL.
  var signature: String? {
    let header = headers["authorization"].flatMap { $0.components(separatedBy: "Signature=").dropFirst().first }
    return header ?? query("X-Amz-Signature")
  }
  var wantsClose: Bool { headers["connection"]?.lowercased() == "close" }

  /// Parses a head; nil for text that is not HTTP/1.1, or has an ambiguous header.
  static func parse(_ bytes: [UInt8], secure: Bool) -> HTTPHead? {
    guard let text = String(validating: bytes, as: UTF8.self) else { return nil }
    let lines = text.components(separatedBy: "\r\n")
    let first = lines[0].components(separatedBy: " ")
    guard first.count == 3, first[2] == "HTTP/1.1", first[1].hasPrefix("/") else { return nil }
    let target = first[1].split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    let rawQuery = target.count > 1 ? String(target[1]) : ""
    guard let query = FakeURL.pairs(rawQuery) else { return nil }
    var headers = HeaderList()
    for line in lines.dropFirst() where !line.isEmpty {
      guard let colon = line.firstIndex(of: ":"), colon != line.startIndex else { return nil }
      let name = line[..<colon]
      guard !name.contains(where: \.isWhitespace) else { return nil }
      headers.add(String(name), line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces))
    }
    for single in ["host", "content-length", "authorization"] {
      guard headers.fields.filter({ $0.name.lowercased() == single }).count < 2 else { return nil }
    }
    if let length = headers["content-length"] {
      guard let number = Int(length), number >= 0, number < 1 << 50 else { return nil }
    }
    return HTTPHead(
      method: first[0], rawPath: String(target[0]), rawQuery: rawQuery, headers: headers, query: query, secure: secure)
  }
}

/// An answer, before the connection's own headers are added.
struct HTTPAnswer: Sendable {
  var status: Int
  var headers: HeaderList = [:]
  var body = Data()
  /// Whether only the body's length is sent, as for HEAD.
  var headOnly = false
  /// Whether the connection ends after it.
  var close = false
  var errorCode: String?

  init(_ status: Int, headers: HeaderList = [:], body: Data = Data()) {
    self.status = status
    self.headers = headers
    self.body = body
  }

  init(_ status: Int, xml: XMLNode, headers: HeaderList = [:]) {
    self.init(status, headers: headers, body: Data(xml.document().utf8))
    self.headers.set("Content-Type", "application/xml")
  }

  /// Whether a body may follow: none after 1xx, 204 and 304, whatever the headers say (RFC 9110, 6.4.1).
  var mayHaveBody: Bool { status >= 200 && status != 204 && status != 304 }

  /// Inserts the request's signature, like a gateway that shows what it received.
  mutating func `repeat`(signature: String?) {
    let mark = "{signature}"
    guard let signature else { return }
    headers = HeaderList(
      fields: headers.fields.map { NamedValue($0.name, $0.value.replacing(mark, with: signature)) })
    if body.range(of: Data(mark.utf8)) != nil { bodyText = bodyText.replacing(mark, with: signature) }
  }

  var bodyText: String {
    get { String(decoding: body, as: UTF8.self) }
    set { body = Data(newValue.utf8) }
  }

  static let reasons: [Int: String] = [
    100: "Continue", 200: "OK", 204: "No Content", 206: "Partial Content", 301: "Moved Permanently",
    304: "Not Modified", 307: "Temporary Redirect", 400: "Bad Request", 403: "Forbidden", 404: "Not Found",
    405: "Method Not Allowed", 409: "Conflict", 411: "Length Required", 412: "Precondition Failed",
    416: "Requested Range Not Satisfiable", 429: "Too Many Requests", 500: "Internal Server Error",
    501: "Not Implemented", 502: "Bad Gateway", 503: "Service Unavailable", 504: "Gateway Timeout",
  ]

  /// The status line and headers, up to and including the empty line.
  func head(extra: HeaderList = [:]) -> [UInt8] {
    var text = "HTTP/1.1 \(status) \(Self.reasons[status] ?? "Unknown")\r\n"
    // A header of the answer itself is sent once.
    for field in headers.fields + extra.fields.filter({ headers[$0.name] == nil }) {
      text += "\(field.name): \(field.value)\r\n"
    }
    return Array((text + "\r\n").utf8)
  }
}
