import Glibc

/// A file's path as the kernel sees it: bytes, which need not be UTF-8.
package struct FilePath: Sendable, Hashable {
  package let bytes: [UInt8]

  package init(_ text: String) {
    bytes = Array(text.utf8)
  }

  package init(bytes: [UInt8]) {
    self.bytes = bytes
  }

  /// For display: invalid UTF-8 is shown as the replacement character.
  package var text: String { String(decoding: bytes, as: UTF8.self) }

  package var name: String {
    let last = bytes.split(separator: UInt8(ascii: "/")).last ?? bytes[...]
    return String(decoding: last, as: UTF8.self)
  }

  /// Without links (`realpath`); nil if it leads nowhere.
  var resolved: FilePath? {
    guard let resolved = withCString({ realpath($0, nil) }) else { return nil }
    defer { free(resolved) }
    return FilePath(bytes: UnsafeBufferPointer(start: resolved, count: strlen(resolved)).map { UInt8(bitPattern: $0) })
  }

  /// `unlink`
  package func remove() { _ = withCString { unlink($0) } }

  package func withCString<Result>(_ body: (UnsafePointer<CChar>) -> Result) -> Result {
    let terminated = bytes.map { CChar(bitPattern: $0) } + [0]
    return terminated.withUnsafeBufferPointer { buffer in
      // `buffer` contains at least the terminator, so it has a base address.
      buffer.baseAddress.map(body) ?? "".withCString(body)
    }
  }
}
