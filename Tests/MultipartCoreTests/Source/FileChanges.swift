import Foundation
@testable import MultipartCore
import Support

func resize(_ path: String, _ size: Int) throws {
  guard truncate(path, off_t(size)) == 0 else { throw SystemError("truncate") }
}

/// Writes into the existing file, as a program does that changes it in place.
func overwrite(_ path: String, _ bytes: [UInt8], at offset: Int = 0) throws {
  let file = open(path, O_WRONLY | O_CLOEXEC)
  guard file >= 0 else { throw SystemError("open") }
  defer { close(file) }
  guard pwrite(file, bytes, bytes.count, off_t(offset)) == bytes.count else { throw SystemError("pwrite") }
}

extension PartSlice {
  /// Reads the slice from its beginning, `step` bytes at a time.
  func readAll(step: Int) throws(Failure) -> [UInt8] {
    var all: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: step)
    while Int64(all.count) < length {
      let result = buffer.withUnsafeMutableBytes { bytes in
        Result { () throws(Failure) in try read(into: bytes, at: Int64(all.count)) }
      }
      let count = try result.get()
      guard count > 0 else { break }
      all += buffer[..<count]
    }
    return all
  }
}
