import Glibc

/// Memory of one window of a file that is summed, given back with its last reference.
///
/// A whole window is a mapping (`mmap`, `munmap`), kept for the next part that wants one. Each part takes one: as aligned
/// memory of malloc's, which does not find again what was freed, they came to fifteen megabytes.
final class WindowBuffer: Sendable {
  /// Stays in the second-level cache between the kernel's copy and the sums, also when there are two.
  static let size: Int64 = 128 << 10

  /// Where those that nobody uses begin.
  private static let spare = Locked<[UInt]>([])
  static let mostSpare = 4

  static var spares: Int { spare.withLock { $0.count } }

  private let address: UInt
  private let isWhole: Bool

  init(upTo length: Int64) throws(Failure) {
    // A file that is small needs no mapping.
    isWhole = length > Self.size / 8
    guard isWhole else {
      address = UInt(bitPattern: UnsafeMutableRawPointer.allocate(byteCount: max(1, Int(length)), alignment: 16))
      return
    }
    if let spare = Self.spare.withLock({ $0.popLast() }) {
      address = spare
      return
    }
    let protection = PROT_READ | PROT_WRITE
    guard let start = mmap(nil, Int(Self.size), protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), start != MAP_FAILED
    else {
      throw Failure(.local, "no memory to read the file into: " + String(cString: strerror(errno)))
    }
    address = UInt(bitPattern: start)
  }

  deinit {
    guard isWhole else {
      start?.deallocate()
      return
    }
    let isKept = Self.spare.withLock { spare in
      guard spare.count < Self.mostSpare else { return false }
      spare.append(address)
      return true
    }
    if !isKept { munmap(start, Int(Self.size)) }
  }

  var start: UnsafeMutableRawPointer? { UnsafeMutableRawPointer(bitPattern: address) }

  func bytes(_ count: Int) -> UnsafeMutableRawBufferPointer {
    UnsafeMutableRawBufferPointer(start: start, count: count)
  }
}
