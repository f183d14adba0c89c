import MultipartBasics

/// The checksums of bytes that are compared with an object.
protocol ByteSums {
  var size: Int64 { get }
  mutating func of(_ algorithm: ChecksumAlgorithm) throws(Failure) -> Checksum
  /// The composite checksum of an object in these parts; nil if it was not computed.
  mutating func composite(of cut: PartCut, _ algorithm: ChecksumAlgorithm) throws(Failure) -> CompositeChecksum?
  /// The ETag of an object in these parts; nil if it was not computed.
  mutating func etag(of cut: PartCut) throws(Failure) -> ETag?
}

/// Decides by what a store says about an object whether it has these bytes: the rules for a file that may already
/// exist, and for a downloaded object.
struct ByteProof: Sendable {
  /// How the object is probably divided into parts.
  var plan: UploadPlan?
  var etagMayBeMD5 = true
  /// Whether the checksums of the parts, in any size that they may have, are tried before an ETag, although that may
  /// cost more passes over the bytes.
  var strongestFirst = false
  /// The division that the store has revealed: other sizes need not be tried, and checksums that differ mean different
  /// bytes.
  var cut: PartCut?
  /// Whether the store was asked for the size of each part, not only of the first.
  var isListed = false

  /// The verdict of the first property that gives one.
  func sign(of object: ObjectInfo, _ sums: inout some ByteSums) throws(Failure) -> Sign {
    var doubt: Sign?
    let strongest: [Property] = [.wholeChecksum, .compositeChecksum, .etag, .notedMD5]
    for property in strongestFirst ? strongest : Property.allCases {
      let sign = try sign(property, of: object, &sums)
      switch sign {
      case .same, .different: return sign
      case .doubtful: doubt = doubt ?? sign
      case .none: break
      }
    }
    if cut != nil, case .doubtful(let why)? = doubt { return .different(why: why) }
    return doubt ?? .none
  }

  /// The proof for bytes that are to be proven or refuted: the strongest evidence first, and if that is of parts, the
  /// store is asked for the size of the first one. `head` has found the object; without it the store cannot be asked.
  /// If the bytes can be read only once, the last part is looked at too, since no second division can be tried.
  static func strongest(
    of object: ObjectInfo, _ head: HeadObject?, _ client: S3Client, etagMayBeMD5: Bool, readsOnce: Bool = false
  ) async -> ByteProof {
    let proof = ByteProof(
      etagMayBeMD5: etagMayBeMD5 && object.encryption.etagMayBeMD5, strongestFirst: true)
    guard let head, object.needsParts,
      let first = try? await client.parts(of: object, head, retrying: RetryPolicy(tries: 3))
    else { return proof }
    var found = first.cut(of: object)
    if readsOnce, let cut = found, await !client.hasLastPart(cut, of: object, head) { found = nil }
    guard let cut = found else { return await proof.listed(object, head, client) ?? proof }
    var known = proof
    known.cut = cut
    return known
  }

  /// The proof by the size of each part, after parts of the first one's size did not match: the parts of an object may
  /// have any sizes. Nil if the store does not reveal them, or nothing changes.
  func listed(_ object: ObjectInfo, _ head: HeadObject?, _ client: S3Client) async -> ByteProof? {
    guard let head, object.needsParts, !isListed, let found = await client.cut(of: object, head), found != cut else {
      return nil
    }
    var listed = self
    (listed.cut, listed.isListed) = (found, true)
    return listed
  }

  /// The properties that can prove the bytes of an object, in the order in which they are checked.
  private enum Property: CaseIterable {
    case wholeChecksum, etag, compositeChecksum, notedMD5
  }

  private func sign(
    _ property: Property, of object: ObjectInfo, _ sums: inout some ByteSums
  ) throws(Failure) -> Sign {
    switch property {
    case .wholeChecksum: return try byWholeChecksum(object, &sums)
    case .etag:
      guard etagMayBeMD5, object.encryption.etagMayBeMD5 else { return .none }
      return try byETag(object.etag, &sums)
    case .compositeChecksum: return try byCompositeChecksum(object, &sums)
    case .notedMD5: return try byNotedMD5(object, &sums)
    }
  }

  /// What one property of an object says about the file.
  enum Sign {
    case same(Match)
    case different(why: String)
    /// A different division into parts would explain it too, so that a checksum may still show that it is identical.
    case doubtful(why: String)
    case none
  }

  struct Match {
    var parts = 1
    var sum: ObjectChecksum?
    var evidence: String
  }

  func byETag(_ text: String?, _ sums: inout some ByteSums) throws(Failure) -> Sign {
    guard let etag = text.flatMap(ETag.init) else { return .none }
    switch etag.form {
    case .opaque: return .none
    case .md5(let md5):
      guard try sums.of(.md5).bytes == md5 else { return .different(why: "the object's ETag is not the file's MD5") }
      return .same(Match(evidence: "MD5 \(etag.value) in the object's ETag matches the file"))
    case .multipart(_, let parts):
      let cuts = cuts(of: parts, sums.size)
      for cut in cuts where try sums.etag(of: cut) == etag {
        return .same(
          Match(
            parts: parts,
            evidence: "ETag \(etag.value) matches the file in \(parts) parts\(cut.title)"))
      }
      guard !cuts.isEmpty else { return .none }
      let why = "the object's ETag does not match the file in \(parts) parts"
      return parts == 1 ? .different(why: why) : .doubtful(why: why)
    }
  }

