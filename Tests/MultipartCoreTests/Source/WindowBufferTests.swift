import Glibc
import Testing

@testable import MultipartCore

@Suite(.timeLimit(.minutes(15))) struct WindowBufferTests {
  @Test(
    "A window buffer has the requested size, up to that of a window",
    arguments: [0, 1, 1024, WindowBuffer.size / 8, WindowBuffer.size / 8 + 1, WindowBuffer.size, 1 << 40])
  func holds(length: Int64) throws {
    let count = Int(min(length, WindowBuffer.size))
    // Several at once, each filled with its own number, so that windows that overlap are noticed.
    let windows = try (1...6).map { number in
      let window = try WindowBuffer(upTo: length)
      memset(window.start, Int32(number), count)
      return window
    }
    for (number, window) in zip(UInt8(1)..., windows) { #expect(window.bytes(count).allSatisfy { $0 == number }) }
  }

  @Test("A few unused windows are kept and reused, and the rest is unmapped")
  func kept() throws {
    let pool = WindowPool(most: 4)
    var windows = try (0..<6).map { _ in try WindowBuffer(upTo: .max, from: pool) }
    #expect(pool.counts == (0, 6))
    let pages = windows.map(\.start)
    windows.removeAll()
    #expect(pool.counts == (4, 4))
    #expect(pages.count { Self.isMapped($0) } >= 4)
    windows = try (0..<4).map { _ in try WindowBuffer(upTo: .max, from: pool) }
    #expect(pool.counts == (0, 4))
    #expect(Set(windows.map(\.start)).isSubset(of: pages))
    windows.append(try WindowBuffer(upTo: 1, from: pool))
    #expect(pool.counts == (0, 4), "a small one is no mapping")
  }

  /// `mincore` knows only pages that are mapped.
  private static func isMapped(_ page: UnsafeMutableRawPointer) -> Bool {
    var answer: UInt8 = 0
    return mincore(page, 1, &answer) == 0
  }
}
