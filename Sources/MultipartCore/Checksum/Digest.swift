/// Digests of bytes that are all in memory.
package enum Digest {
  package static func sha256(_ bytes: some Sequence<UInt8>) throws(Failure) -> [UInt8] {
    try digest(.sha256, bytes)
  }

  package static func sha256(_ text: String) throws(Failure) -> [UInt8] {
    try digest(.sha256, text.utf8)
  }

  package static func md5(_ bytes: some Sequence<UInt8>) throws(Failure) -> [UInt8] {
    try digest(.md5, bytes)
  }

  private static func digest(
    _ algorithm: ChecksumAlgorithm, _ bytes: some Sequence<UInt8>
  ) throws(Failure) -> [UInt8] {
    let context = try DigestContext(algorithm)
    let done: Void? = bytes.withContiguousStorageIfAvailable { context.update(UnsafeRawBufferPointer($0)) }
    if done == nil { Array(bytes).withUnsafeBytes { context.update($0) } }
    return try context.finish()
  }
}
