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
      bytes += Escaped.xml(namespace).utf8
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
    bytes += Escaped.xml(text).utf8
    close(name)
  }
}
