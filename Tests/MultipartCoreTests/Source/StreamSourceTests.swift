import Foundation
import Support
import Testing

@testable import MultipartCore

@Suite(.timeLimit(.minutes(15))) struct StreamSourceTests {
  private static let steps: [(parts: Int, size: Int64)] = [(3, 100), (3, 2500), (100, 10_000)]
  private static let sizes = Array(
    [[100, 100, 100], [2500, 2500, 2500], Array(repeating: 10_000, count: 100)].joined())

  @Test(
    "However it is chunked, a stream is cut into the plan's growing parts, byte for byte",
    arguments: [1, 7, 99, 4096, 65_537])
  func chunks(chunk: Int) async throws {
    let bytes = randomBytes(61_803, seed: UInt64(chunk))
    let pipe = try FedPipe()
    try pipe.feed(bytes, chunk: chunk)
    let source = try StreamSource(pipe.reading, steps: Self.steps, hashes: true)
    #expect(source.sha256 == nil)
    let pieces = try await source.all()
    #expect(pieces.map(\.bytes) == cut(bytes, sizes: Self.sizes))
    #expect(pieces.map(\.number) == Array(1...pieces.count))
    #expect(pieces.map(\.offset) == (1...pieces.count).map { source.plan.offset(ofPart: $0) })
    #expect(pieces.allSatisfy { !$0.isShort })
    #expect(source.bytesRead == 61_803)
    #expect(source.sha256?.bytes == (try Digest.sha256(bytes)))
    #expect(source.ring.buffersInUse == 0)
  }

  @Test("What is published of a stream must be as long as what was read of it")
  func whole() async throws {
    let pipe = try FedPipe()
    try pipe.feed(randomBytes(150, seed: 1), chunk: 150)
    let stream = UploadStream(name: "stream", source: try StreamSource(pipe.reading, steps: [(3, 100)]))
    for _ in 0..<2 { _ = await stream.read() }
    try stream.requireWhole(150)
    for size in [Int64(0), 100, 151] { #expect(throws: Failure.self) { try stream.requireWhole(size) } }
  }

  @Test("No byte is lost if the writer pauses after every byte")
  func slow() async throws {
    let pipe = try FedPipe()
    let source = try StreamSource(pipe.reading, steps: [(10, 4)])
    let pieces = Task { try await source.all() }
    for byte in UInt8(0)..<10 {
      pipe.write([byte])
      try await until("byte \(byte) is read") { source.bytesRead == Int64(byte) + 1 }
    }
    pipe.finish()
    #expect(try await pieces.value.map(\.bytes) == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]])
    #expect(source.sha256 == nil)
  }

  private static let lengths: [(length: Int, parts: [Int], short: Bool)] = [
    (0, [0], true), (1, [1], true), (99, [99], true), (100, [100], true), (101, [100, 1], false),
    (200, [100, 100], false), (300, [100, 100, 100], false), (301, [100, 100, 100, 1], false),
  ]

  @Test(
    "There is no empty last part, an empty stream is one empty part, and a stream of one part is reported as such",
    arguments: lengths)
  func ends(length: Int, parts: [Int], short: Bool) async throws {
    let pipe = try FedPipe()
    try pipe.feed(randomBytes(length, seed: 1), chunk: 64)
    let source = try StreamSource(pipe.reading, steps: [(1000, 100)])
    let first = try #require(try await source.next())
    #expect(first.isShort == short)
    #expect(first.part.length == Int64(parts[0]))
    let rest = try await source.all()
    #expect(rest.map(\.bytes.count) == Array(parts.dropFirst()))
    #expect(rest.allSatisfy { !$0.isShort })
    #expect(try await source.next() == nil)
  }

  @Test("A stream may fill the last part of the plan, and one byte more is a failure with a remedy")
  func capacity() async throws {
    for (length, fits) in [(250, true), (251, false)] {
      let pipe = try FedPipe()
      try pipe.feed(randomBytes(length, seed: 2), chunk: 1000)
      let source = try StreamSource(pipe.reading, steps: [(1, 50), (2, 100)])
      let failure = await failure { try await source.all() }
      #expect((failure == nil) == fits)
      if !fits {
        #expect(failure?.code == .usage)
        #expect(failure?.remedy?.settings == [.expectedSize, .partSize])
      }
    }
    let pipe = try FedPipe()
    try pipe.feed(randomBytes(11, seed: 2), chunk: 1000)
    let single = try StreamSource(pipe.reading, steps: [(1, 10)])
    #expect(await failure { try await single.all() }?.code == .usage)
  }

  @Test("Stopping, or cancelling the task, ends the wait for input at once and for good", arguments: [false, true])
  func stopInput(cancels: Bool) async throws {
    let pipe = try FedPipe()
    pipe.write([1, 2, 3])
    let source = try StreamSource(pipe.reading, steps: [(10, 100)])
    let waiting = Task { try await source.next() }
    try await until("three bytes are read") { source.bytesRead == 3 }
    if cancels { waiting.cancel() } else { source.stop() }
    #expect(await failure { try await waiting.value }?.code == .interrupted)
    #expect(await failure { try await source.next() }?.code == .interrupted)
    #expect(source.ring.buffersInUse == 0)
  }

  @Test("Stopping, or cancelling the task, ends the wait for memory at once", arguments: [false, true])
  func stopMemory(cancels: Bool) async throws {
    let pipe = try FedPipe()
    try pipe.feed(randomBytes(1000, seed: 3), chunk: 1000)
    let source = try StreamSource(pipe.reading, steps: [(10, 100)], concurrency: 2)
    let held = [try await source.next(), try await source.next()]
    let waiting = Task { try await source.next() }
    try await until("the reader waits for memory") { source.ring.waiting == 1 }
    #expect(source.bytesRead < 300)
    if cancels { waiting.cancel() } else { source.stop() }
    #expect(await failure { try await waiting.value }?.code == .interrupted)
    #expect(try held[1]?.part.allBytes() == Array(randomBytes(1000, seed: 3)[100..<200]))
  }

  @Test(
    "A source stopped before the first read gives nothing, and an unused one ends with its last reference")
  func unasked() async throws {
    let pipe = try FedPipe()
    var source: StreamSource? = try StreamSource(pipe.reading, steps: [(10, 100)])
    source?.stop()
    let stopped = source
    #expect(await failure { try await stopped?.next() }?.code == .interrupted)
    source = try StreamSource(FedPipe().reading, steps: [(10, 100)])
    source = nil
  }

  @Test("Of two concurrent callers the second gets an error, and no byte is lost")
  func twoAsk() async throws {
    let pipe = try FedPipe()
    pipe.write([1, 2, 3])
    let source = try StreamSource(pipe.reading, steps: [(10, 4)])
    let first = Task { try await source.next()?.copied() }
    try await until("three bytes are read") { source.bytesRead == 3 }
    #expect(await failure { try await source.next() }?.code == .local)
    pipe.write([4, 5])
    pipe.finish()
    #expect(try await first.value?.bytes == [1, 2, 3, 4])
    #expect(try await source.all() == [ReadPiece(number: 2, offset: 4, bytes: [5], isShort: false)])
  }

  @Test("Parts released out of order free memory one by one, and those still in use keep their bytes")
  func order() async throws {
    let bytes = randomBytes(1000, seed: 4)
    let pipe = try FedPipe()
    try pipe.feed(bytes, chunk: 333)
    let source = try StreamSource(pipe.reading, steps: [(10, 100)], concurrency: 3)
    var held: [Int: StreamPart] = [:]
    var seen = 0
    while let piece = try await source.next() {
      seen += 1
      held[piece.number] = piece.part
      #expect(source.ring.buffersInUse == held.count)
      guard held.count == 3 else { continue }
      for (number, part) in held {
        #expect(try part.allBytes() == Array(bytes[(number - 1) * 100..<number * 100]))
      }
      // The order is: the middle one, the newest, the oldest, …
      let numbers = held.keys.sorted()
      held.removeValue(forKey: numbers[[1, 2, 0][seen % 3]])?.release()
    }
    #expect(seen == 10)
    #expect(source.ring.peakBytes == 300)
  }

  @Test("Two tasks that release while a third reads never see another part's bytes")
  func parallel() async throws {
    let bytes = randomBytes(200_000, seed: 5)
    let pipe = try FedPipe()
    try pipe.feed(bytes, chunk: 4096)
    let source = try StreamSource(pipe.reading, steps: [(20, 1000), (100, 3000)], concurrency: 5)
    let wrong = try await withThrowingTaskGroup(of: Int.self) { group in
      while let piece = try await source.next() {
        group.addTask {
          defer { piece.part.release() }
          await Task.yield()
          let start = Int(piece.offset)
          return try piece.part.allBytes() == Array(bytes[start..<start + Int(piece.part.length)]) ? 0 : 1
        }
      }
      return try await group.reduce(0, +)
    }
    #expect(wrong == 0)
    #expect(source.ring.peakBytes <= 6000)
    #expect(source.ring.buffersInUse == 0)
  }
}
