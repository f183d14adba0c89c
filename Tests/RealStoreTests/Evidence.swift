/// What s3up can prove at each store: known values, so that a weaker proof shows as a failure.
enum Evidence {
  enum Checksum: String, Sendable, CaseIterable {
    case auto, crc64nvme, crc32c, crc32, sha256, sha1, md5, none

    /// The store's name of it; nil if it is not a checksum header.
    var title: String? {
      switch self {
      case .auto: "CRC64NVME"
      case .md5, .none: nil
      default: rawValue.uppercased()
      }
    }
  }

  static func of(_ checksum: Checksum, _ store: Store, inParts: Bool) -> String {
    if store.verifiesChecksums, let title = checksum.title {
      let composite = inParts && checksum != .auto && checksum != .crc64nvme
      return "\(title)\(composite ? " (composite)" : "") of the object, given back by the store"
    }
    // Without a returned checksum a HEAD is made, and its ETag is compared with the MD5 of the bytes.
    if !inParts { return "ETag of the object is the MD5 of the bytes" }
    let whole = "ETag of the object is made of its parts'"
    guard checksum == .none else { return whole + ", each the MD5 of its bytes" }
    // Over HTTP the signature covers the SHA-256 of each part.
    return whole
      + (store.scheme == .http ? ", each by a SHA-256 that was signed" : "; the store verified no checksum of them")
  }
}

extension Store {
  /// It computes the checksum that was sent and returns it; the others do not mention it.
  var verifiesChecksums: Bool { name == .seaweedfs }
}
