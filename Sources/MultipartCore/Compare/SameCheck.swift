/// An object that is the file already.
struct SameObject: Sendable {
  var object: ReportedObject
  var parts = 1
  /// A checksum that the store has of it, if it was compared.
  var sum: Expectation.Sum?
  var evidence = ""
  /// The file's, if it was asked for.
  var sha256: Checksum?
}

enum Sameness: Sendable {
  case same(SameObject)
  case different(why: String)
  case absent
}

/// Whether the object at a key is the local file already.
///
/// The size comes first, then what shows the bytes: the ETag, if it is made of MD5s, and the store's checksums. Only if
/// none of them can be compared, the same size and modification time may count. What is uncertain counts as different:
/// sending a file once more does no harm.
struct SameCheck: Sendable {
  let client: S3Client
  let bucket: String
  let key: String
  let file: SourceFile
  /// How the file would be sent.
  let plan: UploadPlan
  /// What a list of the bucket says of the object. Without it, HEAD is asked first.
  var listed: ListedObject?
  var etagMayBeMD5 = true
  var customerKey: CustomerKey?
  var common = CommonHeaders()
  /// The size and a time that was noted with the object are enough if nothing shows its bytes.
  var timesCount = true
  var wantsSHA256 = false
  var isStopped: @Sendable () -> Bool = { false }

  /// Throws failures that may pass.
  func run() async throws(Failure) -> Sameness {
    var sums = FileSums(file, unless: isStopped)
    if let listed, let size = listed.size {
      guard size == file.size else { return differentSize(size) }
      // If it is not the file's, HEAD tells whether it is an MD5 at all: that of an object encrypted with KMS only looks
      // like one.
      if etagMayBeMD5,
        case .same(let object) = try held(
          &sums,
          { (sums: inout FileSums) throws(Failure) in
            guard case .same(let sign) = try byETag(listed.etag, &sums) else { return .absent }
            return .same(sign.object(ReportedObject(size: size, etag: listed.etag)))
          })
      {
        return .same(object)
      }
    }
    do throws(Failure) {
      switch try await client.perform(
        HeadObject(bucket: bucket, key: key, customerKey: customerKey, common: common))
      {
      case .absent: return .absent
      case .exists(let object):
        return try held(&sums) { (sums: inout FileSums) throws(Failure) in try judge(object, &sums) }
      }
    } catch {
      guard error.hidesObject else { throw error }
      return .different(why: "HeadObject is not allowed")
    }
  }

  /// Judges a file that was touched while it was summed once more: what was found before may be of other bytes.
  private func held(
    _ sums: inout FileSums, _ judge: (inout FileSums) throws(Failure) -> Sameness
  ) throws(Failure) -> Sameness {
    func look(_ sums: inout FileSums) throws(Failure) -> Sameness {
      let answer = try judge(&sums)
      guard wantsSHA256, case .same(var object) = answer else { return answer }
      object.sha256 = try sums.of(.sha256)
      return .same(object)
    }
    var answer = try look(&sums)
    guard case .same = answer else { return answer }
    try file.confirm(unless: isStopped) { () throws(Failure) in
      var sums = FileSums(file, unless: isStopped)
      answer = try look(&sums)
      return if case .same = answer { true } else { false }
    }
    return answer
  }

  private func differentSize(_ size: Int64) -> Sameness {
    .different(why: "the object has \(size) bytes, the file \(file.size)")
  }

  private func judge(_ object: ObjectInfo, _ sums: inout FileSums) throws(Failure) -> Sameness {
    guard let size = object.size else { return .different(why: "the store does not say how long the object is") }
    guard size == file.size else { return differentSize(size) }
    var doubt: String?
    for property in Property.allCases {
      switch try sign(property, of: object, &sums) {
      case .same(let sign): return .same(sign.object(ReportedObject(object)))
      case .different(let why): return .different(why: why)
      case .doubtful(let why): doubt = doubt ?? why
      case .none: break
      }
    }
    if let doubt { return .different(why: doubt) }
    guard timesCount, let time = FileTime.noted(in: object.metadata, of: file.identity) else {
      return .different(why: "nothing that the store says of the object shows whether it is the file")
    }
    guard time.isSame else { return .different(why: "\(time.name) of the object is \(time.text), not the file's") }
    return .same(
      SameObject(object: ReportedObject(object), evidence: "size and \(time.name) of the object are the file's"))
  }
}

extension SameCheck {
  /// What can show the bytes of an object, in the order in which it is asked.
  private enum Property: CaseIterable {
    case wholeChecksum, etag, compositeChecksum, notedMD5
  }

