import MultipartBasics

/// Compares an object with its entry in a manifest.
extension ManifestEntry {
  /// Checks the object before anything is downloaded.
  func check(_ object: ObjectInfo) throws(Failure) {
    guard let size, let given = object.size, given != size else { return }
    throw Self.different("the object has \(given) bytes, and the manifest lists \(size)")
  }

  /// Throws if the bytes are not those that are listed. If the bytes are proven, the result contains the evidence.
  func prove(_ part: PartFile, _ object: ObjectInfo, _ result: inout DownloadedObject) throws(Failure) {
    try check(object)
    var sums = FileSums(try part.source(), unless: { Task.isCancelled })
    if let sha256 {
      guard try sums.of(.sha256) == sha256 else { throw Self.different("its SHA-256 is not the listed one") }
      result.evidence = "SHA-256 \(sha256.hex) in the manifest matches the file"
      return
    }
    if let checksum {
      switch checksum.type {
      case .fullObject:
        guard let listed = Checksum(checksum.algorithm, base64: checksum.value) else { break }
        guard try sums.of(checksum.algorithm) == listed else {
          throw Self.different("its \(checksum.title) is not the listed one")
        }
        result.evidence = "\(checksum.title) \(checksum.value) in the manifest matches the file"
        return
      case .composite:
        // The store's own checksum was compared with the bytes.
        guard let given = object.checksums[checksum.algorithm.headerName] else { break }
        guard given.utf8.elementsEqual(checksum.value.utf8) else {
          throw Self.different("its \(checksum.title) is not the listed one")
        }
        return
      }
    }
    guard let etag, let given = object.etag, ETag(given) != ETag(etag) else { return }
    throw Self.different("its ETag is \(SafeText.oneLine(given)), and the manifest lists \(SafeText.oneLine(etag))")
  }

  private static func different(_ why: Wording) -> Failure {
    Failure(
      .dataMismatch, "the object is not the one that the manifest lists: " + why,
      remedy: "nothing was written under the target's name; it was replaced or damaged since the manifest was written")
  }
}
