import Glibc
import MultipartBasics

extension Downloader {
  /// The HEAD; nil if only the URL's own request can be sent.
  var headOperation: HeadObject? {
    client.signer.knowsOneRequest ? nil : HeadObject(address, versionID: options.versionID)
  }

  func head() async -> DownloadMachine.Event {
    do throws(Failure) {
      let object = try await found()
      guard object.size != nil else {
        throw Failure(.refused, "the store does not report the object's size", requestID: object.requestID)
      }
      try Self.checkArchive(object)
      known.withLock { ($0.object, $0.isListed, $0.body) = (object, false, nil) }
      return .found
    } catch {
      return .headFailed(error)
    }
  }

  private func missing() async -> Failure {
    guard wanted == nil else { return HeadObject.noObject }
    return await HeadObject(address, versionID: options.versionID)
      .absence(client, world, ofFolder: "to download them all: \(run: .downloadFolder)")
  }

  private func found() async throws(Failure) -> ObjectInfo {
    guard var operation = headOperation else { return try await headByGet() }
    guard let part = options.part else {
      guard case .exists(let object) = try await client.perform(operation) else { throw await missing() }
      return object
    }
    operation.partNumber = part
    do throws(Failure) {
      let object = try await client.perform(operation).object()
      guard object.placeOfPart != nil || part == 1 && object.partsCount == nil else {
        throw Failure(
          .refused, "the store does not say where part \(part) of the object is",
          remedy: "ask for its bytes by their range instead")
      }
      return object
    } catch {
      guard error.status == 416 else { throw error }
      throw Failure(
        .refused, "the object has no part \(part)", status: 416, requestID: error.requestID,
        remedy: "see how many it has: \(run: .headObject)")
    }
  }

  /// Refuses an archived object, which has to be restored first; `x-amz-restore` contains the state of that.
  private static func checkArchive(_ object: ObjectInfo) throws(Failure) {
    let storage = object.headers[HeaderName.storageClass]?.uppercased() ?? ""
    let isArchived =
      ObjectInfo.archives.contains(storage) || object.headers["x-amz-archive-status"] != nil
    let restore = object.headers["x-amz-restore"] ?? ""
    guard isArchived, !restore.contains("ongoing-request=\"false\"") else { return }
    let state =
      restore.contains("ongoing-request=\"true\"")
      ? "a restore is in progress" : "it has to be restored first"
    throw Failure(
      .refused, "the object is archived (\(SafeText.oneLine(storage.isEmpty ? "archive tier" : storage))): \(state)",
      s3Code: "InvalidObjectState",
      remedy: "restore it (S3 RestoreObject), wait until that has finished, and run it again"
    )
  }

  // MARK: - Ranges

