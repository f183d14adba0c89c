import MultipartBasics

/// What the object must be, according to the bytes that were read and the store's answer for each part.
struct Expectation: Sendable {
  var size: Int64
  var parts: Int
  /// The checksum of the whole object, in the form that stores use.
  var sum: ObjectChecksum?
  /// The ETag that S3 computes from the parts' MD5s, or the MD5 of the bytes; nil if they are not known.
  var etag: ETag?
  var weakest: PartProof

  /// The expectation for a multipart upload, from its receipts in order.
  init(receipts: [PartReceipt]) throws(Failure) {
    size = receipts.reduce(0) { $0.plus($1.size) }
    parts = receipts.count
    weakest = receipts.map(\.proof).min() ?? .none
    sum = try Self.sum(receipts)
    var md5s: [[UInt8]] = []
    for receipt in receipts {
      guard case .md5(let md5)? = ETag(receipt.etag)?.form else { break }
      md5s.append(md5)
    }
    etag = md5s.count == receipts.count ? ETag(try MultipartETag.of(md5s: md5s)) : nil
  }

  /// The expectation for a PutObject.
  init(size: Int64, checksum: Checksum?, md5: Checksum?, proof: PartProof) {
    self.size = size
    parts = 1
    weakest = proof
    sum = checksum.map { ObjectChecksum($0.algorithm, .fullObject, $0.base64) }
    etag = md5.flatMap { ETag($0.hex) }
  }

  /// The expectation for a PutObject that has not been answered yet.
  init(size: Int64, form: ChecksumForm, sums: [ChecksumAlgorithm: Checksum]) {
    var checksum: Checksum?
    if case .algorithm(let algorithm) = form { checksum = sums[algorithm] }
    self.init(size: size, checksum: checksum, md5: sums[.md5], proof: .none)
  }

  private static func sum(_ receipts: [PartReceipt]) throws(Failure) -> ObjectChecksum? {
    let sums = receipts.compactMap(\.checksum)
    guard let algorithm = sums.first?.algorithm, sums.count == receipts.count,
      sums.allSatisfy({ $0.algorithm == algorithm })
    else { return nil }
    switch algorithm.typeInParts {
    case .composite:
      return ObjectChecksum(algorithm, .composite, try CompositeChecksum(of: sums).text)
    case .fullObject:
      let pieces: [(checksum: Checksum, length: Int64)] = Array(zip(sums, receipts.map(\.size)))
      return CRCCombiner.combine(algorithm, pieces)
        .map { ObjectChecksum(algorithm, .fullObject, $0.base64) }
    case nil: return nil
    }
  }
}

/// What a store says about an object, in its answer to complete, PutObject or HEAD.
struct ReportedObject: Sendable, StoredChecksums {
  var size: Int64?
  var etag: String?
  var checksums: [String: String]
  var checksumTypeText: String?
  /// How many parts it was made of, if a header says so.
  var partsCount: Int?
  var versionID: String?
  var requestID: String?

  init(
    size: Int64? = nil, etag: String? = nil, checksums: [String: String] = [:], checksumTypeText: String? = nil,
    partsCount: Int? = nil, versionID: String? = nil, requestID: String? = nil
  ) {
    self.size = size
    self.etag = etag
    self.checksums = checksums
    self.checksumTypeText = checksumTypeText
    self.partsCount = partsCount
    self.versionID = versionID
    self.requestID = requestID
  }

  init(_ object: WrittenObject) {
    self.init(
      etag: object.etag, checksums: object.checksums, checksumTypeText: object.checksumType,
      versionID: object.versionID,
      requestID: object.requestID)
  }

  init(_ object: ObjectInfo) {
    self.init(
      size: object.size, etag: object.etag, checksums: object.checksums, checksumTypeText: object.checksumTypeText,
      partsCount: object.partsCount, versionID: object.versionID, requestID: object.requestID)
  }
}
