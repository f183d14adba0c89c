import Glibc
import Testing

@testable import MultipartCore

@Suite struct WindowBufferTests {
  @Test(
    "A window holds what it is asked for and no more than a window is",
    arguments: [0, 1, 1024, WindowBuffer.size / 8, WindowBuffer.size / 8 + 1, WindowBuffer.size, 1 << 40])
  func holds(length: Int64) throws {
    let count = Int(min(length, WindowBuffer.size))
    // Several at once, each full of its own number: no byte is two windows'.
    let windows = try (1...6).map { number in
      let window = try WindowBuffer(upTo: length)
      memset(try #require(window.start), Int32(number), count)
      return window
    }
    for (number, window) in zip(UInt8(1)..., windows) { #expect(window.bytes(count).allSatisfy { $0 == number }) }
  }

  @Test("What nobody uses is kept for a few, and the rest goes back")
  func kept() throws {
    var windows = try (0..<20).map { _ in try WindowBuffer(upTo: .max) }
    windows.removeAll()
    #expect((0...WindowBuffer.mostSpare).contains(WindowBuffer.spares))
    // The bytes of the one before are in it; nothing relies on what they are.
    let again = try WindowBuffer(upTo: .max)
    memset(try #require(again.start), 7, Int(WindowBuffer.size))
    #expect(again.bytes(Int(WindowBuffer.size)).allSatisfy { $0 == 7 })
  }
}
