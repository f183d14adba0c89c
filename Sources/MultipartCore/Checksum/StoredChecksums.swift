import MultipartBasics

/// What a store says about an object's checksums, in whichever answer.
protocol StoredChecksums {
  /// The checksums by lower-case header name.
  var checksums: [String: String] { get }
  /// The checksums' type as the store writes it.
  var checksumTypeText: String? { get }
  var etag: String? { get }
}

extension StoredChecksums {
  var parsedETag: ETag? { etag.flatMap(ETag.init) }

  /// The type of a checksum. If the store does not name it, the form shows it: composite checksums end with `-N`.
  func type(of algorithm: ChecksumAlgorithm) -> ChecksumType? {
    guard algorithm != .md5, let named = checksums[algorithm.headerName].flatMap(namedType) else { return nil }
    return algorithm.typeInParts == .fullObject ? .fullObject : named
  }

  private func namedType(of given: String) -> ChecksumType? {
    if let checksumTypeText, !checksumTypeText.isEmpty { return ChecksumType(awsName: checksumTypeText) }
    return given.utf8.contains(UInt8(ascii: "-")) ? .composite : .fullObject
  }

  /// Whether other bytes have another checksum than this one. SeaweedFS appends the number of parts also to a checksum of
  /// the whole object; another store could mean something else by that, so then only an equal value counts.
  func refutes(_ algorithm: ChecksumAlgorithm) -> Bool {
    checksums[algorithm.headerName].flatMap(namedType) == type(of: algorithm)
  }

  /// The checksum of the whole object; nil if there is none.
  func wholeChecksum(_ algorithm: ChecksumAlgorithm) -> Checksum? {
    guard type(of: algorithm) == .fullObject, let text = checksums[algorithm.headerName] else { return nil }
    return Checksum(algorithm, base64: text) ?? PartCount.split(text).flatMap { Checksum(algorithm, base64: $0.before) }
  }

  /// The checksum of the parts' checksums; nil if there is none. In the answer to a range S3 omits the number of parts,
  /// even if the range is the whole object: then it is `parts`, or that of the ETag.
  func compositeChecksum(_ algorithm: ChecksumAlgorithm, parts: Int? = nil) -> CompositeChecksum? {
    guard type(of: algorithm) == .composite, let text = checksums[algorithm.headerName] else { return nil }
    if let sum = CompositeChecksum(algorithm, text: text) { return sum }
    guard let parts = parsedETag?.parts ?? parts else { return nil }
    return CompositeChecksum(algorithm, text: "\(text)-\(parts)")
  }

  /// The first checksum of the object that can be read, of all its bytes if there is one.
  var statedChecksum: ObjectChecksum? {
    for algorithm in ChecksumAlgorithm.allCases {
      if let sum = wholeChecksum(algorithm) { return ObjectChecksum(algorithm, .fullObject, sum.base64) }
    }
    for algorithm in ChecksumAlgorithm.allCases {
      if let sum = compositeChecksum(algorithm) { return ObjectChecksum(algorithm, .composite, sum.text) }
    }
    return nil
  }

  /// The store's value for a checksum of this algorithm and type, written as S3 does if it can be read; nil if the store
  /// gives none that says something, equal or different.
  func counterpart(of sum: ObjectChecksum) -> String? {
    guard type(of: sum.algorithm) == sum.type, let given = checksums[sum.algorithm.headerName] else { return nil }
    let parts = PartCount.split(sum.value)?.parts
    let text =
      switch sum.type {
      case .fullObject: wholeChecksum(sum.algorithm)?.base64
      case .composite: compositeChecksum(sum.algorithm, parts: parts)?.text
      }
    return text == sum.value || refutes(sum.algorithm) ? text ?? given : nil
  }
}

extension ETag {
  /// The number of parts that the object was made of, if the ETag shows it. Where it is inlined, the optimizer of Swift
  /// 6.3.1 crashes (`CopyPropagation`).
  @inline(never)
  var parts: Int? {
    if case .multipart(_, let parts) = form { parts } else { nil }
  }
}
