import MultipartCore

/// Refuses options that S3 Express One Zone does not support before a byte is read: the store would silently ignore
/// some, and refuse the others only at the end.
enum DirectoryBucket {
  static func check(_ session: Session, _ store: Store) throws(Failure) {
    guard store.isDirectoryBucket else { return }
    let (invocation, options) = (session.invocation, session.options.upload)
    let missing: [(FlagName, String)] = [
      (.sseCKeyFile, "SSE-C"), (.tag, "tags"), (.acl, "ACLs"), (.grant, "ACLs"), (.objectLockMode, "Object Lock"),
      (.retainUntil, "Object Lock"), (.legalHold, "Object Lock"), (.websiteRedirect, "websites"),
      (.requestPayer, "requester pays"),
    ]
    for (name, what) in missing where invocation.has(name) {
      if name == .requestPayer, invocation.toggle(name) == false { continue }
      throw refusal("no \(what)", name)
    }
    if options.checksum == .md5 {
      throw refusal("no MD5", .checksum, "use another --checksum, such as crc64nvme")
    }
    if let storage = options.object.storageClass, storage.uppercased() != "EXPRESS_ONEZONE" {
      throw refusal("the storage class EXPRESS_ONEZONE alone", .storageClass)
    }
  }

  private static func refusal(_ what: String, _ name: FlagName, _ remedy: String? = nil) -> Failure {
    Failure(.usage, "directory buckets have \(what)", remedy: remedy ?? "leave --\(name.rawValue) out")
  }
}
