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

extension SameObject {
  fileprivate init(_ match: ByteProof.Match, _ object: ReportedObject) {
    self.init(object: object, parts: match.parts, sum: match.sum, evidence: match.evidence)
  }
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

  private var proof: ByteProof { ByteProof(plan: plan, etagMayBeMD5: etagMayBeMD5) }

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
            guard case .same(let match) = try proof.byETag(listed.etag, &sums) else { return .absent }
            return .same(SameObject(match, ReportedObject(size: size, etag: listed.etag)))
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
    switch try proof.sign(of: object, &sums) {
    case .same(let match): return .same(SameObject(match, ReportedObject(object)))
    case .different(let why), .doubtful(let why): return .different(why: why)
    case .none: break
    }
    guard timesCount, let time = FileTime.noted(in: object.metadata, of: file.identity) else {
      return .different(why: "nothing that the store says of the object shows whether it is the file")
    }
    guard time.isSame else { return .different(why: "\(time.name) of the object is \(time.text), not the file's") }
    return .same(
      SameObject(object: ReportedObject(object), evidence: "size and \(time.name) of the object are the file's"))
  }
}

extension Failure {
  /// A HEAD does not show the object to this caller. 400: it is encrypted with a key that only its owner has.
  var hidesObject: Bool { status == 400 || (status == 403 && code == .credentials) }
}
