/// One object in a manifest.
struct ManifestEntry: Sendable {
  var key: String
  /// The size, which lines for `sha256sum` do not contain.
  var size: Int64?
  var etag: String?
  var versionID: String?
  var checksum: ObjectChecksum?
  var sha256: Checksum?
}
