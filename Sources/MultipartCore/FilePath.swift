import Glibc
import MultipartBasics

/// A file's path as the kernel sees it: bytes, which need not be UTF-8.
public struct FilePath: Sendable, Hashable {
  /// The path's bytes, without a zero at the end.
  public let bytes: [UInt8]

  /// A path in UTF-8.
  public init(_ text: String) {
    bytes = Array(text.utf8)
  }

  /// A path of any bytes but zeros.
  public init(bytes: [UInt8]) {
    self.bytes = bytes
  }

  /// The path for display: invalid UTF-8 is shown as the replacement character.
  public var text: String { String(decoding: bytes, as: UTF8.self) }

  /// The last component for display.
  public var name: String { String(decoding: lastName, as: UTF8.self) }

  /// The last component, without trailing slashes.
  public var lastName: ArraySlice<UInt8> { bytes.split(separator: UInt8(ascii: "/")).last ?? bytes[...] }

  /// The path without links (`realpath`); nil if it leads nowhere.
  var resolved: FilePath? {
    guard let resolved = withCString({ realpath($0, nil) }) else { return nil }
    defer { free(resolved) }
    return FilePath(bytes: UnsafeBufferPointer(start: resolved, count: strlen(resolved)).map { UInt8(bitPattern: $0) })
  }

  /// The path from the root (`getcwd`), whether or not it exists; links stay as they are.
  var absolute: FilePath {
    guard bytes.first != UInt8(ascii: "/"), let current = getcwd(nil, 0) else { return self }
    defer { free(current) }
    return FilePath(bytes: UnsafeBufferPointer(start: current, count: strlen(current)).map { UInt8(bitPattern: $0) })
      .below(bytes)
  }

  /// Deletes the file (`unlink`).
  public func remove() { _ = withCString { unlink($0) } }

  /// The status of the path's target (`stat`); nil if it cannot be read.
  var status: stat? {
    var status = stat()
    return withCString { stat($0, &status) } == 0 ? status : nil
  }

  /// Whether there is a file or folder, also at the end of links.
  public var exists: Bool { status != nil }

  /// Whether there is a folder, also at the end of links.
  public var isFolder: Bool { isKind(S_IFDIR) }

  /// Whether it can only be read as a stream: there is something that is neither a regular file nor a folder.
  public var isStream: Bool { status.map { ![S_IFREG, S_IFDIR].contains($0.st_mode & S_IFMT) } ?? false }

  /// Whether it names a descriptor that is already open: `-`, `/dev/stdin`, `/dev/fd/3`.
  public var namesDescriptor: Bool { StreamFile.descriptor(namedBy: self) != nil }

  /// A copy of the open descriptor that the path stands for, if that can be written; the caller closes it.
  func openedForWriting() throws(ErrorNumber) -> Int32? {
    guard let openDescriptor else { return nil }
    let copy = fcntl(openDescriptor, F_DUPFD_CLOEXEC, 3)
    guard copy >= 0 else { throw ErrorNumber(errno) }
    guard fcntl(copy, F_GETFL) & O_ACCMODE != O_RDONLY else {
      close(copy)
      throw ErrorNumber(EBADF)
    }
    return copy
  }

  /// Whether its bytes can be read a second time: a descriptor continues where the first reading has ended.
  var isRereadable: Bool { !namesDescriptor && isKind(S_IFREG) }

  /// The open descriptor that the path stands for: `/dev/stdin`, `/dev/stdout`, `/dev/stderr`, `/dev/fd/3`. Its path
  /// cannot replace it: a socket cannot be opened by its path, and opening a file again begins at its start.
  public var openDescriptor: Int32? {
    for (number, name) in ["stdin", "stdout", "stderr"].enumerated()
    where bytes.elementsEqual("/dev/\(name)".utf8) {
      return Int32(number)
    }
    for prefix in ["/dev/fd/", "/proc/self/fd/"] where bytes.starts(with: prefix.utf8) {
      return Int32(bytes.dropFirst(prefix.utf8.count), in: 0 ... .max)
    }
    return nil
  }

  func isKind(_ kind: mode_t) -> Bool { status.map { $0.st_mode & S_IFMT == kind } ?? false }

  /// What the link at this path contains (`readlink`); nil if it is not a link.
  var linkTarget: FilePath? {
    var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
    let count = withCString { readlink($0, &buffer, buffer.count) }
    return count > 0 ? FilePath(bytes: buffer.prefix(count).map { UInt8(bitPattern: $0) }) : nil
  }

  /// The folder that contains the last component.
  public var folder: FilePath {
    guard let slash = bytes.lastIndex(of: UInt8(ascii: "/")) else { return FilePath(".") }
    return slash == 0 ? FilePath("/") : FilePath(bytes: Array(bytes[..<slash]))
  }

  /// The same path without slashes at its end, which a root keeps.
  var withoutSlashesAtEnd: FilePath {
    let slash = UInt8(ascii: "/")
    let length = bytes.lastIndex { $0 != slash }.map { $0 + 1 } ?? min(1, bytes.count)
    return FilePath(bytes: Array(bytes[..<length]))
  }

  /// The path of this name in this folder.
  func below(_ name: some Collection<UInt8>) -> FilePath {
    let slash = UInt8(ascii: "/")
    return FilePath(bytes: bytes + (bytes.isEmpty || bytes.last == slash ? [] : [slash]) + name)
  }

  /// Calls `body` with the path as C functions take it.
  public func withCString<Result>(_ body: (UnsafePointer<CChar>) -> Result) -> Result {
    let terminated = Self.wholeOrTooLong(bytes).map { CChar(bitPattern: $0) } + [0]
    return terminated.withUnsafeBufferPointer { buffer in
      // `buffer` contains at least the terminator, so it has a base address.
      buffer.baseAddress.map(body) ?? "".withCString(body)
    }
  }

  /// The bytes, or if one of them is zero, a name that is too long for any file: a C function would take the bytes
  /// before it for the whole name.
  static func wholeOrTooLong(_ bytes: [UInt8]) -> [UInt8] {
    bytes.contains(0) ? [UInt8](repeating: UInt8(ascii: "x"), count: Int(PATH_MAX) + 1) : bytes
  }
}
