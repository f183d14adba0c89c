/// What s3up can prove at each store: known values, so that a weaker proof is a failure.
enum Evidence {
  enum Checksum: String, Sendable, CaseIterable {
    case auto, crc64nvme, crc32c, crc32, sha256, sha1, md5, none

    /// The checksum's name as the store writes it; nil if it is not a checksum header.
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
      return "\(title)\(composite ? " (composite)" : "") matches the store's"
    }
    // Without a returned checksum a HEAD is sent, and its ETag is compared with the MD5 of the bytes.
    if !inParts { return "ETag is the MD5 of the bytes" }
    let whole = "ETag matches the parts"
    guard checksum == .none else { return whole + ", each of whose ETags is the MD5 of its bytes" }
    // Over HTTP the signature covers the SHA-256 of each part.
    return whole
      + (store.scheme == .http ? ", each sent with a signed SHA-256" : "; the store shows no checksum of them")
  }
}

extension Store {
  /// Whether the store computes the checksum that was sent and returns it; the others do not mention it.
  var verifiesChecksums: Bool { name == .seaweedfs }
}
