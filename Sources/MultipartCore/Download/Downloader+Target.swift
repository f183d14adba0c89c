import MultipartBasics

/// Decides what happens to the target, and opens the part file.
extension Downloader {
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
      if case .file(let target) = kind, target.found != nil, let left = try await leaves(target, object) {
        known.withLock { $0.result = left }
        if left.outcome == .unchanged, wanted?.onlyLooks != true {
          discardEarlier(target, object, plan)
        }
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
  private func leaves(_ target: DownloadTarget, _ object: ObjectInfo) async throws(Failure) -> DownloadedObject? {
    var result = DownloadedObject(.unchanged, object)
    if let wanted, let record = wanted.record, let found = target.found, found.size == object.size,
      let identity = wanted.object.identity(ObjectIdentity(object)),
      try record.knows(wanted.object.recorded(found, in: address.bucket), identity: identity)
    {
      result.evidence = "an earlier run downloaded it, and neither has changed since"
      return result
    }
    let compares = wanted?.compares ?? options.skipsSame
    if compares, options.range == nil, options.part == nil, target.found?.size == object.size,
      let source = try comparable(target)
    {
      var sums = FileSums(source, unless: { [progress] in progress.isStopped })
      var proof = await ByteProof.strongest(of: object, headOperation, client, etagMayBeMD5: etagMayBeMD5)
      proof.plan = try? UploadPlan(size: object.size ?? 0)
      var sign = try proof.sign(of: object, &sums)
      if case .different = sign, let listed = await proof.listed(object, headOperation, client) {
        sign = try listed.sign(of: object, &sums)
      }
      if case .same(let match) = sign {
        result.evidence = match.evidence
        result.checksum = match.sum
        try wanted?.object.noted?.prove(&sums, object, etagMayBeMD5: etagMayBeMD5, &result)
        return result
      }
    }
    if options.ifNewer, let found = target.found {
      // A downloaded file has the time that is stored with its object.
      guard let isNewer = FileTime.isNewer(object, than: found) else {
        throw Failure(
          .precondition, "the store does not say when the object was written, so nothing shows that it is newer")
      }
      if !isNewer {
        try wanted?.object.noted?.refute(object, etagMayBeMD5: etagMayBeMD5)
        result.outcome = .skipped
        result.evidence = "the object is not newer than the file"
        return result
      }
      return nil
    }
    guard !options.overwrites else { return nil }
    throw Self.isThere(options)
  }

  /// The target for comparing it; nil if it cannot be read, but is replaced in any case.
  private func comparable(_ target: DownloadTarget) throws(Failure) -> SourceFile? {
    do throws(Failure) {
      return try SourceFile(TreeFile(folder: target.folder, path: target.name, nil), followsLinks: false)
    } catch {
      guard error.code == .sourceMissing else { throw error }
      guard !options.overwrites else { return nil }
      throw Failure(
        .precondition, "the file already exists, and cannot be read to compare it",
        remedy: "make it readable, or replace it with \(.overwrites)")
    }
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
    guard case .file(let target) = kind, object.etag != nil, let identity = ObjectIdentity(object).text else {
      return nil
    }
    return DownloadRecord.Header(
      target: recordTarget, version: object.versionID ?? "", identity: identity, plan: plan, file: target.path)
  }

  /// The part file that an earlier run has left of this object, if it also left a record.
  var earlierPart: FilePath? {
    guard case .file(let target) = kind, let stateFolder,
      DownloadRecord.isLeft(stateFolder, recordTarget, target.path)
    else { return nil }
    return PartFile.left(for: target)
  }

  private var recordTarget: RecordTarget {
    RecordTarget(origin: client.signer.origin, bucket: address.bucket, key: address.key)
  }

  /// Removes what an interrupted run has left: the target is identical to the object without it.
  private func discardEarlier(_ target: DownloadTarget, _ object: ObjectInfo, _ plan: RangePlan) {
    let mayBeLeft = wanted?.mayBeOwn == true || isRecorded(plan) && recordedRangeSize(object, plan) != nil
    guard mayBeLeft, PartFile.discard(for: target), isRecorded(plan), let stateFolder,
      let header = header(object, plan)
    else { return }
    (try? DownloadRecord.open(stateFolder, header))?.close(keeps: false)
  }

  /// Of many objects, those of one range are not worth a record each.
  private func isRecorded(_ plan: RangePlan) -> Bool { wanted == nil || plan.count > 1 }

  /// How an interrupted run has divided the same bytes of the object.
  private func recordedRangeSize(_ object: ObjectInfo, _ plan: RangePlan) -> Int64? {
    guard let stateFolder, let header = header(object, plan) else { return nil }
    return DownloadRecord.rangeSize(stateFolder, header)
  }

  /// The part file. If it is emptied, the old one is closed when this returns: a large one needs its room for the new one.
  func part(for target: DownloadTarget, empties: Bool) throws(Failure) -> PartFile {
    let opened = if let part = known.withLock({ $0.part }) { part } else { try PartFile.open(for: target) }
    return empties ? try opened.emptied(for: target) : opened
  }

  /// Opens the part file. Returns the ranges of an earlier run whose bytes on disk match their checksums.
  private func openPart(_ target: DownloadTarget, _ object: ObjectInfo, _ plan: RangePlan) throws(Failure) -> Set<Int> {
    // The record comes first: a run that may not have one must not touch what the part file has.
    var isSpared = false
    if isRecorded(plan), let stateFolder, let header = header(object, plan) {
      do throws(Failure) {
        guard let record = try DownloadRecord.open(stateFolder, header) else { throw PartFile.isTaken(target) }
        known.withLock { $0.record = record }
      } catch {
        guard error.code == .local else { throw error }
        isSpared = true
        tell(.warning("this download cannot be resumed: \(error.message)"))
      }
    }
    let noted = known.withLock { $0.record?.found ?? [:] }
    let part = try part(for: target, empties: !isSpared && noted.isEmpty)
    let algorithms = known.withLock { [isSpared] known in
      known.part = part
      known.sparesPart = isSpared && part.wasLeft
      return known.algorithms
    }
    try part.prepare(plan.size)
    var have: Set<Int> = []
    var bytes: Int64 = 0
    for (number, written) in noted where !progress.isStopped {
      let (offset, length) = plan.range(of: number)
      guard let sums = part.sum(algorithms, offset, written.length), sums[.crc64nvme] == written.sum else { continue }
      if written.length == length {
        known.withLock { $0.sums[number] = sums }
        have.insert(number)
      } else {
        let beginning = Known.Beginning(length: written.length, sums: sums, resumed: written.length)
        known.withLock { $0.beginnings[number] = beginning }
      }
      bytes += written.length
    }
    progress.keep((have.count, bytes))
    if bytes > 0 { tell(.resumed(ranges: have.count, bytes: bytes)) }
    return have
  }
}