  /// Usual part sizes of other programs, which are tried first.
  private static let usualSizes: [Int64] = [5, 8, 10, 15, 16, 25, 32, 50, 64, 100, 128, 256, 512].map { $0 << 20 }
  /// Each division costs a pass over the file.
  private static let mostCuts = 12

  /// Divisions that give this number of parts: the file's own plan, then parts of whole MiB, the usual ones first.
  func cuts(of parts: Int, _ length: Int64) -> [PartCut] {
    guard S3Limits.partNumbers.contains(parts) else { return [] }
    if let cut { return cut.count == parts ? [cut] : [] }
    // A single part is the whole file, whatever the part size.
    guard parts > 1 else { return [PartCut(length, partSize: length)] }
    var sizes = Self.usualSizes
    // N parts of s bytes: N - 1 whole ones are less than the file, and N are not.
    let least = max(1, ((length - 1) / Int64(parts)) >> 20)
    let most = ((length - 1) / Int64(parts - 1)) >> 20
    for size in least...max(least, min(most, least + Int64(Self.mostCuts))) where !sizes.contains(size << 20) {
      sizes.append(size << 20)
    }
    if let plan, !plan.isSingle { sizes.insert(plan.partSize, at: 0) }
    var cuts: [PartCut] = []
    for size in sizes where cuts.count < Self.mostCuts {
      let cut = PartCut(length, partSize: size)
      if cut.count == parts, !cuts.contains(cut) { cuts.append(cut) }
    }
    return cuts
  }

  /// Compares with the strongest checksum in the order of the algorithms, CRC64NVME first.
  private func byWholeChecksum(_ object: ObjectInfo, _ sums: inout some ByteSums) throws(Failure) -> Sign {
    for algorithm in ChecksumAlgorithm.allCases {
      guard object.type(of: algorithm) == .fullObject,
        let given = object.wholeChecksum(algorithm)
      else { continue }
      let sum = ObjectChecksum(algorithm, .fullObject, given.base64)
      guard try sums.of(algorithm) == given else {
        guard object.refutes(algorithm) else { continue }
        return .different(why: "the object's \(sum.title) does not match the file")
      }
      let parts = object.parsedETag?.parts ?? 1
      return .same(Match(parts: parts, sum: sum, evidence: "\(sum.title) \(sum.value) matches the file"))
    }
    return .none
  }

  private func byCompositeChecksum(_ object: ObjectInfo, _ sums: inout some ByteSums) throws(Failure) -> Sign {
    for algorithm in ChecksumAlgorithm.allCases {
      guard let given = object.compositeChecksum(algorithm) else { continue }
      let sum = ObjectChecksum(algorithm, .composite, given.text)
      // A file is compared only in its own parts: it is sent once more rather than read for each other size.
      let cuts =
        strongestFirst
        ? cuts(of: given.parts, sums.size) : plan.map { $0.partCount == given.parts ? [PartCut($0)] : [] } ?? []
      for cut in cuts where try sums.composite(of: cut, algorithm) == given {
        return .same(
          Match(
            parts: given.parts, sum: sum,
            evidence: "\(sum.title) \(sum.value) matches the file in \(given.parts) parts"))
      }
      guard !cuts.isEmpty else { continue }
      return .doubtful(why: "the object's \(sum.title) does not match the file in \(given.parts) parts")
    }
    return .none
  }

  /// Compares with the MD5 that a program has recorded with the object: s3cmd in hex, rclone in base64, for objects in
  /// parts.
  private func byNotedMD5(_ object: ObjectInfo, _ sums: inout some ByteSums) throws(Failure) -> Sign {
    let s3cmd = S3cmdAttributes(object.metadata)?["md5"].flatMap { Hex.decode($0) }
      .flatMap { Checksum(.md5, bytes: $0) }
    let rclone = object.metadata.value("md5chksum").flatMap { Checksum(.md5, base64: ASCII.trimmed($0)) }
    var match: Match?
    for (noted, program) in [(s3cmd, "s3cmd"), (rclone, "rclone")] {
      guard let noted else { continue }
      guard try sums.of(.md5) == noted else {
        return .different(why: "the MD5 recorded by \(program) does not match the file")
      }
      match = Match(evidence: "MD5 \(noted.hex) recorded by \(program) matches the file")
    }
    return match.map { .same($0) } ?? .none
  }
}

extension ObjectInfo {
  var wholeChecksums: [ChecksumAlgorithm] { ChecksumAlgorithm.allCases.filter { wholeChecksum($0) != nil } }
}
