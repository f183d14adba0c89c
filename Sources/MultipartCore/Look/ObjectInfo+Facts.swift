import MultipartBasics

extension ObjectInfo {
  /// The storage class, such as `GLACIER`; S3 does not return `STANDARD`, the default.
  public var storageClass: String? { headers.storageClass }

  /// A checksum as the store names it.
  public struct NamedSum: Sendable, Equatable {
    /// The algorithm, such as `CRC64NVME`.
    public let algorithm: String
    /// `FULL_OBJECT` or `COMPOSITE`; nil if the store does not say it.
    public let type: String?
    /// The value as the store writes it.
    public let value: String
  }

  /// The checksums, including those of unknown algorithms.
  public var sums: [NamedSum] {
    checksums.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }.map { name, value in
      let known = ChecksumAlgorithm.allCases.first { $0.headerName == name }
      let word = name.rest(after: ChecksumHeaders.prefix).map { $0.uppercased() } ?? name
      return NamedSum(
        algorithm: known?.awsName ?? word, type: known.flatMap(type(of:))?.rawValue ?? checksumTypeText, value: value)
    }
  }

  /// The answer's headers about the object that no other property shows, with lower-case names; several of one name are
  /// joined.
  public var others: [NamedValue] {
    var others: [NamedValue] = []
    for field in headers.fields {
      let name = field.name.lowercased()
      guard !Self.shown.contains(name), !Self.ofAnswer.contains(name),
        !Self.beginnings.contains(where: name.begins(with:))
      else { continue }
      if let index = others.firstIndex(where: { $0.name.utf8.elementsEqual(name.utf8) }) {
        others[index].value += ", \(field.value)"
      } else {
        others.append(NamedValue(name, field.value))
      }
    }
    return others
  }

  private static let shown: Set<String> = [
    "content-length", "content-range", "content-type", "etag", "last-modified", HeaderName.versionID,
    HeaderName.partsCount, HeaderName.storageClass, "x-goog-storage-class", "x-oss-storage-class",
  ]
  private static let beginnings = [
    HeaderName.metadata, ChecksumHeaders.prefix, HeaderName.encryption, "x-amz-object-lock-",
    "access-control-", "x-ratelimit-",
  ]
  /// Headers about the answer or its server rather than the object.
  private static let ofAnswer: Set<String> = [
    "accept-ranges", "age", "alt-svc", "connection", "content-security-policy", "date", "keep-alive", "server",
    "strict-transport-security", "transfer-encoding", "vary", "via", HeaderName.bucketRegion, "x-amz-id-2",
    "x-amz-request-charged", "x-amz-request-id", "x-cache", "x-content-type-options", "x-openstack-request-id",
    "x-timestamp", "x-trans-id", "x-xss-protection",
  ]
}

extension HeaderList {
  var storageClass: String? {
    self[HeaderName.storageClass] ?? self["x-goog-storage-class"] ?? self["x-oss-storage-class"]
  }
}
