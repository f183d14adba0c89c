import MultipartBasics

/// Compares a downloaded object with its entry in a manifest.
extension ManifestEntry {
  /// Throws if the bytes are not those that are listed. If the bytes are proven by the list, the result names that.
  func prove(_ part: PartFile, _ object: ObjectInfo, _ result: inout DownloadedObject) throws(Failure) {
    try check(object)
    var sums = FileSums(try part.source(), unless: { Task.isCancelled })
    switch try judge(object, { (algorithm) throws(Failure) in try sums.of(algorithm) }) {
    case .same(let match, _, ofBytes: true): result.evidence = "\(match) in the manifest matches the file"
    // The store's own checksum or ETag was compared with the bytes.
    case .same, .unknown: break
    case .different(let why): throw Self.different(why)
    }
  }
}