  private func sign(
    _ property: Property, of object: ObjectInfo, _ sums: inout FileSums
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
  private enum Sign {
    case same(Match)
    case different(why: String)
    /// Other parts would explain it too, so that a checksum may still show that it is the same.
    case doubtful(why: String)
    case none
  }

  private struct Match {
    var parts = 1
    var sum: Expectation.Sum?
    var evidence: String

    func object(_ object: ReportedObject) -> SameObject {
      SameObject(object: object, parts: parts, sum: sum, evidence: evidence)
    }
  }

  private func byETag(_ text: String?, _ sums: inout FileSums) throws(Failure) -> Sign {
    guard let etag = text.flatMap(ETag.init) else { return .none }
    switch etag.form {
    case .opaque: return .none
    case .md5(let md5):
      guard try sums.of(.md5).bytes == md5 else { return .different(why: "the object's ETag is not the file's MD5") }
      return .same(Match(evidence: "MD5 \(etag.value) of the object's ETag is the file's"))
    case .multipart(_, let parts):
      let plans = plans(of: parts)
      for plan in plans where try sums.etag(of: plan) == etag {
        let size = parts == 1 ? "" : " of \(plan.partSize) bytes"
        return .same(
          Match(parts: parts, evidence: "ETag \(etag.value) of the object is that of the file in \(parts) parts\(size)")
        )
      }
      guard !plans.isEmpty else { return .none }
      let why = "the object's ETag is not that of the file in \(parts) parts"
      return parts == 1 ? .different(why: why) : .doubtful(why: why)
    }
  }

  /// The part sizes of other programs, which are tried first.
  private static let usualSizes: [Int64] = [5, 8, 10, 15, 16, 25, 32, 50, 64, 100, 128, 256, 512].map { $0 << 20 }
  /// Each costs a pass over the file.
  private static let mostPlans = 12

  /// In which the file has this many parts: its own plan, then parts of whole MiB, the usual ones first.
  private func plans(of parts: Int) -> [UploadPlan] {
    guard S3Limits.partNumbers.contains(parts) else { return [] }
    // Whatever the part size is, the one part is the file.
    guard parts > 1 else {
      let one = try? UploadPlan(inParts: file.size, of: max(S3Limits.smallestPart, file.size))
      return one.map { [$0] } ?? []
    }
    var sizes = Self.usualSizes
    // N parts of s bytes: N - 1 whole ones are less than the file, and N are not.
    let least = max(1, ((file.size - 1) / Int64(parts)) >> 20)
    let most = ((file.size - 1) / Int64(parts - 1)) >> 20
    for size in least...max(least, min(most, least + Int64(Self.mostPlans))) where !sizes.contains(size << 20) {
      sizes.append(size << 20)
    }
    var plans = plan.partCount == parts ? [plan] : []
    for size in sizes where plans.count < Self.mostPlans && !plans.contains(where: { $0.partSize == size }) {
      if let plan = try? UploadPlan(size: file.size, partSize: size), plan.partCount == parts { plans.append(plan) }
    }
    return plans
  }

  /// The strongest in the order of the algorithms, CRC64NVME first.
  private func byWholeChecksum(_ object: ObjectInfo, _ sums: inout FileSums) throws(Failure) -> Sign {
    for algorithm in ChecksumAlgorithm.allCases {
      guard object.type(of: algorithm) == .fullObject,
        let given = object.checksums[algorithm.headerName].flatMap({ Checksum(algorithm, base64: $0) })
      else { continue }
      let sum = Expectation.Sum(algorithm: algorithm, type: .fullObject, text: given.base64)
      guard try sums.of(algorithm) == given else {
        return .different(why: "the object's \(sum.title) is not the file's")
      }
      let parts = object.etag.flatMap(ETag.init)?.parts ?? 1
      return .same(Match(parts: parts, sum: sum, evidence: "\(sum.title) \(sum.text) of the object is the file's"))
    }
    return .none
  }

  private func byCompositeChecksum(_ object: ObjectInfo, _ sums: inout FileSums) throws(Failure) -> Sign {
    for algorithm in ChecksumAlgorithm.allCases {
      guard object.type(of: algorithm) == .composite,
        let given = object.checksums[algorithm.headerName].flatMap({ CompositeChecksum(algorithm, text: $0) }),
        given.parts == plan.partCount
      else { continue }
      let sum = Expectation.Sum(algorithm: algorithm, type: .composite, text: given.text)
      guard try CompositeChecksum(of: sums.of(parts: plan, algorithm)) == given else {
        return .doubtful(why: "the object's \(sum.title) is not that of the file in \(given.parts) parts")
      }
      return .same(
        Match(
          parts: given.parts, sum: sum,
          evidence: "\(sum.title) \(sum.text) of the object is that of the file in \(given.parts) parts"))
    }
    return .none
  }

  /// The MD5 that a program has noted with the object: s3cmd in hex, rclone in base64, for objects in parts.
  private func byNotedMD5(_ object: ObjectInfo, _ sums: inout FileSums) throws(Failure) -> Sign {
    let s3cmd = S3cmdAttributes(object.metadata)?["md5"].flatMap { Hex.decode($0) }
      .flatMap { Checksum(.md5, bytes: $0) }
    let rclone = object.metadata.value("md5chksum").flatMap { Checksum(.md5, base64: ASCII.trimmed($0)) }
    var match: Match?
    for (noted, program) in [(s3cmd, "s3cmd"), (rclone, "rclone")] {
      guard let noted else { continue }
      guard try sums.of(.md5) == noted else {
        return .different(why: "the MD5 that \(program) has noted is not the file's")
      }
      match = Match(evidence: "MD5 \(noted.hex) that \(program) has noted with the object is the file's")
    }
    return match.map { .same($0) } ?? .none
  }
}

extension Failure {
  /// A HEAD does not show the object to this caller. 400: it is encrypted with a key that only its owner has.
  var hidesObject: Bool { status == 400 || (status == 403 && code == .credentials) }
}

extension ETag {
  /// The number of parts that the object was made of, if the ETag shows it.
  fileprivate var parts: Int? {
    if case .multipart(_, let parts) = form { parts } else { nil }
  }
}

extension ObjectInfo {
  /// If the store does not name the type, the form of the checksum shows it: composite ones end in `-N`.
  fileprivate func type(of algorithm: ChecksumAlgorithm) -> ChecksumType? {
    guard algorithm != .md5, let given = checksums[algorithm.headerName] else { return nil }
    if let checksumType, !checksumType.isEmpty { return ChecksumType(awsName: checksumType) }
    return given.utf8.contains(UInt8(ascii: "-")) ? .composite : .fullObject
  }
}
