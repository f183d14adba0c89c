import MultipartBasics

/// What shows that an object is still the one that was seen before. An ETag that is a hash shows it by itself. Any
/// other one may stay the same when the object is replaced, so the version and the time count too, as they do without
/// an ETag.
struct ObjectIdentity: Sendable, Equatable {
  var etag: ETag?
  var versionID: String?
  var modified: Timestamp?

  init(etag: String?, versionID: String? = nil, modified: Timestamp?) {
    (self.etag, self.versionID, self.modified) = (etag.flatMap(ETag.init), versionID, modified)
  }

  init(_ object: ObjectInfo) {
    self.init(etag: object.etag, versionID: object.versionID, modified: object.lastModified)
  }

  /// Whether an answer that has this identity is about a different object.
  func isReplaced(by given: ObjectIdentity) -> Bool {
    if let etag, let other = given.etag {
      if etag != other { return true }
      if etag.form != .opaque { return false }
    }
    if let versionID, let other = given.versionID, !versionID.utf8.elementsEqual(other.utf8) { return true }
    if let modified, let other = given.modified { return modified != other }
    return false
  }

  /// Whether these are two versions of an object: not if one of them has no id, or the one of buckets without versions.
  static func areDifferentVersions(_ one: String?, _ other: String?) -> Bool {
    guard let one, let other, one != "null", other != "null" else { return false }
    return !one.utf8.elementsEqual(other.utf8)
  }

  /// The identity in a record; nil if nothing identifies the object: an ETag that is no hash does not do so alone.
  var text: String? {
    if let etag, etag.form != .opaque { return etag.value }
    guard versionID != nil || modified != nil else { return nil }
    return [etag?.value, versionID, modified.map { String($0.seconds) }].map { $0 ?? "" }.joined(separator: " ")
  }
}
