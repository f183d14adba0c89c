/// Whether an upload that the store no longer has was completed: whether the object is made of its parts.
struct EarlierCompletion {
  private let head: HeadObject

  init(head: HeadObject) {
    self.head = head
  }

  /// Nil if nothing proves it. Only the checksum of these parts does, or the ETag made of theirs, never the size.
  func find(
    _ parts: [UploadedPart], client: S3Client, retry: RetryPolicy
  ) async throws(Failure) -> UploadResult? {
    guard case .exists(let object) = try await look(client, retry), let size = object.size else { return nil }
    let reported = ReportedObject(object)
    for algorithm in Self.algorithms(parts) {
      var expected = try Expectation(receipts: Self.receipts(parts, algorithm))
      if parts.contains(where: { $0.size == nil }) { expected.size = size }
      guard case .proven(let evidence) = Verdict.judge(expected, reported) else { continue }
      return UploadResult(
        size: size, parts: parts.count, object: reported, sum: expected.sum, evidence: evidence, bytesSent: 0,
        retries: 0)
    }
    return nil
  }

  /// The permission to complete does not include HEAD.
  private func look(_ client: S3Client, _ retry: RetryPolicy) async throws(Failure) -> HeadObject.Output {
    do throws(Failure) {
      return try await client.perform(head, retrying: retry)
    } catch {
      guard error.code == .credentials || error.code == .refused else { throw error }
      return .absent
    }
  }

  /// The algorithms that every part has, and nil, for comparing only ETags. A checksum of the full object is combined using
  /// the lengths of the parts.
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
