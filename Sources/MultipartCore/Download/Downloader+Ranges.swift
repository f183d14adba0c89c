import Glibc
import MultipartBasics

/// One try of one range.
private struct RangeTry: Sendable {
  let number: Int
  let isCopy: Bool
  /// What is there of the range already: the request is for the bytes after it.
  let beginning: Downloader.Known.Beginning?
  let wanted: RangeSink.Wanted
  let part: PartFile?
  let ordered: OrderedOutput?
  let record: DownloadRecord?
  /// The number of the transfer, for the claims.
  let ticket: Int
  let transfer: TransferProgress.PartProgress
  let start: Duration
  /// The range's bytes, if they are not written into the part file as they come.
  let bytes = Locked<[UInt8]>([])
  let traced = Locked<RequestTrace?>(nil)

  var isListed: Bool { wanted.isListed }
  var isInMemory: Bool { isCopy || ordered != nil || isListed }

  /// All that is there of the range once this try has received so many bytes.
  func length(with received: Int64) -> Int64 { (beginning?.length ?? 0) + received }

  /// The checksums of the beginning and of the bytes after it.
  func joined(_ rest: [ChecksumAlgorithm: Checksum], _ length: Int64) -> [ChecksumAlgorithm: Checksum]? {
    guard let beginning else { return rest }
    var sums: [ChecksumAlgorithm: Checksum] = [:]
    for (algorithm, sum) in rest {
      guard let first = beginning.sums[algorithm],
        let both = CRCCombiner.combine(algorithm, [(first, beginning.length), (sum, length)])
      else { return nil }
      sums[algorithm] = both
    }
    return sums
  }

  func note(_ sums: [ChecksumAlgorithm: Checksum], _ length: Int64) {
    guard let sum = sums[.crc64nvme] else { return }
    record?.append(number, DownloadRecord.Written(length: length, sum: sum))
  }

  static let otherWasFaster = Failure(.interrupted, "another copy of the range was faster")
}

/// The ranges of an object.
extension Downloader {
  func get(_ number: Int, fresh: Bool, isCopy: Bool) async -> DownloadMachine.Event {
    let (object, plan, part, ordered) = known.withLock { ($0.object, $0.plan, $0.part, $0.ordered) }
    let (isListed, record, beginning) = known.withLock { ($0.isListed, $0.record, $0.beginnings[number]) }
    guard let object, let size = object.size else { return .rangeFailed(number, Failure(.local, "no answer to HEAD")) }
    let (offset, whole) = plan.range(of: number)
    let have = beginning?.length ?? 0
    let length = whole - have
    let attempt = RangeTry(
      number: number, isCopy: isCopy, beginning: beginning,
      wanted: RangeSink.Wanted(
        number: number, first: plan.start + offset + have, length: length, size: size,
        // A list has fractions of seconds, which an answer may round.
        identity: isListed ? ObjectIdentity(etag: object.etag, modified: nil) : ObjectIdentity(object),
        isListed: isListed),
      part: part, ordered: ordered, record: record, ticket: claims.enter(),
      transfer: progress.begin(.init(part: number, isCopy: isCopy)), start: world.uptime())
    var (confirmed, kept): (Int64?, Int64) = (nil, 0)
    defer { attempt.transfer.end(confirmed: confirmed) }
    do throws(Failure) {
      let sink = try sink(of: attempt, at: offset + have)
      let (answer, received): (GetObject.Output, [ChecksumAlgorithm: Checksum])
      do throws(Failure) {
        answer = try await request(attempt, of: object, fresh: fresh, sink)
        // Without a body the sink was not called.
        try requireVersion(answer.object)
        let status = answer.contentRange == nil ? 200 : 206
        if let problem = RangeSink.judge(status, answer.object.headers, attempt.wanted) { throw problem }
        received = try sink.finish()
      } catch {
        if !isCopy, !isListed, let arrived = sink.keepArrived(), arrived.length < length {
          kept = keep(arrived, of: attempt)
        }
        guard sink.gotWholeObject, beginning != nil else { throw error }
        // A store that ignores ranges sends the whole object, which is of use only if all of it was asked for.
        forgetBeginning(of: number)
        return await get(number, fresh: fresh, isCopy: isCopy)
      }
      guard let sums = attempt.joined(received, length) else {
        throw Failure(.local, "the checksums of range \(number) cannot be combined")
      }
      if part != nil || isListed {
        guard claims.write(number, by: attempt.ticket, wins: true, { nil }) != nil else {
          throw RangeTry.otherWasFaster
        }
      }
      if isListed {
        do throws(Failure) {
          try await take(attempt.bytes.withLock { $0 }, of: answer.object)
        } catch {
          claims.forget(number, by: attempt.ticket)
          throw error
        }
      }
      let counted = known.withLock { known in
        known.sums[number] = sums
        return known.beginnings.removeValue(forKey: number)?.length ?? 0
      }
      ordered?.put(number, attempt.bytes.withLock { $0 })
      attempt.note(sums, whole)
      confirmed = whole - counted
      tell(.range(number: number, size: length, took: world.uptime() - attempt.start))
      return .rangeDone(.init(range: number, sum: sums[.crc64nvme]))
    } catch {
      return .rangeFailed(number, error.at(Place(part: number)), kept: kept)
    }
  }

