import MultipartBasics

/// Compares a file that is, or becomes, an object's with the object's entry in a manifest.
extension ManifestEntry {
  /// Throws unless the object and the file's bytes are what is listed. If the list proves the bytes, the result names
  /// that.
  func prove(
    _ sums: inout FileSums, _ object: ObjectInfo, etagMayBeMD5: Bool, _ result: inout DownloadedObject
  ) throws(Failure) {
    try check(object)
    let verdict = try judge(object, etagMayBeMD5: etagMayBeMD5) { (algorithm) throws(Failure) in
      try sums.of(algorithm)
    }
    switch verdict {
    case .same(let match, _, .bytes): result.evidence = "\(match) in the manifest matches the file"
    // The store's CRC may be that of bytes that have been damaged since the listed ETag was made.
    case .same(_, nil, .store) where result.checksum != nil && listsMD5:
      if contradicts(try sums.of(.md5)) { throw Self.different(Self.damaged) }
    // The store's own checksum or ETag was compared with the bytes.
    case .same: break
    case .different(let why): throw Self.different(why)
    case .unknown where checksum == nil && etag == nil: break
    case .unknown(let lack):
      throw Failure(
        .dataMismatch, "nothing shows that the object is the one that the manifest lists: \(lack)",
        remedy: "download it without the manifest, and compare it with what else you have of it")
    }
  }

  /// All that is listed of the object.
  var digest: String {
    [size.map { "\($0)" }, etag, versionID, checksum.map { "\($0.title) \($0.value)" }, sha256?.hex]
      .map { $0 ?? "" }.joined(separator: "\0")
  }
}
