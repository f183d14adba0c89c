/// An upload that the store no longer knows may have been completed: whether the object is made of its parts.
package struct EarlierCompletion: Sendable {
  /// A part as a list has it that was made while the upload was there.
  package struct Part: Sendable {
    var number: Int
    var etag: String
    var size: Int64?
    var checksums: [Checksum]

    package init(number: Int, etag: String, size: Int64?, checksums: [Checksum]) {
      self.number = number
      self.etag = etag
      self.size = size
      self.checksums = checksums
    }
  }

  private let head: HeadObject

  package init(head: HeadObject) {
    self.head = head
  }

  /// Nil where nothing proves it. Only the checksum of these parts or the ETag that is made of theirs does, never the
  /// size.
  package func find(
    _ parts: [Part], client: S3Client, retry: RetryPolicy
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

  /// Who may complete need not be allowed to look.
  private func look(_ client: S3Client, _ retry: RetryPolicy) async throws(Failure) -> HeadObject.Output {
    do throws(Failure) {
      return try await client.perform(head, retrying: retry)
    } catch {
      guard error.code == .credentials || error.code == .refused else { throw error }
      return .absent
    }
  }

  /// Those that every part has, and none, with which the ETags are left. A full-object one is combined by the lengths
  /// of the parts.
  private static func algorithms(_ parts: [Part]) -> [ChecksumAlgorithm?] {
    ChecksumAlgorithm.allCases.filter { algorithm in
      parts.allSatisfy { part in
        part.checksums.contains { $0.algorithm == algorithm }
          && (algorithm.typeInParts != .fullObject || part.size != nil)
      }
    } + [nil]
  }

  private static func receipts(_ parts: [Part], _ algorithm: ChecksumAlgorithm?) -> [PartReceipt] {
    parts.map { part in
      PartReceipt(
        number: part.number, size: part.size ?? 0, etag: part.etag,
        checksum: part.checksums.first { $0.algorithm == algorithm }, proof: algorithm == nil ? .none : .checksum)
    }
  }
}
