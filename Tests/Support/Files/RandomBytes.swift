import Foundation

/// Pseudo-random bytes that depend on the seed: SplitMix64, eight bytes per step.
package struct SeededRandom: RandomNumberGenerator, Sendable {
  private var state: UInt64

  package init(seed: UInt64) {
    state = seed
  }

  package mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }

  /// A number in 0..<1.
  package mutating func unit() -> Double {
    Double(next() >> 11) / Double(1 << 53)
  }
}

/// `count` bytes that depend only on the seed.
package func randomBytes(_ count: Int, seed: UInt64) -> [UInt8] {
  // The standard library would write the count of all empty arrays, which a thread sanitizer reports.
  guard count > 0 else { return [] }
  var generator = SeededRandom(seed: seed)
  return [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
    guard let base = UnsafeMutableRawPointer(buffer.baseAddress) else { return }
    var at = 0
    while at + 8 <= count {
      base.storeBytes(of: generator.next().littleEndian, toByteOffset: at, as: UInt64.self)
      at += 8
    }
    var rest = generator.next()
    while at < count {
      base.storeBytes(of: UInt8(truncatingIfNeeded: rest), toByteOffset: at, as: UInt8.self)
      rest >>= 8
      at += 1
    }
    filled = count
  }
}

/// Compares as memory: without optimization, the standard library's comparison calls several functions for each byte.
package func == (left: [UInt8], right: [UInt8]) -> Bool {
  guard left.count == right.count else { return false }
  return left.withUnsafeBytes { left in
    right.withUnsafeBytes { right in
      guard let first = left.baseAddress, let second = right.baseAddress else { return true }
      return memcmp(first, second, left.count) == 0
    }
  }
}

package func == (left: [UInt8]?, right: [UInt8]?) -> Bool {
  switch (left, right) {
  case (let left?, let right?): left == right
  case (nil, nil): true
  default: false
  }
}
