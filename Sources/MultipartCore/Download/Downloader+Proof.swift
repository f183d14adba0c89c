import MultipartBasics

/// Proves that the received bytes are the object, and gives the file its name.
extension Downloader {
  func prove() async -> DownloadMachine.Event {
    do throws(Failure) {
      let now = known.withLock { $0 }
      guard let object = now.object else { return .proofFailed(Failure(.local, "no answer to HEAD")) }
      // What was received need not be what the file holds; a body that was received as a whole is written at once.
      if now.body == nil, let part = now.part, part.hasHole(before: now.plan.size), try !holds(part, now) {
        return .refuted(Self.refutation("another program has truncated the file"))
      }
      var result = DownloadedObject(.completed, object)
      (result.size, result.parts) = (now.plan.size, now.plan.count)
      result.evidence = Self.sizeOnly
      // Computed even if it cannot be proven: a pipe's reader has received all but the last range.
      let stream = if let body = now.body { body } else { try await now.ordered?.wholeSums() }
      if options.range != nil {
        result.evidence = "size of the range only: stores have no checksum of a range"
      } else {
        let isPart = options.part != nil && object.isPartOnly
        if isPart { result.evidence = "size of the part only: the store has no checksum of it" }
        switch try sign(isPart ? object.asPart : object, now, stream) {
        case .same(let match):
          result.evidence = match.evidence
          result.checksum = match.sum
          result.isProven = true
        case .different(let why) where isPart:
          guard try await isChecksumOfWhole(object) else { return .refuted(Self.refutation(why)) }
        case .different(let why):
          // The parts may have sizes that nothing has shown so far.
          guard let listed = await now.proof.listed(object, headOperation, client) else {
            guard options.isComparedByReader else { return .refuted(Self.refutation(why)) }
            result.isContradicted = true
            break
          }
          guard now.ordered != nil else {
            known.withLock { ($0.proof, $0.body) = (listed, nil) }
            return await prove()
          }
          guard options.isComparedByReader else { return .refuted(Self.passedBy) }
          result.evidence = Self.unknownParts
        case .doubtful:
          result.evidence = Self.unknownParts
        case .none: break
        }
      }
      if let listed = wanted?.object.noted, let part = now.part {
        var sums = FileSums(try part.source(), unless: { [progress] in progress.isStopped })
        try listed.prove(&sums, object, etagMayBeMD5: etagMayBeMD5, &result)
      }
      known.withLock { $0.result = result }
      return .proven
    } catch {
      return .proofFailed(await explained(error))
    }
  }

  private static let sizeOnly = "size only: nothing that the store reveals about the object proves its bytes"

  private static let unknownParts =
    "size only: the sizes of the parts behind the store's ETag or checksum are not known"

  /// For bytes that pass by once: their checksums were computed for parts of other sizes.
  private static let passedBy = Failure(
    .dataMismatch, "the downloaded bytes are not proven: the object's parts have unusual sizes",
    remedy: "download it into a file: there the checksum of each part can be compared afterwards")

  /// Whether the checksum is that of the whole object, which some stores return with each part.
  private func isChecksumOfWhole(_ part: ObjectInfo) async throws(Failure) -> Bool {
    guard let headOperation else { return false }
    let whole = try await client.perform(headOperation, retrying: RetryPolicy(tries: 3)).object()
    return part.checksums.allSatisfy { whole.checksums[$0.key] == $0.value }
  }

  private static func refutation(_ why: String) -> Failure {
    Failure(
      .dataMismatch, "the downloaded bytes are not the object: \(why)",
      remedy: "run it again, and if it fails in the same way, the store's copy is damaged")
  }

  /// Whether the file has the bytes that were received; they are read again.
  private func holds(_ part: PartFile, _ now: Known) throws(Failure) -> Bool {
    for number in 1...max(1, now.plan.count) {
      guard !progress.isStopped else { throw .interrupted }
      let (offset, length) = now.plan.range(of: number)
      guard let received = now.sums[number]?[.crc64nvme],
        part.sum([.crc64nvme], offset, length)?[.crc64nvme] == received
      else { return false }
    }
    return true
  }

  private func sign(
    _ object: ObjectInfo, _ now: Known, _ stream: StreamSums?
  ) throws(Failure) -> ByteProof.Sign {
    if var stream { return try now.proof.sign(of: object, &stream) }
    if var combined = CombinedSums(now), combined.proves(object) { return try now.proof.sign(of: object, &combined) }
    guard let part = now.part else { return .none }
    var sums = FileSums(try part.source(), unless: { [progress] in progress.isStopped })
    return try now.proof.sign(of: object, &sums)
  }

  func publish() async -> DownloadMachine.Event {
    let (part, ordered, size) = known.withLock { ($0.part, $0.ordered, $0.plan.size) }
    do throws(Failure) {
      if let ordered { try await release(ordered) }
      if case .file(let target) = kind, let part {
        let object = known.withLock { $0.object }
        let record = wanted?.record
        try record?.begin(bucket: address.bucket, key: address.key)
        do throws(Failure) {
          // A piece of the object does not have its time.
          let isWhole = options.range == nil && options.part == nil
          try target.publish(
            part, of: size, replaces: options.overwrites || options.ifNewer,
            modified: isWhole ? object.flatMap { FileTime.noted(in: $0.metadata)?.time } : nil)
        } catch {
          try record?.withdraw(bucket: address.bucket, key: address.key)
          throw error
        }
        known.withLock { $0.published = part.identity }
      }
      return .published
    } catch {
      return .publishFailed(error)
    }
  }
}

/// The CRCs of the whole object, combined from those of its ranges: no byte is read again.
private struct CombinedSums: ByteSums {
  let size: Int64
  private var whole: [ChecksumAlgorithm: Checksum] = [:]

  init?(_ known: Downloader.Known) {
    size = known.plan.size
    let plan = known.plan
    for algorithm in known.algorithms {
      var pieces: [(checksum: Checksum, length: Int64)] = []
      for number in 0..<plan.count {
        guard let sum = known.sums[number + 1]?[algorithm] else { return nil }
        pieces.append((sum, plan.range(of: number + 1).length))
      }
      whole[algorithm] = CRCCombiner.combine(algorithm, pieces.map { ($0.checksum, $0.length) })
    }
  }

  func proves(_ object: ObjectInfo) -> Bool { whole.keys.contains { object.wholeChecksum($0) != nil } }

  func of(_ algorithm: ChecksumAlgorithm) throws(Failure) -> Checksum {
    guard let sum = whole[algorithm] else { throw Failure(.local, "\(algorithm.rawValue) was not computed") }
    return sum
  }

  func composite(of cut: PartCut, _ algorithm: ChecksumAlgorithm) -> CompositeChecksum? { nil }
  func etag(of cut: PartCut) -> ETag? { nil }
}
