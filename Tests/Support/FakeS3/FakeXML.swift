import Foundation
import MultipartBasics

/// An element to write, or one that was read.
struct XMLNode: Sendable {
  var name: String
  var text = ""
  var children: [XMLNode] = []

  init(_ name: String, _ text: String) {
    self.name = name
    self.text = text
  }

  init(_ name: String, _ children: [XMLNode] = []) {
    self.name = name
    self.children = children
  }

  subscript(name: String) -> String? { children.first { $0.name == name }?.text }

  /// The document as S3 sends it: a declaration, then the root in the S3 namespace.
  func document(namespace: Bool = true) -> String {
    let space = namespace ? " xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"" : ""
    return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n" + written(attributes: space)
  }

  private func written(attributes: String = "") -> String {
    "<\(name)\(attributes)>" + Self.escape(text) + children.map { $0.written() }.joined() + "</\(name)>"
  }

  static func escape(_ text: String) -> String {
    var out = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "&": out += "&amp;"
      case "<": out += "&lt;"
      case ">": out += "&gt;"
      case "\"": out += "&quot;"
      case "\r": out += "&#13;"
      default: out.unicodeScalars.append(scalar)
      }
    }
    return out
  }
}

/// Reads the small documents that clients send; nil for anything doubtful, which the store answers with MalformedXML.
struct XMLReader {
  private let bytes: [UInt8]
  private var at = 0

  static func read(_ bytes: [UInt8]) -> XMLNode? {
    guard bytes.count <= 2 << 20, String(validating: bytes, as: UTF8.self) != nil else { return nil }
    var reader = XMLReader(bytes: bytes)
    reader.skipSpace()
    if reader.take("<?xml") {
      guard reader.upTo("?>") != nil else { return nil }
      reader.skipSpace()
    }
    guard let root = reader.element(depth: 0) else { return nil }
    reader.skipSpace()
    return reader.at == bytes.count ? root : nil
  }

  private init(bytes: [UInt8]) {
    self.bytes = bytes
  }

  private mutating func element(depth: Int) -> XMLNode? {
    guard depth < 8, take("<"), let tag = upTo(">") else { return nil }
    let empty = tag.hasSuffix("/")
    let name = tag.prefix { $0 != " " && $0 != "\n" && $0 != "/" }
    guard let first = name.first, first.isLetter else { return nil }
    var node = XMLNode(String(name.split(separator: ":").last ?? name))
    if empty { return node }
    while true {
      guard let text = characters() else { return nil }
      node.text += text
      if take("</") {
        guard let end = upTo(">"), end.trimmingCharacters(in: .whitespaces) == name else { return nil }
        if !node.children.isEmpty {
          guard node.text.allSatisfy(\.isWhitespace) else { return nil }
          node.text = ""
        }
        return node
      }
      guard let child = element(depth: depth + 1) else { return nil }
      node.children.append(child)
    }
  }

  private mutating func characters() -> String? {
    var text: [UInt8] = []
    while at < bytes.count, bytes[at] != UInt8(ascii: "<") {
      if bytes[at] == UInt8(ascii: "&") {
        at += 1
        guard let entity = upTo(";"), let value = Self.entity(entity) else { return nil }
        text += Array(String(value).utf8)
      } else {
        text.append(bytes[at])
        at += 1
      }
    }
    return String(decoding: text, as: UTF8.self)
  }

  private static func entity(_ name: String) -> Unicode.Scalar? {
    switch name {
    case "amp": return "&"
    case "lt": return "<"
    case "gt": return ">"
    case "quot": return "\""
    case "apos": return "'"
    default:
      guard name.hasPrefix("#") else { return nil }
      let digits = name.dropFirst()
      let number = digits.hasPrefix("x") ? UInt32(digits.dropFirst(), radix: 16) : UInt32(digits)
      return number.flatMap { Unicode.Scalar($0) }
    }
  }

  private mutating func take(_ text: String) -> Bool {
    guard bytes[at...].starts(with: text.utf8) else { return false }
    at += text.utf8.count
    return true
  }

  private mutating func upTo(_ end: String) -> String? {
    let mark = Array(end.utf8)
    var here = at
    while here + mark.count <= bytes.count {
      if bytes[here..<here + mark.count].elementsEqual(mark) {
        defer { at = here + mark.count }
        return String(decoding: bytes[at..<here], as: UTF8.self)
      }
      here += 1
    }
    return nil
  }

  private mutating func skipSpace() {
    while at < bytes.count, [0x20, 0x09, 0x0A, 0x0D].contains(bytes[at]) { at += 1 }
  }
}