  func get(_ number: Int, fresh: Bool, isCopy: Bool) async -> DownloadMachine.Event {
    let start = world.uptime()
    let (object, plan, algorithms, part, ordered, namesVersion) = known.withLock {
      ($0.object, $0.plan, $0.algorithms, $0.part, $0.ordered, $0.namesVersion)
    }
    let (isListed, record, beginning) = known.withLock { ($0.isListed, $0.record, $0.beginnings[number]) }
    guard let object, let size = object.size else { return .rangeFailed(number, Failure(.local, "no answer to HEAD")) }
    var (offset, length) = plan.range(of: number)
    let whole = length
    if let beginning {
      offset += beginning.length
      length -= beginning.length
    }
    let transfer = progress.begin(.init(part: number, isCopy: isCopy))
    var confirmed: Int64?
    defer { transfer.end(confirmed: confirmed) }
    do throws(Failure) {
      let wanted = RangeSink.Wanted(
        number: number, first: plan.start + offset, length: length, size: size, etag: object.etag.flatMap(ETag.init),
        modified: object.lastModified, versionID: object.versionID)
      let inMemory = isCopy || ordered != nil || isListed
      let (claims, ticket) = (claims, claims.enter())
      let last = Locked<Int64>(0)
      let bytes = Locked<[UInt8]>([])
      let traced = Locked<RequestTrace?>(nil)
      let noted = Locked(start)
      let sink = try RangeSink(
        wanted, algorithms, step: inMemory ? .max : RangeSink.step,
        moved: { received in
          let before = last.withLock { last in
            defer { last = received }
            return last
          }
          transfer.add(received - before, of: traced.withLock { $0 })
          transfer.acknowledge(received)
        },
        take: { [offset] piece, at in
          guard let part, !isListed else {
            bytes.withLock { $0 = (beginning?.bytes ?? []) + piece }
            return nil
          }
          guard let result = claims.write(number, by: ticket, wins: isCopy, { part.write(piece, at: offset + at) })
          else {
            return Failure(.interrupted, "another copy of the range was faster")
          }
          return result
        },
        isDue: { [isNoted = record != nil && !inMemory, world] in
          guard isNoted else { return false }
          let time = world.uptime()
          return noted.withLock { last in
            guard time - last >= Self.pauseBetweenNotes else { return false }
            last = time
            return true
          }
        },
        note: { bytes, sums in
          guard let sum = Self.joined(beginning, sums, bytes)?[.crc64nvme] else { return }
          record?.append(number, DownloadRecord.Written(length: (beginning?.length ?? 0) + bytes, sum: sum))
        })
      let get = GetObject(
        address, range: isListed ? nil : wanted.first...wanted.first + length - 1, ifMatch: object.etag,
        versionID: options.versionID ?? (namesVersion ? object.versionID : nil), wantsChecksums: isListed, sink: sink)
      let answer: GetObject.Output
      do throws(Failure) {
        answer = try await perform(get, of: object) { request in
          request.freshConnection = fresh
          transfer.goes(with: request.trace)
          traced.withLock { $0 = request.trace }
        }
      } catch {
        if !isCopy, !isListed, let arrived = sink.keepArrived(), arrived.length < length {
          // As one step, so that no copy can finish the range in between.
          _ = claims.write(number, by: ticket) {
            keep(arrived, bytes.withLock { $0 }, of: number, after: beginning)
            return nil
          }
        }
        guard sink.gotWholeObject, beginning != nil else { throw error }
        // A store that ignores ranges sends the whole object, which is of use only if all of it was asked for.
        forgetBeginning(of: number)
        return await self.get(number, fresh: fresh, isCopy: isCopy)
      }
      // Without a body the sink was not called.
      if let problem = RangeSink.judge(answer.contentRange == nil ? 200 : 206, answer.object.headers, wanted) {
        throw problem
      }
      let received = try sink.finish()
      guard let sums = Self.joined(beginning, received, length) else {
        throw Failure(.local, "the checksums of range \(number) cannot be combined")
      }
      if part != nil || isListed {
        guard claims.write(number, by: ticket, wins: true, { nil }) != nil else {
          throw Failure(.interrupted, "another copy of the range was faster")
        }
      }
      if isListed {
        do throws(Failure) {
          try await take(bytes.withLock { $0 }, of: answer.object)
        } catch {
          claims.forget(number, by: ticket)
          throw error
        }
      }
      let counted = known.withLock { known in
        known.sums[number] = sums
        return known.beginnings.removeValue(forKey: number)?.length ?? 0
      }
      ordered?.put(number, bytes.withLock { $0 })
      if let sum = sums[.crc64nvme] { record?.append(number, DownloadRecord.Written(length: whole, sum: sum)) }
      confirmed = whole - counted
      tell(.range(number: number, size: length, took: world.uptime() - start))
      return .rangeDone(.init(range: number, sum: sums[.crc64nvme]))
    } catch {
      return .rangeFailed(number, error.at(Place(part: number)))
    }
  }

  /// On a slow line a range takes minutes, of which an interruption must not cost more than a few seconds.
  private static let pauseBetweenNotes = Duration.seconds(4)

