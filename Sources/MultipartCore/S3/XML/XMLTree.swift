import MultipartBasics

/// A parsed XML document: elements by local name, with the text of those that have no child elements. Other text is
/// white space in S3's answers and is dropped. Arrays are flat, so that 10,000 parts are not 10,000 objects.
final class XMLTree: Sendable {
  struct Node: Sendable {
    var name: String
    var text: Range<Int> = 0..<0
    var firstChild: Int32 = -1
    var next: Int32 = -1
  }

  let nodes: [Node]
  let text: [UInt8]

  init(nodes: [Node], text: [UInt8]) {
    self.nodes = nodes
    self.text = text
  }

  var root: XMLElement? {
    nodes.isEmpty ? nil : XMLElement(tree: self, index: 0)
  }

  /// The first element of this name in document order, at any depth: roots and wrappers differ between stores.
  func first(_ name: String) -> XMLElement? {
    nodes.indices.first { nodes[$0].name.utf8.elementsEqual(name.utf8) }.map { XMLElement(tree: self, index: $0) }
  }
}

struct XMLElement: Sendable {
  let tree: XMLTree
  let index: Int

  /// The name without the prefix of its namespace.
  var name: String { tree.nodes[index].name }

  /// Compares names byte by byte: `==` considers some non-ASCII letters equal to ASCII ones.
  func isNamed(_ other: String) -> Bool { name.utf8.elementsEqual(other.utf8) }

  var text: String { String(decoding: tree.text[tree.nodes[index].text], as: UTF8.self) }

  /// Whether it has no children.
  var isEmpty: Bool { tree.nodes[index].firstChild < 0 }

  var children: some Sequence<XMLElement> {
    sequence(state: tree.nodes[index].firstChild) { (next: inout Int32) -> XMLElement? in
      guard next >= 0 else { return nil }
      defer { next = tree.nodes[Int(next)].next }
      return XMLElement(tree: tree, index: Int(next))
    }
  }

  func first(_ name: String) -> XMLElement? {
    children.first { $0.isNamed(name) }
  }

  /// The text of the first child of this name; nil if there is none or it is empty.
  func string(_ name: String) -> String? {
    guard let text = first(name)?.text, !text.isEmpty else { return nil }
    return text
  }

  /// The integer in the first child of this name; nil if there is none, or if it is out of bounds.
  func integer<Number: FixedWidthInteger>(_ name: String, in bounds: ClosedRange<Number>) -> Number? {
    string(name).flatMap { Number(ASCII.trimmed($0), in: bounds) }
  }

  func boolean(_ name: String) -> Bool? {
    string(name).flatMap { Bool(word: ASCII.trimmed($0)) }
  }
}
