import MultipartBasics

/// Writes small XML documents for S3, in time linear in their size.
struct XMLWriter {
  private(set) var bytes: [UInt8] = []

  init(reserving capacity: Int = 256) {
    bytes.reserveCapacity(capacity)
    bytes += Array("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n".utf8)
  }

  mutating func open(_ name: String, namespace: String? = nil) {
    bytes.append(UInt8(ascii: "<"))
    bytes += name.utf8
    if let namespace {
      bytes += " xmlns=\"".utf8
      bytes += Escaped.xml(namespace).utf8
      bytes.append(UInt8(ascii: "\""))
    }
    bytes.append(UInt8(ascii: ">"))
  }

  mutating func close(_ name: String) {
    bytes += "</".utf8
    bytes += name.utf8
    bytes.append(UInt8(ascii: ">"))
  }

  mutating func element(_ name: String, _ text: String) {
    open(name)
    bytes += Escaped.xml(text).utf8
    close(name)
  }
}
