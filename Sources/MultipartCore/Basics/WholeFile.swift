import Glibc

enum WholeFile {
  /// Reads a descriptor to its end (`read`), but stops once it has more than `most` bytes. Nil: `errno` has the reason.
  static func read(_ descriptor: Int32, most: Int) -> [UInt8]? {
    // Not a zeroed array: small files are read at each start, and zeroing its pages would cost more than reading them.
    withUnsafeTemporaryAllocation(byteCount: 16 << 10, alignment: 16) { piece in
      var bytes: [UInt8] = []
      while bytes.count <= most {
        let count = Glibc.read(descriptor, piece.baseAddress, piece.count)
        if count == 0 { break }
        if count > 0 {
          bytes.append(contentsOf: UnsafeRawBufferPointer(rebasing: piece[..<count]))
        } else if errno != EINTR {
          return nil
        }
      }
      return bytes
    }
  }
}
