import Glibc

/// A file without a name, mapped for reading, that a test can cut short under the mapping.
final class MappedFile: Sendable {
  let descriptor: Int32
  let length: Int
  nonisolated(unsafe) let start: UnsafeRawPointer

  struct Trouble: Error {
    var errno: Int32
  }

  init(_ bytes: [UInt8]) throws {
    var template = Array("/tmp/s3up-mapped-XXXXXX".utf8CString)
    let descriptor = mkstemp(&template)
    guard descriptor >= 0 else { throw Trouble(errno: errno) }
    unlink(&template)
    var written = 0
    while written < bytes.count {
      let count = bytes.withUnsafeBytes { write(descriptor, $0.baseAddress.map { $0 + written }, $0.count - written) }
      guard count > 0 else {
        close(descriptor)
        throw Trouble(errno: errno)
      }
      written += count
    }
    guard let start = mmap(nil, bytes.count, PROT_READ, MAP_SHARED, descriptor, 0), start != MAP_FAILED else {
      close(descriptor)
      throw Trouble(errno: errno)
    }
    self.descriptor = descriptor
    self.start = UnsafeRawPointer(start)
    length = bytes.count
  }

  deinit {
    munmap(UnsafeMutableRawPointer(mutating: start), length)
    close(descriptor)
  }

  func cut(to length: Int) throws {
    guard ftruncate(descriptor, off_t(length)) == 0 else { throw Trouble(errno: errno) }
  }
}

/// Bytes that Python makes the same way: `(i*i*31 + i*7 + 3) & 255`.
func pattern(_ count: Int) -> [UInt8] {
  (0..<count).map { UInt8(truncatingIfNeeded: $0 &* $0 &* 31 &+ $0 &* 7 &+ 3) }
}

/// A generator that gives the same numbers in every run, so that a failure can be seen again.
struct Dice: RandomNumberGenerator {
  var state: UInt64

  init(_ seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}
