/// Writes the small XML documents that S3 takes. Cost is linear in what is written.
package struct XMLWriter {
  package private(set) var bytes: [UInt8] = []

  package init(reserving capacity: Int = 256) {
    bytes.reserveCapacity(capacity)
    bytes += Array("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n".utf8)
  }

  package mutating func open(_ name: String, namespace: String? = nil) {
    bytes.append(UInt8(ascii: "<"))
    bytes += name.utf8
    if let namespace {
      bytes += " xmlns=\"".utf8
      escape(namespace)
      bytes.append(UInt8(ascii: "\""))
    }
    bytes.append(UInt8(ascii: ">"))
  }

  package mutating func close(_ name: String) {
    bytes += "</".utf8
    bytes += name.utf8
    bytes.append(UInt8(ascii: ">"))
  }

  package mutating func element(_ name: String, _ text: String) {
    open(name)
    escape(text)
    close(name)
  }

  /// The quotes of an ETag stay as they are. Control characters, which XML 1.0 cannot hold, and line ends, which a
  /// parser would fold, are written as references: stores read them back.
  private mutating func escape(_ text: String) {
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "&"): bytes += "&amp;".utf8
      case UInt8(ascii: "<"): bytes += "&lt;".utf8
      case UInt8(ascii: ">"): bytes += "&gt;".utf8
      case 0..<0x20, 0x7F: bytes += "&#x\(String(byte, radix: 16, uppercase: true));".utf8
      default: bytes.append(byte)
      }
    }
  }
}
