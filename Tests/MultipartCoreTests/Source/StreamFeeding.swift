import Foundation
import Support

@testable import MultipartCore

/// A pipe that the test reads, fed by a thread or by the test. Its ends have FD_CLOEXEC from the beginning, so that a
/// command started by another test does not keep them open.
final class FedPipe: Sendable {
  let reading: Int32
  private let writing: Guarded<Int32>

  init() throws {
    typealias Pipe = @convention(c) (UnsafeMutablePointer<Int32>, Int32) -> Int32
    guard let found = dlsym(nil, "pipe2") else { throw SystemError("pipe2", ENOSYS) }
    var ends: [Int32] = [-1, -1]
    guard unsafeBitCast(found, to: Pipe.self)(&ends, O_CLOEXEC) == 0 else { throw SystemError("pipe2") }
    reading = ends[0]
    writing = Guarded(ends[1])
  }

  deinit { finish() }

  /// Writes everything in chunks and closes, on its own thread.
  func feed(_ bytes: [UInt8], chunk: Int) throws {
    try PosixThread.start { [self] in
      var at = 0
      while at < bytes.count, write(Array(bytes[at..<min(at + chunk, bytes.count)])) { at += chunk }
      finish()
    }.detach()
  }

  /// Writes a few bytes, or any number on a thread that blocks SIGPIPE; false if there is no reader any more.
  @discardableResult
  func write(_ bytes: [UInt8]) -> Bool {
    let end = writing.with { $0 }
    var at = 0
    while at < bytes.count {
      let count = bytes[at...].withUnsafeBytes { Glibc.write(end, $0.baseAddress, $0.count) }
      guard count > 0 else { return false }
      at += count
    }
    return true
  }

  func finish() {
    writing.with { end in
      if end >= 0 { close(end) }
      end = -1
    }
  }
}

struct ReadPiece: Equatable {
  var number: Int
  var offset: Int64
  var bytes: [UInt8]
  var isShort: Bool
}

extension StreamPiece {
  func copied() throws -> ReadPiece {
    ReadPiece(number: number, offset: offset, bytes: try part.allBytes(), isShort: isShort)
  }
}

extension StreamPart {
  /// Reads it as a transfer does, in pieces that do not divide it.
  func allBytes() throws -> [UInt8] {
    var all: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 4093)
    while true {
      let result = buffer.withUnsafeMutableBytes { bytes in
        Result { () throws(Failure) in try read(into: bytes, at: Int64(all.count)) }
      }
      let count = try result.get()
      guard count > 0 else { return all }
      all += buffer[..<count]
    }
  }
}

extension StreamSource {
  convenience init(
    _ descriptor: Int32, owns: Bool = true, steps: [(parts: Int, size: Int64)], concurrency: Int = 4,
    hashes: Bool = false
  ) throws {
    let plan = try StreamPlan(steps: steps.map { StreamPlan.Step(parts: $0.parts, size: $0.size) })
    try self.init(
      descriptor: descriptor, owns: owns, plan: plan, ring: PartRing(plan: plan, concurrency: concurrency),
      hashes: hashes)
  }

  /// All pieces; each is released before the next is requested.
  func all() async throws -> [ReadPiece] {
    var pieces: [ReadPiece] = []
    while let piece = try await next() {
      pieces.append(try piece.copied())
      piece.part.release()
    }
    return pieces
  }
}

/// The failure of `body`; nil if it succeeds.
func failure<Result>(of body: () async throws -> Result) async -> Failure? {
  do {
    _ = try await body()
    return nil
  } catch {
    return error as? Failure
  }
}

/// The pieces into which a stream of `bytes` must be cut.
func cut(_ bytes: [UInt8], sizes: [Int]) -> [[UInt8]] {
  var (parts, at, sizes) = ([[UInt8]](), 0, sizes[...])
  while at < bytes.count, let size = sizes.popFirst() {
    parts.append(Array(bytes[at..<min(at + size, bytes.count)]))
    at += size
  }
  return parts
}
