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

  package var name: String { String(decoding: lastName, as: UTF8.self) }

  /// Without slashes behind it.
  package var lastName: ArraySlice<UInt8> { bytes.split(separator: UInt8(ascii: "/")).last ?? bytes[...] }

  /// Without links (`realpath`); nil if it leads nowhere.
  var resolved: FilePath? {
    guard let resolved = withCString({ realpath($0, nil) }) else { return nil }
    defer { free(resolved) }
    return FilePath(bytes: UnsafeBufferPointer(start: resolved, count: strlen(resolved)).map { UInt8(bitPattern: $0) })
  }

  /// From the root (`getcwd`), whether it is there or not; links stay as they are.
  var absolute: FilePath {
    guard bytes.first != UInt8(ascii: "/"), let current = getcwd(nil, 0) else { return self }
    defer { free(current) }
    return FilePath(bytes: UnsafeBufferPointer(start: current, count: strlen(current)).map { UInt8(bitPattern: $0) })
      .below(bytes)
  }

  /// `unlink`
  package func remove() { _ = withCString { unlink($0) } }

  /// Of what it leads to (`stat`); nil if that cannot be looked at.
  var status: stat? {
    var status = stat()
    return withCString { stat($0, &status) } == 0 ? status : nil
  }

  /// The folder that its last name is in.
  var folder: FilePath {
    guard let slash = bytes.lastIndex(of: UInt8(ascii: "/")) else { return FilePath(".") }
    return slash == 0 ? FilePath("/") : FilePath(bytes: Array(bytes[..<slash]))
  }

  /// The path of this name in it.
  func below(_ name: some Collection<UInt8>) -> FilePath {
    let slash = UInt8(ascii: "/")
    return FilePath(bytes: bytes + (bytes.isEmpty || bytes.last == slash ? [] : [slash]) + name)
  }

  package func withCString<Result>(_ body: (UnsafePointer<CChar>) -> Result) -> Result {
    let terminated = bytes.map { CChar(bitPattern: $0) } + [0]
    return terminated.withUnsafeBufferPointer { buffer in
      // `buffer` contains at least the terminator, so it has a base address.
      buffer.baseAddress.map(body) ?? "".withCString(body)
    }
  }
}

/// Which file it is, whatever name leads to it: its device and inode.
package struct Inode: Sendable, Hashable {
  private let device: UInt64
  private let number: UInt64

  init(_ status: stat) {
    (device, number) = (UInt64(status.st_dev), UInt64(status.st_ino))
  }

  /// What the path leads to; nil if that cannot be looked at.
  package init?(_ path: FilePath) {
    guard let status = path.status else { return nil }
    self.init(status)
  }

  /// Of an open file: `fstat`.
  package init?(open descriptor: Int32) {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { return nil }
    self.init(status)
  }
}
