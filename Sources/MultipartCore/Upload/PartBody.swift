/// The bytes of one part, wherever they are: sent piece by piece, and as often as it takes.
package protocol PartBody: BodySource {
  /// In one pass over the bytes.
  func checksums(_ algorithms: Set<ChecksumAlgorithm>) throws(Failure) -> [ChecksumAlgorithm: Checksum]
  /// Throws when what the bytes were read from is no longer what it was.
  func checkSource() throws(Failure)
}

extension PartSlice: PartBody {
  package func checkSource() throws(Failure) { try file.checkUnchanged() }
}
