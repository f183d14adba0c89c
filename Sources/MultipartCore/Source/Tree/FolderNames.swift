import Glibc
import MultipartBasics

/// The names in one folder, in the order of their keys. A million of them fit: all are in one buffer, with four bytes
/// each for their order.
///
/// An entry is a byte for its kind, the name as it appears in a key, for a folder a slash (so that `a/` comes after
/// `a.b`, as the keys in it do), and a zero. Names contain no zero, so `strcmp` compares them.
///
/// Owns its buffer (`realloc`, `free`).
final class FolderNames {
  enum Kind: UInt8 {
    case unknown, file, folder, link, socket, pipe, device

    /// The kind for a `d_type`; an unknown one requires `fstatat`.
    init(type: UInt8) {
      switch Int(type) {
      case Int(DT_REG): self = .file
      case Int(DT_DIR): self = .folder
      case Int(DT_LNK): self = .link
      case Int(DT_SOCK): self = .socket
      case Int(DT_FIFO): self = .pipe
      case Int(DT_BLK), Int(DT_CHR): self = .device
      default: self = .unknown
      }
    }

    init(_ status: stat) {
      switch status.st_mode & S_IFMT {
      case S_IFREG: self = .file
      case S_IFDIR: self = .folder
      case S_IFLNK: self = .link
      case S_IFSOCK: self = .socket
      case S_IFIFO: self = .pipe
      case S_IFBLK, S_IFCHR: self = .device
      default: self = .unknown
      }
    }
  }

  struct Entry {
    var name: [UInt8]
    var kind: Kind
    /// Whether its key is the same as that of the entry before it.
    var isDouble: Bool
  }

  private static let escaped: UInt8 = 0x80
  private static let slash = UInt8(ascii: "/")

  private var memory: UnsafeMutableRawPointer?
  private var capacity = 0
  private var used = 0
  /// The positions at which the entries' names begin.
  private var order: [UInt32] = []
  private var next = 0

  var isEmpty: Bool { order.isEmpty }

  /// Reads the names of a folder, and looks up what the `d_type` does not say: the target of a link, if links are
  /// followed.
  init(of folder: Folder, followsLinks: Bool) throws(ErrorNumber) {
    var isTooLarge = false
    try folder.forEachName { name, type in
      var kind = Kind(type: type)
      if kind == .unknown || (kind == .link && followsLinks),
        let status = try? folder.status(of: Array(name), followsLinks: followsLinks)
      {
        kind = Kind(status)
      }
      if !add(name, kind) { isTooLarge = true }
    }
    guard !isTooLarge else { throw ErrorNumber(ENOMEM) }
    guard let text = memory?.assumingMemoryBound(to: CChar.self) else { return }
    order.withUnsafeMutableBufferPointer { $0.sort { strcmp(text + Int($0), text + Int($1)) < 0 } }
  }

  deinit { free(memory) }

  /// Adds a name; false if there is no memory for it.
  private func add(_ name: UnsafeBufferPointer<UInt8>, _ kind: Kind) -> Bool {
    guard let changed = KeyName.escaped(name) else { return append(name, kind.rawValue) }
    return changed.withUnsafeBufferPointer { append($0, kind.rawValue | Self.escaped) }
  }

  private func append(_ name: UnsafeBufferPointer<UInt8>, _ mark: UInt8) -> Bool {
    let length = name.count + 3
    guard used + length <= Int(UInt32.max) else { return false }
    if used + length > capacity {
      // `realloc` moves a large buffer without copying it, and its end takes no memory before it is written.
      capacity = max(4096, capacity * 2)
      guard let grown = realloc(memory, capacity) else { return false }
      memory = grown
    }
    guard let start = memory.map({ $0 + used }), let first = name.baseAddress else { return false }
    start.storeBytes(of: mark, as: UInt8.self)
    memcpy(start + 1, first, name.count)
    let isFolder = mark & ~Self.escaped == Kind.folder.rawValue
    start.storeBytes(of: isFolder ? Self.slash : 0, toByteOffset: 1 + name.count, as: UInt8.self)
    start.storeBytes(of: 0, toByteOffset: 2 + name.count, as: UInt8.self)
    order.append(UInt32(used + 1))
    used += length
    return true
  }

  /// The next entry in order.
  func take() -> Entry? {
    guard next < order.count, let memory else { return nil }
    let start = memory + Int(order[next])
    let text = start.assumingMemoryBound(to: CChar.self)
    let isDouble = next > 0 && strcmp(text, memory.assumingMemoryBound(to: CChar.self) + Int(order[next - 1])) == 0
    next += 1
    let mark = start.load(fromByteOffset: -1, as: UInt8.self)
    let kind = Kind(rawValue: mark & ~Self.escaped) ?? .unknown
    let length = strlen(text) - (kind == .folder ? 1 : 0)
    let name = [UInt8](UnsafeRawBufferPointer(start: start, count: length))
    return Entry(
      name: mark & Self.escaped == 0 ? name : PercentEncoding.bytes(of: name), kind: kind, isDouble: isDouble)
  }
}
