import Glibc
import MultipartBasics

/// Downloads an object, in the memory of a few ranges, and compares every byte with a file.
struct ByteCheck: Sendable {
  let store: Store
  let file: SourceFile
  let key: String
  let options: VerifyOptions

  func run() async throws(Failure) -> Verification {
    guard let object = try await store.look(at: key, options) else { return .absent }
    if let size = object.size, size != file.size { return .different(why: file.differs(from: size)) }
    let slice = PartSlice(file: file, offset: 0, length: file.size)
    var position: Int64 = 0
    do throws(Failure) {
      let read = try await store.readThrough(key, options) { (piece) throws(Failure) in
        if let at = try slice.firstDifference(from: piece, at: position) {
          try file.checkUnchanged()
          throw Failure(.dataMismatch, "byte \(at) of the object differs from the file's, counted from 0")
        }
        position += Int64(piece.count)
      }
      try slice.checkWhole()
      try file.checkUnchanged()
      guard position == file.size else { return .different(why: file.differs(from: position)) }
      let doubt = read.isContradicted ? ", although the store gives a checksum or ETag of other bytes" : ""
      return .same(VerifiedObject(read, object, evidence: "every byte was downloaded and compared" + doubt))
    } catch {
      guard error.code == .dataMismatch else { throw error }
      return .different(why: "\(error.message)")
    }
  }
}

extension SourceFile {
  func differs(from size: Int64) -> String { "the object has \(size) bytes, the file \(self.size)" }
}

extension PartSlice {
  /// The position of the first byte that differs from the given ones, which begin at `position`; that of the end if
  /// there are fewer here.
  fileprivate func firstDifference(from bytes: [UInt8], at position: Int64) throws(Failure) -> Int64? {
    var done = 0
    while done < bytes.count {
      let begin = position + Int64(done)
      guard begin < length else { return length }
      let piece = try piece(at: begin, min(Self.step, bytes.count - done))
      let difference = bytes.withUnsafeBytes { bytes -> Int? in
        let given = UnsafeRawBufferPointer(rebasing: bytes[done...])
        guard let first = given.baseAddress, let own = piece.bytes.baseAddress,
          memcmp(own, first, piece.bytes.count) != 0
        else { return nil }
        return piece.bytes.indices.first { piece.bytes[$0] != given[$0] }
      }
      try piece.window.check()
      if let difference { return begin + Int64(difference) }
      piece.window.release(before: offset + begin)
      done += piece.bytes.count
    }
    return nil
  }
}
