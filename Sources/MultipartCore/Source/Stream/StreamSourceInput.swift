import Glibc
import MultipartBasics

/// A stream that has a path: a named pipe, a process substitution, a device.
enum StreamFile {
  /// Opens the path without waiting for a writer: `StreamSource` does that, and can be stopped while it waits. The
  /// caller owns the descriptor.
  static func open(_ path: FilePath) throws(Failure) -> Int32 {
    // Opening a named pipe again would wait for a writer that may already be gone.
    if let number = descriptor(namedBy: path) {
      let copy = fcntl(number, F_DUPFD_CLOEXEC, 0)
      guard copy >= 0 else { throw StreamInput.unreadable(path.text, errno) }
      return copy
    }
    let opened = path.withCString { Glibc.open($0, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY) }
    guard opened >= 0 else { throw StreamInput.unreadable(path.text, errno) }
    return opened
  }

  /// The regular file behind the path of a descriptor (`-`, `/dev/stdin`, `/dev/fd/3`), from its offset; nil for any
  /// other path, and for anything that can only be read as a stream.
  static func openFile(_ path: FilePath) throws(Failure) -> SourceFile? {
    guard let number = descriptor(namedBy: path) else { return nil }
    return try SourceFile(open: number, name: title(of: path))
  }

  static func isStandardInput(_ path: FilePath) -> Bool { path.bytes == dash }

  /// The path's name in messages.
  static func title(of path: FilePath) -> FilePath {
    path.bytes == dash ? FilePath("standard input") : path
  }

  private static let dash = [UInt8(ascii: "-")]

  static func descriptor(namedBy path: FilePath) -> Int32? {
    path.bytes == dash ? STDIN_FILENO : path.openDescriptor
  }
}

/// A descriptor for reading on a thread that must stay stoppable: the thread polls first, and, as far as the kernel
/// allows, the read after that cannot block either.
///
/// O_NONBLOCK is never set on a descriptor from outside: the flag belongs to the open file, which the shell and the
/// next program share. Instead, an unnamed pipe is opened again through /proc, and a socket is read with MSG_DONTWAIT.
/// The read can only block for a terminal or device, if another reader takes its bytes between the two calls.
struct StreamInput: ~Copyable {
  enum Outcome {
    case bytes(Int)
    case end
    case again
    case failed(Int32)
  }

  let descriptor: Int32
  private let closes: Bool
  private let isSocket: Bool
  /// Linux's F_SETPIPE_SZ, which the C library defines only for GNU sources. With the default of 64 KiB both sides of a
  /// pipe switch sixteen times as often.
  private static let setPipeSize: Int32 = 1031
  private static let pipeSize: Int32 = 1 << 20

  init(_ given: Int32, owns: Bool, name: String) throws(Failure) {
    var status = stat()
    guard fstat(given, &status) == 0 else { throw Self.unreadable(name, errno) }
    do throws(Failure) {
      try Self.refuseWriteOnly(given, status, name: name)
    } catch {
      if owns { close(given) }
      throw error
    }
    let kind = status.st_mode & S_IFMT
    let reopened = kind == S_IFIFO ? Self.reopened(given) : nil
    if reopened != nil, owns { close(given) }
    descriptor = reopened ?? given
    closes = owns || reopened != nil
    isSocket = kind == S_IFSOCK
    // The most that users may request by default; if the system refuses it, the pipe keeps its size.
    if kind == S_IFIFO { _ = fcntl(descriptor, Self.setPipeSize, Self.pipeSize) }
  }

  deinit {
    if closes { close(descriptor) }
  }

  /// Reads with `read`, or `recv` for a socket.
  borrowing func read(into buffer: UnsafeMutableRawBufferPointer) -> Outcome {
    let count =
      isSocket
      ? recv(descriptor, buffer.baseAddress, buffer.count, Int32(MSG_DONTWAIT))
      : Glibc.read(descriptor, buffer.baseAddress, buffer.count)
    if count > 0 { return .bytes(count) }
    if count == 0 { return .end }
    let error = errno
    return error == EINTR || error == EAGAIN ? .again : .failed(error)
  }

  /// A second, non-blocking open file of the same unnamed pipe. Nil for a named pipe: if its last writer is gone, a new
  /// open file would never see the end.
  private static func reopened(_ given: Int32) -> Int32? {
    let flags = fcntl(given, F_GETFL)
    guard flags >= 0, flags & O_NONBLOCK == 0, flags & O_ACCMODE != O_WRONLY else { return nil }
    let name = "/proc/self/fd/\(given)"
    var link = [CChar](repeating: 0, count: 64)
    guard readlink(name, &link, link.count - 1) > 0, strncmp(link, "pipe:", 5) == 0 else { return nil }
    let reopened = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    return reopened >= 0 ? reopened : nil
  }

  /// Refuses a descriptor that is open only for writing (`0>file`): a file returns no bytes, and the write end of a
  /// pipe not even an error, so reading would wait forever. A device like that stands in for a closed standard input.
  static func refuseWriteOnly(_ descriptor: Int32, _ status: stat, name: String) throws(Failure) {
    guard fcntl(descriptor, F_GETFL) & O_ACCMODE == O_WRONLY else { return }
    guard [S_IFREG, S_IFIFO].contains(status.st_mode & S_IFMT) else { throw unreadable(name, EBADF) }
    throw Failure(
      .sourceMissing, "the source cannot be read: it is open for writing only", remedy: "give it something to read"
    ).at(Place(file: name))
  }

  static func unreadable(_ name: String, _ error: Int32) -> Failure {
    .system(
      .sourceMissing, error, "the source cannot be read",
      remedy: error == EBADF ? "give it something to read" : nil
    ).at(Place(file: name))
  }
}
