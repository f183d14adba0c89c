import CExpat

/// Why a document could not be read.
enum XMLFault: Error, Sendable, Equatable {
  /// It ends before its root does, or is empty.
  case cutOff
  /// It is not well-formed.
  case malformed
  /// It declares a document type: S3 answers never do, and declared entities are how small documents grow huge.
  case documentType
  /// It is deeper, longer or has more elements than any answer needs.
  case tooLarge
  case outOfMemory
}

/// Reads XML from a store, which is not trusted: document types are refused, and depth, elements, names and text are
/// limited. The only place that calls expat (`XML_ParserCreate`, `XML_Parse`, `XML_StopParser`, `XML_ParserFree`); the
/// reader owns its parser and frees it.
///
/// Prefixes are removed here, because expat would refuse a prefix that was not declared.
final class XMLReader {
  static let maximumDepth = 32
  static let maximumElements = 500_000
  static let maximumText = 32 << 20
  static let maximumName = 256

  private let parser: XML_Parser
  private var fault: XMLFault?
  private var nodes: [XMLTree.Node] = []
  private var text: [UInt8] = []
  /// The open elements: the index in `nodes`, where the text begins, and the last child (-1: none yet).
  private var open: [(node: Int, text: Int, lastChild: Int)] = []

  static func read(_ bytes: [UInt8]) throws(XMLFault) -> XMLTree {
    let reader = try XMLReader()
    if let fault = reader.parse(bytes) { throw fault }
    return reader.tree
  }

  /// Reads as much as possible before the document ends or becomes invalid: part of an error's body is better than
  /// nothing.
  static func readWhatThereIs(_ bytes: [UInt8]) -> XMLTree {
    guard let reader = try? XMLReader() else { return XMLTree(nodes: [], text: []) }
    return reader.parse(bytes) == .documentType ? XMLTree(nodes: [], text: []) : reader.tree
  }

  /// The document with `?` instead of each control character that XML does not allow, as a byte or as a reference.
  static func withoutControls(_ bytes: [UInt8]) -> [UInt8] {
    let isControl: (UInt8) -> Bool = { $0 < 0x20 && $0 != 0x09 && $0 != 0x0A && $0 != 0x0D }
    var out: [UInt8] = []
    out.reserveCapacity(bytes.count)
    var rest = bytes[...]
    while let byte = rest.first {
      if byte == UInt8(ascii: "&"), let end = rest.prefix(10).firstIndex(of: UInt8(ascii: ";")),
        let number = reference(rest[(rest.startIndex + 1)..<end]), isControl(number)
      {
        out.append(UInt8(ascii: "?"))
        rest = rest[(end + 1)...]
      } else {
        out.append(isControl(byte) ? UInt8(ascii: "?") : byte)
        rest = rest.dropFirst()
      }
    }
    return out
  }

  /// The number of `#27` or `#x1b`.
  private static func reference(_ text: ArraySlice<UInt8>) -> UInt8? {
    guard text.first == UInt8(ascii: "#") else { return nil }
    let digits = text.dropFirst()
    let isHex = digits.first == UInt8(ascii: "x")
    return UInt8(String(decoding: isHex ? digits.dropFirst() : digits, as: UTF8.self), radix: isHex ? 16 : 10)
  }

  private init() throws(XMLFault) {
    guard let parser = XML_ParserCreate(nil) else { throw .outOfMemory }
    self.parser = parser
  }

  deinit {
    XML_ParserFree(parser)
  }

  private var tree: XMLTree { XMLTree(nodes: nodes, text: text) }

  private func parse(_ bytes: [UInt8]) -> XMLFault? {
    // XML does not allow white space before the declaration, but S3 sends it to keep the connection alive while it
    // assembles an object.
    let body = bytes.drop { $0 == 0x20 || $0 == 0x0A || $0 == 0x0D || $0 == 0x09 }
    guard !body.isEmpty else { return .cutOff }
    guard body.count <= Int(Int32.max) else { return .tooLarge }
    // Unretained: the callbacks run inside XML_Parse, while `self` is alive.
    XML_SetUserData(parser, Unmanaged.passUnretained(self).toOpaque())
    XML_SetElementHandler(
      parser, { context, name, _ in XMLReader.from(context)?.start(name) },
      { context, _ in XMLReader.from(context)?.end() })
    XML_SetCharacterDataHandler(parser) { context, text, count in
      XMLReader.from(context)?.characters(text, Int(count))
    }
    XML_SetStartDoctypeDeclHandler(parser) { context, _, _, _, _ in XMLReader.from(context)?.stop(.documentType) }
    let status = body.withUnsafeBytes {
      XML_Parse(parser, $0.baseAddress?.assumingMemoryBound(to: CChar.self), Int32($0.count), 1)
    }
    if let fault { return fault }
    guard status != XML_STATUS_OK else { return nil }
    switch XML_GetErrorCode(parser) {
    case XML_ERROR_NO_ELEMENTS, XML_ERROR_UNCLOSED_TOKEN, XML_ERROR_PARTIAL_CHAR, XML_ERROR_UNCLOSED_CDATA_SECTION:
      return .cutOff
    case XML_ERROR_NO_MEMORY: return .outOfMemory
    default: return .malformed
    }
  }

  private static func from(_ context: UnsafeMutableRawPointer?) -> XMLReader? {
    context.map { Unmanaged<XMLReader>.fromOpaque($0).takeUnretainedValue() }
  }

  private func stop(_ fault: XMLFault) {
    guard self.fault == nil else { return }
    self.fault = fault
    XML_StopParser(parser, XML_Bool(XML_FALSE))
  }

  // Expat may call a handler once more after it was stopped, so each handler checks `fault` first.

  private func start(_ name: UnsafePointer<CChar>?) {
    guard fault == nil, let name else { return }
    let bytes = UnsafeRawBufferPointer(start: name, count: Self.length(name))
    guard open.count < Self.maximumDepth, nodes.count < Self.maximumElements, bytes.count <= Self.maximumName else {
      return stop(.tooLarge)
    }
    let local = bytes.lastIndex(of: UInt8(ascii: ":")).map { bytes[($0 + 1)...] } ?? bytes[...]
    let index = nodes.count
    nodes.append(XMLTree.Node(name: String(decoding: local, as: UTF8.self)))
    if let parent = open.indices.last {
      let last = open[parent].lastChild
      if last < 0 {
        nodes[open[parent].node].firstChild = Int32(index)
        text.removeLast(text.count - open[parent].text)
      } else {
        nodes[last].next = Int32(index)
      }
      open[parent].lastChild = index
    }
    open.append((index, text.count, -1))
  }

  private func end() {
    guard fault == nil, let element = open.popLast() else { return }
    if element.lastChild < 0 { nodes[element.node].text = element.text..<text.count }
  }

  private func characters(_ characters: UnsafePointer<CChar>?, _ count: Int) {
    guard fault == nil, let characters, let element = open.last, element.lastChild < 0 else { return }
    guard text.count + count <= Self.maximumText else { return stop(.tooLarge) }
    text.append(contentsOf: UnsafeRawBufferPointer(start: characters, count: count))
  }

  /// The length of a C string, up to the limit for names.
  private static func length(_ name: UnsafePointer<CChar>) -> Int {
    var count = 0
    while count <= maximumName, name[count] != 0 { count += 1 }
    return count
  }
}
