import MultipartBasics

/// What a comparison asks of the store.
extension Store {
  /// The answer to a HEAD; nil if there is no object.
  func look(at key: String, _ options: VerifyOptions) async throws(Failure) -> ObjectInfo? {
    let head = HeadObject(address(key, customerKey: options.customerKey), versionID: options.versionID)
    guard case .exists(let object) = try await client.perform(head, retrying: retry) else { return nil }
    return object
  }

  /// Reads the whole object in order, and writes it nowhere.
  func readThrough(
    _ key: String, _ options: VerifyOptions, _ take: ([UInt8]) throws(Failure) -> Void
  ) async throws(Failure) -> DownloadedObject {
    var download = DownloadOptions()
    (download.versionID, download.customerKey) = (options.versionID, options.customerKey)
    download.partSize = options.rangeSize
    download.isComparedByReader = true
    let bytes = bytes(of: key, download).makeAsyncIterator()
    while let piece = try await bytes.next() { try take(piece) }
    guard let object = bytes.object else { throw Failure(.local, "the download ended without a result") }
    return object
  }
}

extension VerifiedObject {
  /// An object whose bytes were downloaded, or whose HEAD was enough.
  init(_ read: DownloadedObject?, _ object: ObjectInfo, evidence: String) {
    self.init(
      size: read?.size ?? object.size ?? 0, parts: object.partsCount ?? 1, etag: read?.etag ?? object.etag,
      versionID: read?.versionID ?? object.versionID, checksum: read?.checksum, evidence: evidence,
      requestID: read?.requestID ?? object.requestID)
  }
}
