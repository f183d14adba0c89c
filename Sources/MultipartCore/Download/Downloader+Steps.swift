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

  private static let longestLook = Duration.seconds(5)

  /// The failure if there is no object; it says if the key was meant as a folder. A list that is not allowed says nothing.
  private func missing() async -> Failure {
    guard wanted == nil, options.versionID == nil, !address.key.ends(with: "/") else { return HeadObject.noObject }
    let below = ListObjects(address.inBucket, prefix: address.key + "/", most: 1)
    let look = { @Sendable [client] () async throws(Failure) in try await client.perform(below) }
    let page = await world.within(Self.longestLook, "the keys below were not listed", look)
    let found: ListObjects.Output
    switch page {
    case .failure(let failure): return failure.s3Code == "NoSuchBucket" ? failure : HeadObject.noObject
    case .success(let listed): found = listed
    }
    guard !found.objects.isEmpty else { return HeadObject.noObject }
    return Failure(
      .refused, "there is no object at the key, but there are keys below it",
      remedy: "to download them all: \(run: .downloadFolder)")
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

  // MARK: - The target

  func open() async -> DownloadMachine.Event {
    do throws(Failure) {
      let asked = known.withLock { $0.object }
      guard let object = asked ?? wanted?.object.listed.map(ObjectInfo.init), let size = object.size else {
        return .openFailed(Failure(.local, "no answer to HEAD"))
      }
      try wanted?.object.noted?.check(object)
      let (start, length) = try range(of: object, size)
      let pieces = rangeSize(start, length) { recordedRangeSize(object, $0) }
      let plan = RangePlan(start: start, size: length, rangeSize: pieces)
      if case .file(let target) = kind, target.found != nil, let left = try leaves(target, object) {
        known.withLock { $0.result = left }
        return .unchanged
      }
      if wanted?.onlyLooks == true {
        known.withLock { $0.result = DownloadedObject(.planned, object) }
        return .unchanged
      }
      if asked == nil {
        known.withLock { ($0.object, $0.plan, $0.isListed) = (object, plan, true) }
      } else {
        await planProof(object, plan)
      }
      count(total: length, ranges: plan.count)
      let have: Set<Int>
      switch kind {
      case .file where asked == nil: have = []
      case .file(let target): have = try openPart(target, object, plan)
      case .stream(let target):
        try await openStream(target, object, plan)
        have = []
      }
      tell(.started(size: length, ranges: plan.count, rangeSize: plan.rangeSize))
      return .opened(
        ranges: plan.count, size: length, have: have, rangeSize: plan.rangeSize == rangeSize ? nil : plan.rangeSize)
    } catch {
      return .openFailed(error)
    }
  }

  private func range(of object: ObjectInfo, _ size: Int64) throws(Failure) -> (start: Int64, length: Int64) {
    if options.part != nil, let place = object.placeOfPart { return place }
    guard let range = options.range else { return (0, size) }
    guard range.lowerBound < size else {
      throw Failure(
        .usage, "the range begins after the object's \(size) bytes",
        remedy: size == 0 ? "the object is empty" : "its first byte is 0, its last \(size - 1)")
    }
    return (range.lowerBound, min(range.upperBound, size - 1) - range.lowerBound + 1)
  }

  /// The result if an existing file is left alone; throws if it may be neither left nor replaced.
  private func leaves(_ target: DownloadTarget, _ object: ObjectInfo) throws(Failure) -> DownloadedObject? {
    var result = DownloadedObject(.unchanged, object)
    if let wanted, let record = wanted.record, let found = target.found, let etag = object.etag,
      try record.knows(wanted.object.recorded(found, in: address.bucket), etag: etag)
    {
      result.evidence = "an earlier run downloaded it, and neither has changed since"
      return result
    }
    let compares = wanted?.compares ?? options.skipsSame
    if compares, options.range == nil, options.part == nil, target.found?.size == object.size {
      let file = TreeFile(folder: target.folder, path: target.name, nil)
      var sums = FileSums(try SourceFile(file, followsLinks: false), unless: { [progress] in progress.isStopped })
      let proof = ByteProof(
        plan: try? UploadPlan(size: object.size ?? 0), etagMayBeMD5: etagMayBeMD5 && object.encryption.etagMayBeMD5)
      if case .same(let match) = try proof.sign(of: object, &sums) {
        result.evidence = match.evidence
        result.checksum = match.sum
        try wanted?.object.noted?.prove(&sums, object, etagMayBeMD5: etagMayBeMD5, &result)
        return result
      }
    }
    if options.ifNewer, let found = target.found {
      // A downloaded file has the time that is stored with its object.
      guard let time = FileTime.noted(in: object.metadata)?.time.seconds ?? object.lastModified?.seconds else {
        throw Failure(
          .precondition, "the store does not say when the object was written, so nothing shows that it is newer")
      }
      if time <= found.modifiedSeconds {
        result.outcome = .skipped
        result.evidence = "the object is not newer than the file"
        return result
      }
      return nil
    }
    guard !options.overwrites else { return nil }
    throw Self.isThere(options)
  }

  static func isThere(_ options: DownloadOptions) -> Failure {
    Failure(
      .precondition,
      options.skipsSame
        ? "the file already exists, and is not known to be identical to the object" : "the file already exists",
      remedy: "replace it with \(.overwrites), or name another target"
        + (options.skipsSame ? "" : "; with \(.skipsSame) one that is identical to the object is left as it is"))
  }

  /// Decides which checksums are computed while the bytes arrive, and how the object is divided into parts.
  private func planProof(_ object: ObjectInfo, _ plan: RangePlan) async {
    let proof =
      options.range == nil && !object.isPartOnly
      ? await ByteProof.strongest(
        of: object, headOperation, client, etagMayBeMD5: etagMayBeMD5, readsOnce: kind.isStream)
      : ByteProof()
    known.withLock { known in
      known.plan = plan
      known.algorithms = Set(object.wholeChecksums.filter(\.isCRC)).union([.crc64nvme])
      known.proof = proof
    }
  }

  private func header(_ object: ObjectInfo, _ plan: RangePlan) -> DownloadRecord.Header? {
    guard case .file(let target) = kind, let etag = object.etag else { return nil }
    return DownloadRecord.Header(
      target: RecordTarget(origin: client.signer.origin, bucket: address.bucket, key: address.key),
      version: object.versionID ?? "", etag: etag, plan: plan, file: target.path)
  }

  /// How an interrupted run has divided the same bytes of the object.
  private func recordedRangeSize(_ object: ObjectInfo, _ plan: RangePlan) -> Int64? {
    guard let stateFolder, let header = header(object, plan) else { return nil }
    return DownloadRecord.rangeSize(stateFolder, header)
  }

  /// Opens the part file. Returns the ranges of an earlier run whose bytes on disk match their checksums.
  private func openPart(_ target: DownloadTarget, _ object: ObjectInfo, _ plan: RangePlan) throws(Failure) -> Set<Int> {
    let part = if let part = known.withLock({ $0.part }) { part } else { try PartFile.open(for: target) }
    known.withLock { $0.part = part }
    // With a single range there is nothing to resume.
    guard wanted == nil || plan.count > 1 else {
      try part.prepare(plan.size, keeps: false)
      return []
    }
    var record: DownloadRecord?
    if let stateFolder, let header = header(object, plan) {
      do throws(Failure) {
        record = try DownloadRecord.open(stateFolder, header)
      } catch {
        guard error.code == .local else { throw error }
        tell(.warning("this download cannot be resumed: \(error.message)"))
      }
    }
    known.withLock { $0.record = record }
    let noted = record?.found ?? [:]
    try part.prepare(plan.size, keeps: !noted.isEmpty)
    let algorithms = known.withLock { $0.algorithms }
    var have: Set<Int> = []
    var bytes: Int64 = 0
    for (number, sum) in noted where !progress.isStopped {
      let (offset, length) = plan.range(of: number)
      guard let sums = part.sum(algorithms, offset, length), sums[.crc64nvme] == sum else { continue }
      known.withLock { $0.sums[number] = sums }
      have.insert(number)
      bytes += length
    }
    progress.keep((have.count, bytes))
    if !have.isEmpty { tell(.resumed(ranges: have.count, bytes: bytes)) }
    return have
  }

  // MARK: - Ranges

  func get(_ number: Int, fresh: Bool, isCopy: Bool) async -> DownloadMachine.Event {
    let start = world.uptime()
    let (object, plan, algorithms, part, ordered, namesVersion) = known.withLock {
      ($0.object, $0.plan, $0.algorithms, $0.part, $0.ordered, $0.namesVersion)
    }
    guard let object, let size = object.size else { return .rangeFailed(number, Failure(.local, "no answer to HEAD")) }
    let (offset, length) = plan.range(of: number)
    let transfer = progress.begin(.init(part: number, isCopy: isCopy))
    var confirmed: Int64?
    defer { transfer.end(confirmed: confirmed) }
    do throws(Failure) {
      let wanted = RangeSink.Wanted(
        number: number, first: plan.start + offset, length: length, size: size, etag: object.etag.flatMap(ETag.init),
        modified: object.lastModified, versionID: object.versionID)
      let isListed = known.withLock { $0.isListed }
      let inMemory = isCopy || ordered != nil || isListed
      let (claims, ticket) = (claims, claims.enter())
      let last = Locked<Int64>(0)
      let bytes = Locked<[UInt8]>([])
      let traced = Locked<RequestTrace?>(nil)
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
        take: { piece, at in
          guard let part, !isListed else {
            bytes.withLock { $0 = Array(piece) }
            return nil
          }
          guard let result = claims.write(number, by: ticket, wins: isCopy, { part.write(piece, at: offset + at) })
          else {
            return Failure(.interrupted, "another copy of the range was faster")
          }
          return result
        })
      let get = GetObject(
        address, range: isListed ? nil : wanted.first...wanted.first + length - 1, ifMatch: object.etag,
        versionID: options.versionID ?? (namesVersion ? object.versionID : nil), wantsChecksums: isListed, sink: sink)
      let answer = try await perform(get, of: object) { request in
        request.freshConnection = fresh
        transfer.goes(with: request.trace)
        traced.withLock { $0 = request.trace }
      }
      // Without a body the sink was not called.
      if let problem = RangeSink.judge(answer.contentRange == nil ? 200 : 206, answer.object.headers, wanted) {
        throw problem
      }
      let sums = try sink.finish()
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
      known.withLock { $0.sums[number] = sums }
      ordered?.put(number, bytes.withLock { $0 })
      if let sum = sums[.crc64nvme] { known.withLock { $0.record }?.append(number, sum) }
      confirmed = length
      tell(.range(number: number, size: length, took: world.uptime() - start))
      return .rangeDone(.init(range: number, sum: sums[.crc64nvme]))
    } catch {
      return .rangeFailed(number, error.at(Place(part: number)))
    }
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
