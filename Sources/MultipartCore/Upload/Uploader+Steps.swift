/// The requests of an upload: each ends in one event for the machine.
extension Uploader {
  /// A condition is looked at before the first byte goes; the store looks again at the end.
  func check() async -> UploadMachine.Event {
    do throws(Failure) {
      let found = try await client.perform(headOperation)
      return .checked(unmet(found))
    } catch {
      return .checked(error)
    }
  }

  private func unmet(_ found: HeadObject.Output) -> Failure? {
    switch found {
    case .absent where job.conditions.ifMatch != nil:
      Failure(.precondition, "there is no object to match --if-match", status: 404)
    case .exists where job.conditions.ifNoneMatch:
      Failure(.precondition, "the object exists already", hint: "leave --if-none-match out to replace it")
    case .exists(let object):
      if let wanted = job.conditions.ifMatch, ETag(wanted) != object.etag.flatMap(ETag.init),
        !wanted.utf8.elementsEqual("*".utf8)
      {
        Failure(.precondition, "the object has another ETag: \(object.etag ?? "none")")
      } else {
        nil
      }
    case .absent: nil
    }
  }

  func create(_ form: ChecksumForm) async -> UploadMachine.Event {
    var operation = CreateMultipartUpload(bucket: job.bucket, key: job.key)
    operation.object = job.object
    operation.encryption = job.encryption
    operation.customerKey = job.customerKey
    operation.common = job.common
    if case .algorithm(let algorithm) = form {
      operation.checksumAlgorithm = algorithm.awsName
      operation.checksumType = algorithm == .crc64nvme ? "FULL_OBJECT" : "COMPOSITE"
    }
    do throws(Failure) {
      return .created(uploadID: try await client.perform(operation).uploadID)
    } catch {
      return .createFailed(error)
    }
  }

  func send(_ number: Int, _ form: ChecksumForm, uploadID: String, fresh: Bool) async -> UploadMachine.Event {
    let (offset, length) = plan.range(of: number)
    let slice = PartSlice(file: job.file, offset: offset, length: length)
    do throws(Failure) {
      return .partDone(
        try await sender.sendPart(slice, number: number, uploadID: uploadID, form: form, fresh: fresh))
    } catch {
      return .partFailed(number, error.at(job.place))
    }
  }

  func put(_ form: ChecksumForm, fresh: Bool) async -> UploadMachine.Event {
    let slice = PartSlice(file: job.file, offset: 0, length: plan.size)
    do throws(Failure) {
      let sums = try sender.sums(of: slice, form)
      // Known before the request goes out: its answer may be lost.
      answers.withLock { $0.expected = Expectation(size: plan.size, form: form, sums: sums) }
      let (sent, answer) = try await sender.put(slice, form: form, sums: sums, fresh: fresh)
      if case .algorithm = form, job.checksum == nil, sent.proof < .checksum { learn(form, .md5) }
      let expected = Expectation(size: plan.size, checksum: sent.checksum, md5: sent.md5, proof: sent.proof)
      return .putDone(
        judge(
          expected, etag: answer.etag, checksums: answer.checksums, type: answer.checksumType, size: nil,
          version: answer.versionID, requestID: answer.requestID))
    } catch {
      return .putFailed(error.at(job.place))
    }
  }

  func complete(_ receipts: [PartReceipt], uploadID: String) async -> UploadMachine.Event {
    do throws(Failure) {
      try job.file.checkUnchanged()
      let expected = try Expectation(receipts: receipts)
      answers.withLock { $0.expected = expected }
      let answer = try await client.perform(completeOperation(receipts, expected, uploadID: uploadID))
      return .completeDone(
        judge(
          expected, etag: answer.etag, checksums: answer.checksums, type: answer.checksumType, size: nil,
          version: answer.versionID, requestID: answer.requestID))
    } catch {
      return .completeFailed(error.at(job.place))
    }
  }

  private func completeOperation(
    _ receipts: [PartReceipt], _ expected: Expectation, uploadID: String
  ) -> CompleteMultipartUpload {
    let sum = expected.sum
    // Only sums that the store has verified part by part may be named to it again.
    let named = sum != nil && expected.weakest == .checksum
    var operation = CompleteMultipartUpload(
      bucket: job.bucket, key: job.key, uploadID: uploadID,
      parts: receipts.map { receipt in
        let checksum = named && sum?.isFullObject == false ? receipt.checksum : nil
        return CompleteMultipartUpload.Part(
          number: receipt.number, etag: receipt.etag,
          checksum: checksum.map { NamedValue($0.algorithm.headerName, $0.base64) })
      })
    if named, let sum {
      operation.checksumType = sum.type
      if sum.isFullObject { operation.objectChecksum = NamedValue(sum.algorithm.headerName, sum.text) }
    }
    operation.objectSize = expected.size
    operation.conditions = job.conditions
    operation.customerKey = job.customerKey
    operation.common = job.common
    return operation
  }

  func head() async -> UploadMachine.Event {
    do throws(Failure) {
      let expected = answers.withLock { $0.expected }
      guard let expected else { return .headFailed(Failure(.local, "nothing is known to compare the object with")) }
      guard case .exists(let object) = try await client.perform(headOperation) else {
        return .headDone(.contradicted(message: "the object is not there"))
      }
      return .headDone(
        judge(
          expected, etag: object.etag, checksums: object.checksums, type: object.checksumType, size: object.size,
          version: object.versionID, requestID: object.requestID))
    } catch {
      return .headFailed(error.at(job.place))
    }
  }

  func abort(_ uploadID: String) async -> UploadMachine.Event {
    do throws(Failure) {
      _ = try await client.perform(
        AbortMultipartUpload(bucket: job.bucket, key: job.key, uploadID: uploadID, common: job.common))
      return .abortDone
    } catch {
      return .abortFailed(error)
    }
  }

  /// An upload that is gone shows as NoSuchUpload; some stores say NoSuchKey, or answer a list without parts.
  func listAfterAbort(_ uploadID: String) async -> UploadMachine.Event {
    do throws(Failure) {
      let page = try await client.perform(
        ListParts(bucket: job.bucket, key: job.key, uploadID: uploadID, common: job.common))
      return .listed(uploadStillThere: !page.parts.isEmpty)
    } catch {
      return error.status == 404 ? .listed(uploadStillThere: false) : .listFailed(error)
    }
  }

  private var headOperation: HeadObject {
    HeadObject(
      bucket: job.bucket, key: job.key, wantsChecksums: true, customerKey: job.customerKey, common: job.common)
  }

  private func judge(
    _ expected: Expectation, etag: String?, checksums: [String: String], type: String?, size: Int64?,
    version: String?, requestID: String?
  ) -> Judgement {
    answers.withLock { known in
      known.expected = expected
      known.etag = etag ?? known.etag
      known.versionID = version ?? known.versionID
      known.requestID = requestID ?? known.requestID
    }
    var sums: [ChecksumAlgorithm: String] = [:]
    for algorithm in ChecksumAlgorithm.allCases { sums[algorithm] = checksums[algorithm.headerName] }
    return Verdict.judge(
      expected, ReportedObject(size: size, etag: etag, checksums: sums, checksumType: type))
  }
}
