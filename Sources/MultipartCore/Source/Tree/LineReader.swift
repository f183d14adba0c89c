import Glibc
import MultipartBasics

/// Reads lines, or entries that end with a zero byte, with a buffer for the longest one (`open`, `poll`, `read`, `close`).
final class LineReader {
  /// The name for messages.
  let name: String
  /// What it is, in messages.
  private let title: String
  /// The number of the last line that was read, from 1.
  private(set) var number = 0
  private let descriptor: Int32
  private let closes: Bool
  private let end: UInt8
  private let longest: Int
  private var buffer: [UInt8] = []
  private var at = 0
  private var isOver = false

  /// What to do about a zero byte in a line.
  private static let zeroBytes: Wording = "if its names end with zero bytes, give \(.endsWithZero)"

  /// Opens the file. A path that names an open descriptor, such as `-`, is read from there, after whatever was read before.
  init(
    _ path: FilePath, title: String = "the list", end: UInt8 = UInt8(ascii: "\n"), longest: Int
  ) throws(Failure) {
    (self.title, self.end, self.longest) = (title, end, longest)
    if let given = StreamFile.descriptor(namedBy: path) {
      (descriptor, name, closes) = (given, StreamFile.title(of: path).text, false)
      return
    }
    // Without O_NONBLOCK the open of a named pipe waits until it has a writer.
    descriptor = path.withCString { open($0, O_RDONLY | O_CLOEXEC | O_NONBLOCK) }
    guard descriptor >= 0 else {
      var failure = Self.unreadable(path.text, title, errno)
      if [.system(ENOENT), .system(ENOTDIR)].contains(failure.underlying) { failure.remedy = path.whyMissing }
      throw failure
    }
    (name, closes) = (path.text, true)
  }

  /// Reads an open descriptor, which the caller owns.
  init(open given: Int32, name: String, longest: Int) {
    (title, end) = ("the list", UInt8(ascii: "\n"))
    (descriptor, self.name, self.longest, closes) = (given, name, longest, false)
  }

  deinit {
    if closes { close(descriptor) }
  }

  /// The next line, without the byte that ends it, which the last line may lack.
  func next() throws(Failure) -> ArraySlice<UInt8>? {
    var searched = at
    while true {
      if let found = buffer[searched...].firstIndex(of: end) { return try take(buffer[at..<found], next: found + 1) }
      guard !isOver else { return at < buffer.count ? try take(buffer[at...], next: buffer.count) : nil }
      buffer.removeSubrange(..<at)
      at = 0
      searched = buffer.count
      if buffer.count > longest { return try take(buffer[...], next: 0) }
      try fill()
    }
  }

  /// The next line as a name, which may not be empty.
  func nextName() throws(Failure) -> ArraySlice<UInt8>? {
    guard let line = try next() else { return nil }
    guard !line.isEmpty else { throw failure("it is empty") }
    guard !line.contains(0) else { throw failure("it has a zero byte", remedy: Self.zeroBytes) }
    return line
  }

  /// Everything that is left, which must not be longer than `longest`.
  func rest() throws(Failure) -> [UInt8] {
    while !isOver, buffer.count - at <= longest { try fill() }
    guard buffer.count - at <= longest else {
      throw Failure(.sourceMissing, "\(title) is longer than \(longest) bytes").at(Place(file: name))
    }
    defer { at = buffer.count }
    return Array(buffer[at...])
  }

  private func take(_ line: ArraySlice<UInt8>, next: Int) throws(Failure) -> ArraySlice<UInt8> {
    number += 1
    guard line.count <= longest else {
      throw failure("it is longer than \(longest) bytes", remedy: end != 0 && line.contains(0) ? Self.zeroBytes : nil)
    }
    at = next
    return line
  }

  private func fill() throws(Failure) {
    var count: Int
    repeat {
      try awaitInput()
      count = withUnsafeTemporaryAllocation(byteCount: 64 << 10, alignment: 16) { piece in
        let count = read(descriptor, piece.baseAddress, piece.count)
        if count > 0 { buffer.append(contentsOf: UnsafeRawBufferPointer(rebasing: piece[..<count])) }
        return count
      }
    } while count < 0 && (errno == EINTR || errno == EAGAIN)
    guard count >= 0 else { throw Self.unreadable(name, title, errno) }
    isOver = count == 0
  }

  /// A pipe's writer may be silent for hours, and a cancelled task must not wait for it.
  private func awaitInput() throws(Failure) {
    var input = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    while !Task.isCancelled {
      // An error of the descriptor shows when it is read.
      guard poll(&input, 1, 100) == 0 else { return }
    }
    throw .interrupted
  }

  /// A failure about the last line that was read.
  func failure(_ what: Wording, code: Failure.Code = .usage, remedy: Wording? = nil) -> Failure {
    Failure(code, "line \(number) of \(title): " + what, remedy: remedy ?? "correct this line, or leave it out")
      .at(Place(file: name))
  }

  private static func unreadable(_ name: String, _ title: String, _ error: Int32) -> Failure {
    .system(.sourceMissing, error, "\(title) cannot be read").at(Place(file: name))
  }
}
