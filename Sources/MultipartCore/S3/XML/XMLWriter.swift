/// Writes small XML documents for S3, in time linear in their size.
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

  /// Does not escape the quotes of an ETag. Control characters, which XML 1.0 does not allow, and line breaks, which a
  /// parser would normalise, are written as references, which stores can read.
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
