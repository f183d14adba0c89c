import Foundation
import Support
import Testing

@testable import MultipartCore

/// Inputs from which a stream can be read.
@Suite(.timeLimit(.minutes(15))) struct StreamInputTests {
  private let folder: TemporaryDirectory

  init() throws { folder = try TemporaryDirectory() }

  private func fifo() throws -> FilePath {
    let path = folder.path("pipe")
    guard mkfifo(path, 0o600) == 0 else { throw SystemError("mkfifo") }
    return FilePath(path)
  }

  private func opened(_ path: FilePath, _ flags: Int32) -> Int32 {
    path.withCString { open($0, flags | O_CLOEXEC) }
  }

  @Test("A named pipe is opened before its writer, and read once there is one")
  func lateWriter() async throws {
    let path = try fifo()
    #expect(path.isStream)
    let source = try StreamSource(StreamFile.open(path), steps: [(10, 100)])
    let pieces = Task { try await source.all() }
    try await until("a buffer is in use") { source.ring.buffersInUse == 1 }
    let writer = opened(path, O_WRONLY | O_NONBLOCK)
    #expect(writer >= 0)
    _ = write(writer, "hello", 5)
    close(writer)
    #expect(try await pieces.value.map(\.bytes) == [Array("hello".utf8)])
  }

  @Test("Reading a named pipe without a writer can be stopped")
  func noWriter() async throws {
    let source = try StreamSource(StreamFile.open(fifo()), steps: [(10, 100)])
    let waiting = Task { try await source.next() }
    try await until("a buffer is in use") { source.ring.buffersInUse == 1 }
    source.stop()
    #expect(await failure { try await waiting.value }?.code == .interrupted)
  }

  @Test("A writer that opens and closes a named pipe without writing leaves an empty stream")
  func silentWriter() async throws {
    let path = try fifo()
    let source = try StreamSource(StreamFile.open(path), steps: [(10, 100)])
    close(opened(path, O_WRONLY | O_NONBLOCK))
    #expect(try await source.all().map(\.bytes) == [[]])
  }

  @Test("A named pipe on standard input whose writer has gone reaches its end")
  func goneWriter() async throws {
    let path = try fifo()
    let reading = opened(path, O_RDONLY | O_NONBLOCK)
    let writing = opened(path, O_WRONLY)
    _ = fcntl(reading, F_SETFL, 0)
    _ = write(writing, "gone", 4)
    close(writing)
    defer { close(reading) }
    for name in [nil, "/dev/fd/\(reading)"] {
      let descriptor = try name.map { try StreamFile.open(FilePath($0)) } ?? reading
      let pieces = try await StreamSource(descriptor, owns: name != nil, steps: [(10, 100)]).all()
      #expect(pieces.map(\.bytes) == [name == nil ? Array("gone".utf8) : []])
    }
  }

  @Test("A descriptor's path, as of a process substitution, reads that descriptor, whether a pipe or a socket")
  func substitution() async throws {
    let pipe = try FedPipe()
    defer { close(pipe.reading) }
    try pipe.feed(Array("substituted".utf8), chunk: 3)
    let path = FilePath("/dev/fd/\(pipe.reading)")
    #expect(path.isStream)
    #expect(
      try await StreamSource(StreamFile.open(path), steps: [(10, 100)]).all().map(\.bytes)
        == [Array("substituted".utf8)])

    var ends: [Int32] = [-1, -1]
    #expect(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0, &ends) == 0)
    defer { close(ends[0]) }
    let source = try StreamSource(StreamFile.open(FilePath("/proc/self/fd/\(ends[0])")), steps: [(10, 4)])
    _ = write(ends[1], "socket", 6)
    close(ends[1])
    #expect(try await source.all().map(\.bytes) == [Array("sock".utf8), Array("et".utf8)])
  }

  @Test("A regular file read as a stream is read from its offset")
  func regularFile() async throws {
    let bytes = randomBytes(1234, seed: 6)
    let path = FilePath(try folder.write(bytes, to: "file"))
    #expect(!path.isStream)
    let file = opened(path, O_RDONLY)
    lseek(file, 34, SEEK_SET)
    let pieces = try await StreamSource(file, steps: [(10, 500)]).all()
    #expect(pieces.map(\.bytes) == cut(Array(bytes[34...]), sizes: [500, 500, 500]))
  }

  @Test("An endless device can be read and stopped, and one without bytes is empty")
  func devices() async throws {
    let zeros = try StreamSource(StreamFile.open(FilePath("/dev/zero")), steps: [(10, 5000)])
    #expect(try await zeros.next()?.part.allBytes() == Array(repeating: 0, count: 5000))
    zeros.stop()
    #expect(await failure { try await zeros.next() }?.code == .interrupted)
    let none = try StreamSource(StreamFile.open(FilePath("/dev/null")), steps: [(10, 5000)])
    #expect(try await none.all().map(\.isShort) == [true])
  }

  @Test("An unreadable source is a missing source, named in the failure")
  func unreadable() async throws {
    #expect(await failure { try StreamSource(-1, steps: [(1, 1)]) }?.code == .sourceMissing)
    #expect(await failure { try StreamFile.open(FilePath("/nonexistent/pipe")) }?.place.file == "/nonexistent/pipe")
    #expect(await failure { try StreamFile.open(FilePath("/dev/fd/99999")) }?.code == .sourceMissing)
    let source = try StreamSource(opened(FilePath(folder.path), O_RDONLY), steps: [(10, 100)])
    let first = await failure { try await source.next() }
    #expect(first?.code == .sourceMissing)
    #expect(first?.place.file == "standard input")
    #expect(await failure { try await source.next() }?.message == first?.message)
    #expect(source.ring.buffersInUse == 0)
    // The writing end of a pipe never returns anything, not even an error.
    try folder.write([], to: "out")
    var ends: [Int32] = [-1, -1]
    #expect(pipe(&ends) == 0)
    defer { close(ends[0]) }
    for descriptor in [opened(FilePath(folder.path("out")), O_WRONLY), ends[1]] {
      let file = identity(descriptor)
      let refusal = await failure { try StreamSource(descriptor, steps: [(10, 100)]) }
      #expect(refusal?.code == .sourceMissing)
      #expect(refusal?.message.contains("open for writing only") == true)
      // Another test may have opened something under the same number since.
      #expect(file != nil && identity(descriptor) != file)
    }
  }

  /// What is open under this number; nil if nothing is.
  private func identity(_ descriptor: Int32) -> [UInt64]? {
    var status = stat()
    return fstat(descriptor, &status) == 0 ? [UInt64(status.st_dev), UInt64(status.st_ino)] : nil
  }

  @Test("A descriptor that is not owned stays open and blocking; an owned one is closed when reading stops")
  func ownership() async throws {
    let shared = try FedPipe()
    var source: StreamSource? = try StreamSource(shared.reading, owns: false, steps: [(10, 100)])
    #expect(fcntl(shared.reading, F_GETFL) & O_NONBLOCK == 0)
    shared.finish()
    #expect(try await source?.all().count == 1)
    source = nil
    #expect(fcntl(shared.reading, F_GETFL) & O_NONBLOCK == 0)
    close(shared.reading)

    let ours = try FedPipe()
    source = try StreamSource(ours.reading, steps: [(10, 100)])
    source?.stop()
    source = nil
    // A child of another test can have the end open for a moment, between fork and exec; the pipe is never full during
    // that time.
    let isRefused = Guarded(false)
    try PosixThread.start {
      for _ in 0..<60_000 where isRefused.with({ !$0 }) {
        isRefused.with { $0 = !ours.write([1]) }
        sched_yield()
      }
    }.join()
    #expect(isRefused.with { $0 })
  }

  @Test("A pipe is enlarged, so that both sides switch less often")
  func pipeSize() throws {
    let pipe = try FedPipe()
    defer { close(pipe.reading) }
    let source = try StreamSource(pipe.reading, owns: false, steps: [(10, 100)])
    let getPipeSize: Int32 = 1032
    withExtendedLifetime(source) { #expect(fcntl(pipe.reading, getPipeSize) == 1 << 20) }
  }
}