  /// Keeps what has arrived of an answer that broke off: the next try requests the bytes after it.
  private func keep(
    _ arrived: (length: Int64, sums: [ChecksumAlgorithm: Checksum]), _ bytes: [UInt8], of number: Int,
    after beginning: Known.Beginning?
  ) {
    guard let sums = Self.joined(beginning, arrived.sums, arrived.length) else { return }
    let isKept = known.withLock { known in
      guard known.sums[number] == nil else { return false }
      known.beginnings[number] = Known.Beginning(
        length: (beginning?.length ?? 0) + arrived.length, sums: sums, bytes: bytes,
        resumed: beginning?.resumed ?? 0)
      return true
    }
    if isKept { progress.confirm(arrived.length) }
  }

  private func forgetBeginning(of number: Int) {
    guard let beginning = known.withLock({ $0.beginnings.removeValue(forKey: number) }) else { return }
    progress.forget(resumed: beginning.resumed, confirmed: beginning.length - beginning.resumed)
  }

  /// The checksums of a beginning and of the bytes after it.
  private static func joined(
    _ beginning: Known.Beginning?, _ rest: [ChecksumAlgorithm: Checksum]?, _ length: Int64
  ) -> [ChecksumAlgorithm: Checksum]? {
    guard let beginning, let rest else { return rest }
    var sums: [ChecksumAlgorithm: Checksum] = [:]
    for (algorithm, sum) in rest {
      guard let first = beginning.sums[algorithm],
        let both = CRCCombiner.combine(algorithm, [(first, beginning.length), (sum, length)])
      else { return nil }
      sums[algorithm] = both
    }
    return sums
  }

  /// Requests a range. To name a version needs a permission of its own (`s3:GetObjectVersion`), so after a refusal the
  /// one that the HEAD has shown is no longer named: `If-Match` holds for it too.
  private func perform(
    _ get: GetObject, of object: ObjectInfo, _ prepare: @Sendable (inout Request) -> Void
  ) async throws(Failure) -> GetObject.Output {
    var get = get
    do throws(Failure) {
      return try await client.perform(get, prepare)
    } catch {
      guard error.status == 403, get.versionID != nil, options.versionID == nil, object.etag != nil else {
        throw Self.meaning(of: error)
      }
    }
    known.withLock { $0.namesVersion = false }
    get.versionID = nil
    do throws(Failure) { return try await client.perform(get, prepare) } catch { throw Self.meaning(of: error) }
  }

  /// Takes the whole object from one answer, which contains what a HEAD would have returned. What the list has said is
  /// still to be proven if the answer leaves it out.
  private func take(_ bytes: [UInt8], of answered: ObjectInfo) async throws(Failure) {
    var object = answered
    if let listed = known.withLock({ $0.object }) {
      object.etag = object.etag ?? listed.etag
      object.lastModified = object.lastModified ?? listed.lastModified
    }
    let proof = await ByteProof.strongest(of: object, headOperation, client, etagMayBeMD5: etagMayBeMD5)
    var sums = try StreamSums(object, proof, size: Int64(bytes.count))
    var problem: Failure?
    bytes.withUnsafeBytes { bytes in
      do throws(Failure) { try sums.update(bytes) } catch { problem = error }
    }
    if let problem { throw problem }
    guard case .file(let target) = kind else { return }
    let part = if let part = known.withLock({ $0.part }) { part } else { try PartFile.open(for: target) }
    known.withLock { [sums] in ($0.object, $0.proof, $0.body, $0.part) = (object, proof, sums, part) }
    try part.prepare(Int64(bytes.count), keeps: false)
    if let failure = bytes.withUnsafeBytes({ part.write($0, at: 0) }) { throw failure }
  }

  /// The meaning of a failure: `If-Match` does not hold, or the object is gone, because it was replaced or deleted
  /// since the HEAD.
  private static func meaning(of failure: Failure) -> Failure {
    let isGone =
      failure.status == 412 || failure.s3Code == "NoSuchKey" || failure.s3Code == "NoSuchVersion"
      || failure.status == 416
    guard isGone else { return failure }
    var replaced = RangeSink.replaced
    (replaced.status, replaced.s3Code, replaced.requestID) = (failure.status, failure.s3Code, failure.requestID)
    return replaced
  }
}
