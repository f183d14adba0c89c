/// Makes the object of its parts and finds out whether it is what was sent.
package final class Finisher: Sendable {
  private struct State: Sendable {
    var expected: Expectation?
    var known = ReportedObject()
  }

  private let client: S3Client
  private let bucket: String
  private let key: String
  private let conditions: WriteConditions
  private let customerKey: CustomerKey?
  private let common: CommonHeaders
  private let state = Locked(State())

  package init(
    client: S3Client, bucket: String, key: String, conditions: WriteConditions = WriteConditions(),
    customerKey: CustomerKey? = nil, common: CommonHeaders = CommonHeaders()
  ) {
    self.client = client
    self.bucket = bucket
    self.key = key
    self.conditions = conditions
    self.customerKey = customerKey
    self.common = common
  }

  package var expected: Expectation? { state.withLock { $0.expected } }
  /// What the store has said of the object.
  package var known: ReportedObject { state.withLock { $0.known } }

  /// What the object must be, known before the request that makes it goes out: the answer may be lost.
  package func expect(_ expectation: Expectation) {
    state.withLock { $0.expected = expectation }
  }

  package func complete(_ receipts: [PartReceipt], uploadID: String) async throws(Failure) -> Judgement {
    let expected = try Expectation(receipts: receipts)
    expect(expected)
    let answer = try await client.perform(operation(receipts, expected, uploadID: uploadID))
    return judge(
      expected,
      ReportedObject(
        etag: answer.etag, checksums: answer.checksums, checksumType: answer.checksumType,
        versionID: answer.versionID, requestID: answer.requestID))
  }

  package func head() async throws(Failure) -> Judgement {
    guard let expected else { throw Failure(.local, "nothing is known to compare the object with") }
    guard case .exists(let object) = try await client.perform(headOperation) else {
      return .contradicted(message: "the object is not there")
    }
    let judgement = judge(
      expected,
      ReportedObject(
        size: object.size, etag: object.etag, checksums: object.checksums, checksumType: object.checksumType,
        versionID: object.versionID, requestID: object.requestID))
    // What is left as evidence is the size, and there is none.
    if case .undecided = judgement, object.size == nil {
      throw Failure(
        .server, "the store does not say how long the object is, so that nothing proves it", status: 200,
        requestID: object.requestID)
    }
    return judgement
  }

  package var headOperation: HeadObject {
    HeadObject(bucket: bucket, key: key, wantsChecksums: true, customerKey: customerKey, common: common)
  }

  func judge(_ expected: Expectation, _ reported: ReportedObject) -> Judgement {
    state.withLock { state in
      state.expected = expected
      state.known.size = reported.size ?? state.known.size
      state.known.etag = reported.etag ?? state.known.etag
      state.known.versionID = reported.versionID ?? state.known.versionID
      state.known.requestID = reported.requestID ?? state.known.requestID
    }
    return Verdict.judge(expected, reported)
  }

  /// Only sums of bytes that the store is known to have, part by part, may be named to it again.
  private func operation(
    _ receipts: [PartReceipt], _ expected: Expectation, uploadID: String
  ) -> CompleteMultipartUpload {
    let sum = expected.weakest >= .etag ? expected.sum : nil
    let namesParts = sum.map { !$0.isFullObject } ?? false
    var operation = CompleteMultipartUpload(
      bucket: bucket, key: key, uploadID: uploadID,
      parts: receipts.map { receipt in
        CompleteMultipartUpload.Part(
          number: receipt.number, etag: receipt.etag,
          checksum: namesParts ? receipt.checksum.map { NamedValue($0.algorithm.headerName, $0.base64) } : nil)
      })
    operation.checksumType = sum?.type
    if let sum, sum.isFullObject { operation.objectChecksum = NamedValue(sum.algorithm.headerName, sum.text) }
    operation.objectSize = expected.size
    operation.conditions = conditions
    operation.customerKey = customerKey
    operation.common = common
    return operation
  }
}
