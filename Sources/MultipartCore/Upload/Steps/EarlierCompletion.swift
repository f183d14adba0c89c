/// Determines whether an upload that the store no longer has was completed: what its object would be, and so whether
/// the object at the key is that one.
struct EarlierCompletion: Sendable {
  /// What the object would be, one expectation for each way to compare; one of them has to be met.
  var expected: [Expectation]
  /// When the upload was begun, by the store's clock: an older object is not its result.
  var begun: Timestamp?
  /// Not all parts have a known size, so the object's size is not compared.
  var isOfAnySize = false
  /// The evidence to use if nothing proves the object and nothing contradicts it; nil if there is none.
  var signs: @Sendable (ObjectInfo) -> (parts: Int, evidence: String)? = { _ in nil }

  /// The result; nil if the object is not known to be the upload's.
  func result(_ object: ObjectInfo) -> UploadedObject? {
    guard let size = object.size else { return nil }
    if let begun, let modified = object.lastModified, modified < begun { return nil }
    let reported = ReportedObject(object)
    var isOpen = true
    for var expected in expected {
      if isOfAnySize { expected.size = size }
      switch Verdict.judge(expected, reported) {
      case .proven(let evidence):
        return UploadedObject(
          .unchanged, size: size, parts: expected.parts, reported, checksum: expected.sum, evidence: evidence)
      case .undecided: break
      case .absent, .notOurs, .contradicted: isOpen = false
      }
    }
    guard isOpen, let (parts, evidence) = signs(object) else { return nil }
    return UploadedObject(.unchanged, size: size, parts: parts, reported, evidence: evidence)
  }
}

extension EarlierCompletion {
  /// Expects an object of these parts. Only their checksum proves it, or the ETag made of theirs, never the size.
  init(_ parts: [UploadedPart]) throws(Failure) {
    expected = []
    isOfAnySize = parts.contains { $0.size == nil }
    for algorithm in Self.algorithms(parts) {
      expected.append(try Expectation(receipts: Self.receipts(parts, algorithm)))
    }
  }

  /// The algorithms that every part has, plus nil, which compares only ETags. A checksum of the full object is combined
  /// using the lengths of the parts.
  private static func algorithms(_ parts: [UploadedPart]) -> [ChecksumAlgorithm?] {
    ChecksumAlgorithm.allCases.filter { algorithm in
      parts.allSatisfy { part in
        part.sum(algorithm) != nil
          && (algorithm.typeInParts != .fullObject || part.size != nil)
      }
    } + [nil]
  }

  private static func receipts(_ parts: [UploadedPart], _ algorithm: ChecksumAlgorithm?) -> [PartReceipt] {
    parts.map { part in
      PartReceipt(
        number: part.number, size: part.size ?? 0, etag: part.etag,
        checksum: algorithm.flatMap { part.sum($0) }, proof: algorithm == nil ? .none : .checksum)
    }
  }
}
