/// One object in a manifest.
struct ManifestEntry: Sendable {
  var key: String
  /// The size, which lines for `sha256sum` do not contain.
  var size: Int64?
  var etag: String?
  var versionID: String?
  var checksum: ObjectChecksum?
  var sha256: Checksum?

  init(
    key: String, size: Int64? = nil, etag: String? = nil, versionID: String? = nil, checksum: ObjectChecksum? = nil,
    sha256: Checksum? = nil
  ) {
    self.key = key
    self.size = size
    self.etag = etag
    self.versionID = versionID
    self.checksum = checksum
    self.sha256 = sha256
  }
}
