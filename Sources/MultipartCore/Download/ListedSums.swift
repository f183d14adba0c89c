/// What a manifest says of an object shows whether this is still it.
extension ManifestEntry {
  /// Before anything is loaded.
  func check(_ object: ObjectInfo) throws(Failure) {
    guard let size, let given = object.size, given != size else { return }
    throw Self.different("the object has \(given) bytes, and the manifest lists \(size)")
  }

  /// Throws if the bytes are not those that are listed. The result says by what that was shown, if the bytes are.
  func prove(_ part: PartFile, _ object: ObjectInfo, _ result: inout DownloadedObject) throws(Failure) {
    try check(object)
    var sums = FileSums(try part.source(), unless: { Task.isCancelled })
    if let sha256 {
      guard try sums.of(.sha256) == sha256 else { throw Self.different("its SHA-256 is not the one that is listed") }
      result.evidence = "SHA-256 \(sha256.hex) that the manifest lists is the file's"
      return
    }
    if let checksum {
      switch checksum.type {
      case .fullObject:
        guard let listed = Checksum(checksum.algorithm, base64: checksum.value) else { break }
        guard try sums.of(checksum.algorithm) == listed else {
          throw Self.different("its \(checksum.title) is not the one that is listed")
        }
        result.evidence = "\(checksum.title) \(checksum.value) that the manifest lists is the file's"
        return
      case .composite:
        // The store's own was compared with the bytes.
        guard let given = object.checksums[checksum.algorithm.headerName] else { break }
        guard given.utf8.elementsEqual(checksum.value.utf8) else {
          throw Self.different("its \(checksum.title) is not the one that is listed")
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