  /// Where the bytes of a try go: into the part file at `offset`, or into memory.
  private func sink(of attempt: RangeTry, at offset: Int64) throws(Failure) -> RangeSink {
    let (claims, world, transfer) = (claims, world, attempt.transfer)
    let (last, noted) = (Locked<Int64>(0), Locked(attempt.start))
    return try RangeSink(
      attempt.wanted, known.withLock { $0.algorithms }, step: attempt.isInMemory ? .max : RangeSink.step,
      moved: { received in
        let before = last.withLock { last in
          defer { last = received }
          return last
        }
        transfer.add(received - before, of: attempt.traced.withLock { $0 })
        transfer.acknowledge(received)
      },
      take: { piece, at in
        guard let part = attempt.part, !attempt.isListed else {
          attempt.bytes.withLock { $0 = (attempt.beginning?.bytes ?? []) + piece }
          return nil
        }
        let result = claims.write(attempt.number, by: attempt.ticket, wins: attempt.isCopy) {
          part.write(piece, at: offset + at)
        }
        guard let result else { return RangeTry.otherWasFaster }
        return result
      },
      isDue: {
        guard attempt.record != nil, !attempt.isInMemory else { return false }
        let time = world.uptime()
        return noted.withLock { last in
          guard time - last >= Self.pauseBetweenNotes else { return false }
          last = time
          return true
        }
      },
      note: { received, sums in
        if let sums = attempt.joined(sums, received) { attempt.note(sums, attempt.length(with: received)) }
      })
  }

  /// On a slow line a range takes minutes, of which an interruption must not cost more than a few seconds.
  private static let pauseBetweenNotes = Duration.seconds(4)

  /// Keeps what has arrived of an answer that broke off, and returns how much that is: the next try requests the bytes
  /// after it.
  private func keep(_ arrived: (length: Int64, sums: [ChecksumAlgorithm: Checksum]), of attempt: RangeTry) -> Int64 {
    guard let sums = attempt.joined(arrived.sums, arrived.length) else { return 0 }
    let beginning = Known.Beginning(
      length: attempt.length(with: arrived.length), sums: sums, bytes: attempt.bytes.withLock { $0 },
      resumed: attempt.beginning?.resumed ?? 0)
    var isKept = false
    // As one step, so that no copy can finish the range in between.
    _ = claims.write(attempt.number, by: attempt.ticket) {
      isKept = known.withLock { known in
        guard known.sums[attempt.number] == nil else { return false }
        known.beginnings[attempt.number] = beginning
        return true
      }
      return nil
    }
    if isKept { progress.confirm(arrived.length) }
    return isKept ? arrived.length : 0
  }

  private func forgetBeginning(of number: Int) {
    guard let beginning = known.withLock({ $0.beginnings.removeValue(forKey: number) }) else { return }
    progress.forget(resumed: beginning.resumed, confirmed: beginning.length - beginning.resumed)
  }

  /// Requests a range. To name a version needs a permission of its own (`s3:GetObjectVersion`), so after a refusal the
  /// one that the HEAD has shown is no longer named: `If-Match` holds for it too.
  private func request(
    _ attempt: RangeTry, of object: ObjectInfo, fresh: Bool, _ sink: RangeSink
  ) async throws(Failure) -> GetObject.Output {
    let wanted = attempt.wanted
    let ifMatch = S3HeaderBuilder.carried(object.etag)
    var get = GetObject(
      address, range: attempt.isListed ? nil : wanted.first...wanted.first + wanted.length - 1, ifMatch: ifMatch,
      versionID: options.versionID ?? (known.withLock { $0.namesVersion } ? object.versionID : nil),
      wantsChecksums: attempt.isListed, sink: sink)
    let prepare: @Sendable (inout Request) -> Void = { request in
      request.freshConnection = fresh
      attempt.transfer.goes(with: request.trace)
      attempt.traced.withLock { $0 = request.trace }
    }
    do throws(Failure) {
      return try await client.perform(get, prepare)
    } catch {
      guard error.status == 403, get.versionID != nil, options.versionID == nil, ifMatch != nil else {
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
      // Without a length, if something on the way sends it in chunks.
      object.size = object.size ?? Int64(bytes.count)
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
    let part = try part(for: target, empties: true)
    known.withLock { [sums] in ($0.object, $0.proof, $0.body, $0.part) = (object, proof, sums, part) }
    try part.prepare(Int64(bytes.count))
    if let failure = bytes.withUnsafeBytes({ part.write($0, at: 0) }) { throw failure }
  }

  /// The meaning of a failure: `If-Match` does not hold, or the object is gone, because it was replaced or deleted
  /// since the HEAD.
  static func meaning(of failure: Failure) -> Failure {
    let isDeleted = ["NoSuchKey", "NoSuchVersion"].contains(failure.s3Code)
    guard isDeleted || [412, 416].contains(failure.status) else { return failure }
    var changed = isDeleted ? RangeSink.deleted : RangeSink.replaced
    (changed.status, changed.s3Code, changed.requestID) = (failure.status, failure.s3Code, failure.requestID)
    return changed
  }
}
