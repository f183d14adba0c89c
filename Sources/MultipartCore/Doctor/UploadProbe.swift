/// What came of an upload that was begun only to see whether the store takes one.
package struct ProbeReport: Sendable {
  package var key: String
  package var began: Result<CreateMultipartUpload.Output, Failure>
  package var part: Result<UploadPart.Output, Failure>?
  /// What verified the part on its way.
  package var checksum = ChecksumAlgorithm.crc64nvme
  /// True when the store listed the part that was sent.
  package var list: Result<Bool, Failure>?
  package var ended: Result<AbortMultipartUpload.Output, Failure>?
  /// Begun without an answer: uploads of this key that could not be looked for, or ended.
  package var leftBehind: Failure?
  /// That requests were signed for at the end.
  package var region: String?

  package init(key: String, began: Result<CreateMultipartUpload.Output, Failure>) {
    self.key = key
    self.began = began
  }
}

/// Begins an upload, sends one small part, lists it, ends the upload and sees that it is gone. Nothing is published.
/// Whatever fails, what was begun is ended, as far as the store allows it.
package struct UploadProbe: Sendable {
  private let client: S3Client
  private let world: World
  private let common: CommonHeaders
  private let bucket: String
  private let key: String
  /// S3 Express knows no MD5.
  private let knowsMD5: Bool
  private let retry = RetryPolicy(tries: 2)
  private static let bytes = Array("s3up doctor\n".utf8)

  package init(
    client: S3Client, world: World, common: CommonHeaders, bucket: String, key: String, knowsMD5: Bool
  ) {
    self.client = client
    self.world = world
    self.common = common
    self.bucket = bucket
    self.key = key
    self.knowsMD5 = knowsMD5
  }

  /// Below the prefix, by a name that nobody else has: 16 digits of 36 are 82 bits of dice.
  package static func key(under prefix: String, dice: () -> Double) -> String {
    let digits = Array("0123456789abcdefghijklmnopqrstuvwxyz")
    return prefix + ".s3up-doctor-" + String((0..<16).map { _ in digits[min(35, Int(dice() * 36))] })
  }

  /// `isStopped` is asked before each step but those that clean up.
  package func run(isStopped: @Sendable () -> Bool = { false }) async -> ProbeReport {
    var checksum = ChecksumAlgorithm.crc64nvme
    var began = await begin(checksum)
    if case .failure(let failure) = began, failure.code == .checksumUnsupported, knowsMD5 {
      checksum = .md5
      began = await begin(checksum)
    }
    var report = ProbeReport(key: key, began: began)
    report.checksum = checksum
    switch began {
    case .failure(let failure):
      if UploadMachine.mayHaveMade(failure.code) { report.leftBehind = await endLost() }
    case .success(let upload):
      if !isStopped() { await send(upload.uploadID, &report) }
      if !isStopped(), case .success? = report.part { report.list = await list(upload.uploadID) }
      report.ended = await end(upload.uploadID)
    }
    return report
  }

  /// Once: a second try could make a second upload.
  private func begin(_ checksum: ChecksumAlgorithm) async -> Result<CreateMultipartUpload.Output, Failure> {
    await Self.result { () async throws(Failure) in
      try await client.perform(
        CreateMultipartUpload(
          bucket: bucket, key: key, checksumAlgorithm: checksum.awsName,
          checksumType: checksum == .crc64nvme ? "FULL_OBJECT" : nil, common: common))
    }
  }

  private func send(_ id: String, _ report: inout ProbeReport) async {
    report.part = await send(id, report.checksum)
    if case .failure(let failure)? = report.part, failure.code == .checksumUnsupported, report.checksum != .md5,
      knowsMD5
    {
      report.checksum = .md5
      report.part = await send(id, .md5)
    }
  }

  private func send(_ id: String, _ checksum: ChecksumAlgorithm) async -> Result<UploadPart.Output, Failure> {
    await Self.result { () async throws(Failure) in
      var sums = try MultiChecksum([checksum])
      Self.bytes.withUnsafeBytes { sums.update($0) }
      let value = try sums.finish()[checksum].map { NamedValue(checksum.headerName, $0.base64) }
      return try await client.perform(
        UploadPart(
          bucket: bucket, key: key, uploadID: id, partNumber: 1, body: .bytes(Self.bytes), checksum: value,
          common: common), retrying: retry)
    }
  }

  private func list(_ id: String) async -> Result<Bool, Failure> {
    await Self.result { () async throws(Failure) in
      let page = try await client.perform(
        ListParts(bucket: bucket, key: key, uploadID: id, common: common), retrying: retry)
      return page.parts.contains { $0.number == 1 && $0.size == Int64(Self.bytes.count) }
    }
  }

  private func end(_ id: String) async -> Result<AbortMultipartUpload.Output, Failure> {
    await Self.result { () async throws(Failure) in
      try await AbortStep(client: client, common: common, retry: RetryPolicy(tries: 3), world: world)
        .run(bucket: bucket, key: key, uploadID: id)
    }
  }

  /// Nobody but this run has the key, so whatever is begun under it is this run's.
  private func endLost() async -> Failure? {
    do throws(Failure) {
      let found = try await client.allUploads(ListMultipartUploads(bucket: bucket, prefix: key, common: common))
      for upload in found.uploads where upload.key.utf8.elementsEqual(key.utf8) {
        _ = try await end(upload.uploadID).get()
      }
      return nil
    } catch {
      return error
    }
  }

  private static func result<Value>(
    _ work: () async throws(Failure) -> Value
  ) async -> Result<Value, Failure> {
    do throws(Failure) {
      return .success(try await work())
    } catch {
      return .failure(error)
    }
  }
}
