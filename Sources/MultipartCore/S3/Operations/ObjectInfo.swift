import MultipartBasics

/// What a store says about an object.
public struct ObjectInfo: Sendable, Equatable, StoredChecksums {
  /// The size of the whole object in bytes; nil if the store does not say.
  public var size: Int64?
  /// The ETag as the store sends it, including the quotes.
  public var etag: String?
  /// The checksums by lower-case header name; those of the part if one was requested.
  public var checksums: [String: String]
  /// What the checksums cover; nil also if the store names an unknown type.
  public var checksumType: ChecksumType? { checksumTypeText.flatMap(ChecksumType.init(awsName:)) }
  /// The checksum type as the store writes it.
  var checksumTypeText: String?
  /// How many parts it was made of; S3 includes this only if a part was requested.
  public var partsCount: Int?
  /// The version's id, if the bucket keeps versions.
  public var versionID: String?
  /// When it was last modified, by the store's clock.
  public var lastModified: Timestamp?
  /// The content type, such as `image/png`.
  public var contentType: String?
  /// The metadata: names without `x-amz-meta-`, in lower case; values decoded.
  public var metadata: [NamedValue]
  /// How the store encrypts it.
  public var encryption: EncryptionInfo
  var headers: HeaderList
  /// The request id under which the store logs the request.
  public var requestID: String?

  init(_ answer: Response) {
    let headers = answer.headers
    // For a range or a part, Content-Length is only that of the range; the whole size is after the slash.
    let total = headers["Content-Range"]?.words(between: "/").last.flatMap { Self.count(String($0)) }
    let isRange = answer.status == 206 || headers["Content-Range"] != nil
    size = isRange ? total : headers.contentLength
    etag = ETag.text(headers.sole("ETag"))
    checksums = ChecksumHeaders.values(in: headers)
    checksumTypeText = headers[HeaderName.checksumType]
    partsCount = headers[HeaderName.partsCount].flatMap { Int(ASCII.trimmed($0), in: 0 ... .max) }
    versionID = headers[HeaderName.versionID]
    lastModified = headers["Last-Modified"].flatMap(DateText.http)
    contentType = headers["Content-Type"]
    metadata = headers.fields.compactMap { field in
      guard let name = field.name.lowercased().rest(after: HeaderName.metadata) else { return nil }
      return NamedValue(String(name), EncodedWord.decode(field.value))
    }
    encryption = EncryptionInfo(headers)
    self.headers = headers
    requestID = S3ErrorBody.requestID(headers)
  }

  /// Storage classes whose objects have to be restored before they can be read.
  static let archives: Set<String> = ["GLACIER", "DEEP_ARCHIVE"]

  /// Whether it has to be restored before it can be read.
  var isArchived: Bool {
    let isStored =
      Self.archives.contains(headers[HeaderName.storageClass]?.uppercased() ?? "")
      || headers["x-amz-archive-status"] != nil
    return isStored && !(headers["x-amz-restore"] ?? "").contains("ongoing-request=\"false\"")
  }

  /// The information that a list contains.
  init(_ listed: ListedObject) {
    self.init(Response(status: 200))
    (size, etag, lastModified) = (listed.size, listed.etag, listed.lastModified)
  }

  private static func count(_ text: String) -> Int64? {
    Int64(ASCII.trimmed(text), in: 0 ... .max)
  }

  /// The position and the length of the requested part in the object.
  var placeOfPart: (start: Int64, length: Int64)? {
    guard let text = headers["Content-Range"]?.rest(after: "bytes "), let place = text.words(between: "/").first else {
      return nil
    }
    let ends = String(place).words(between: "-").map { Self.count(String($0)) }
    guard ends.count == 2, let first = ends[0], let last = ends[1], first <= last, last < size ?? 0 else { return nil }
    return (first, last - first + 1)
  }

  /// Whether the requested part is not the whole object.
  var isPartOnly: Bool { placeOfPart.map { $0.length != size } ?? false }

  /// The information that proves the bytes of a part: a checksum of its own, and nothing that is about the object.
  var asPart: ObjectInfo {
    var part = self
    (part.etag, part.checksumTypeText, part.metadata) = (nil, nil, [])
    return part
  }
}
