import Foundation
import Support
import Testing

@testable import MultipartCore

@Suite(.timeLimit(.minutes(15))) struct StreamPartTests {
  private func parts(_ bytes: [UInt8], size: Int64, concurrency: Int = 4) throws -> StreamSource {
    let pipe = try FedPipe()
    try pipe.feed(bytes, chunk: 10_000)
    return try StreamSource(pipe.reading, steps: [(10, size)], concurrency: concurrency)
  }

  @Test("The checksums of a part are those of its bytes")
  func checksums() async throws {
    let bytes = randomBytes(200_001, seed: 7)
    let source = try parts(bytes, size: 100_000)
    while let piece = try await source.next() {
      let slice = bytes[Int(piece.offset)...].prefix(Int(piece.part.length))
      let sums = try piece.part.checksums(Set(ChecksumAlgorithm.allCases))
      for algorithm in ChecksumAlgorithm.allCases {
        var sum = try RunningChecksum(algorithm)
        sum.update(slice)
        #expect(sums[algorithm] == (try sum.finish()))
      }
      #expect(try piece.part.leadingBytes(4) == Array(slice.prefix(4)))
      piece.part.release()
    }
  }

  @Test("A part can be read again and from any offset, but not beyond its end")
  func reading() async throws {
    let bytes = randomBytes(1000, seed: 8)
    let part = try #require(try await parts(bytes, size: 5000).next()).part
    #expect(try part.allBytes() == bytes)
    #expect(try part.allBytes() == bytes)
    var buffer = [UInt8](repeating: 0, count: 100)
    for (offset, count) in [(0, 100), (950, 50), (999, 1), (1000, 0), (5000, 0), (-1, 0)] {
      let read = buffer.withUnsafeMutableBytes { bytes in
        Result { () throws(Failure) in try part.read(into: bytes, at: Int64(offset)) }
      }
      #expect(try read.get() == count)
      #expect(count == 0 || Array(buffer[..<count]) == Array(bytes[offset..<offset + count]))
    }
  }

  @Test("A released part gives an error, not another part's bytes")
  func released() async throws {
    let source = try parts(randomBytes(300, seed: 9), size: 100, concurrency: 2)
    let part = try #require(try await source.next()).part
    part.release()
    part.release()
    #expect(source.ring.buffersInUse == 0)
    let (second, third) = (try await source.next(), try await source.next())
    #expect(source.ring.buffersInUse == 2)
    #expect(await failure { try part.allBytes() }?.code == .interrupted)
    #expect(await failure { try part.checksums([.crc32c]) }?.code == .interrupted)
    withExtendedLifetime((second, third)) {}
  }

  @Test("A part that is released while it is read stays until the reader is done")
  func releasedInUse() async throws {
    let source = try parts(randomBytes(300, seed: 10), size: 100)
    let part = try #require(try await source.next()).part
    try part.withBytes { bytes in
      part.release()
      #expect(source.ring.buffersInUse == 1)
      #expect(bytes.elementsEqual(randomBytes(300, seed: 10)[..<100]))
    }
    #expect(source.ring.buffersInUse == 0)
  }

  @Test("A part without a reference returns its memory")
  func forgotten() async throws {
    let source = try parts(randomBytes(1000, seed: 11), size: 100, concurrency: 2)
    var seen = 0
    while try await source.next() != nil { seen += 1 }
    #expect(seen == 10)
  }

  @Test("Small parts in use count towards the memory of larger ones")
  func mixedSizes() async throws {
    let plan = try StreamPlan(steps: [.init(parts: 4, size: 4096), .init(parts: 4, size: 8192)])
    let ring = PartRing(plan: plan, concurrency: 4)
    var small: [StreamBuffer] = []
    for _ in 0..<4 { small.append(try await ring.acquire(4096)) }
    let large = Task { try await ring.acquire(8192) }
    for count in 1...2 {
      try await until("the reader waits for memory") { ring.waiting == 1 }
      #expect(ring.bytesInUse == Int64(5 - count) * 4096)
      ring.giveBack(small.removeLast())
    }
    #expect(try await large.value.size == 8192)
    #expect(ring.bytesInUse == 16_384)
    #expect(ring.peakBytes == 16_384)
  }

  @Test("A gibibyte through four parts of 8 MiB needs the memory of four parts")
  func memory() async throws {
    await #expect(processExitsWith: .success) {
      let pipe = try FedPipe()
      let block = randomBytes(1 << 20, seed: 12)
      let before = residentPeak()
      try PosixThread.start {
        for _ in 0..<1024 { pipe.write(block) }
        pipe.finish()
      }.detach()
      let source = try StreamSource(pipe.reading, steps: [(1000, 8 << 20)])
      var held: [StreamPart] = []
      while let piece = try await source.next() {
        held.append(piece.part)
        if held.count == 4 { held.removeFirst().release() }
      }
      #expect(source.bytesRead == 1 << 30)
      #expect(source.ring.peakBytes == 32 << 20)
      // ThreadSanitizer needs several bytes for each byte that is touched.
      if dlsym(nil, "__tsan_init") == nil, dlsym(nil, "__asan_init") == nil {
        #expect(residentPeak() - before < (32 + 16) << 20)
        #expect(residentPeak() - before > 24 << 20)
      }
    }
  }
}

/// The peak of this process's memory, in bytes.
private func residentPeak() -> Int {
  let text = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
  let line = text.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
  return (line?.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0) * 1024
}
