/// An object that is identical to the file.
struct SameObject: Sendable {
  var object: ReportedObject
  var parts = 1
  /// The store's checksum of the object.
  var sum: ObjectChecksum?
  var evidence = ""
  /// The file's SHA-256, if it was requested.
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
  /// Nothing that the store reveals decides it.
  case unknown(why: String)
  case absent
}

/// Checks whether the object at a key is already identical to the local file.
///
/// The size is compared first, then what proves the bytes: the ETag, if it is made of MD5s, and the store's checksums.
struct SameCheck: Sendable {
  /// What the answer is for.
  enum Purpose: Sendable, Equatable {
    /// To leave the object alone. What is cheapest to compare comes first, because sending a file once more does no
    /// harm. If nothing proves the bytes, the same size and modification time may be enough.
    case skipping(timesCount: Bool)
    /// To report it: by the strongest available evidence.
    case verifying
  }

  let client: S3Client
  let head: HeadObject
  let file: SourceFile
  var purpose = Purpose.skipping(timesCount: true)
  /// How the file would be sent.
  var plan: UploadPlan?
  /// What a list of the bucket says about the object. Without it, a HEAD is sent first.
  var listed: ListedObject?
  var etagMayBeMD5 = true
  var wantsSHA256 = false
  var retry = RetryPolicy(tries: 1)
  var isStopped: @Sendable () -> Bool = { false }

  /// Runs the check; throws transient failures.
  func run() async throws(Failure) -> Sameness {
    var sums = FileSums(file, unless: isStopped)
    if let listed, let size = listed.size {
      guard size == file.size else { return differentSize(size) }
      // If it is not the file's MD5, a HEAD shows whether it is an MD5 at all: that of an object encrypted with KMS
      // only looks like one.
      if etagMayBeMD5,
        case .same(let object) = try held(
          &sums,
          { (sums: inout FileSums) throws(Failure) in
            guard case .same(let match) = try ByteProof(plan: plan).byETag(listed.etag, &sums) else { return .absent }
            return .same(SameObject(match, ReportedObject(size: size, etag: listed.etag)))
          })
      {
        return .same(object)
      }
    }
    let object: ObjectInfo
    do throws(Failure) {
      guard case .exists(let found) = try await client.perform(head, retrying: retry) else { return .absent }
      object = found
    } catch {
      guard error.hidesObject, purpose != .verifying else { throw error }
      return .unknown(why: error.reason(of: HeadObject.name))
    }
    guard let size = object.size else { return .unknown(why: "the store does not report the object's size") }
    guard size == file.size else { return differentSize(size) }
    let proof = await proof(of: object)
    let answer = try held(&sums) { (sums: inout FileSums) throws(Failure) in try judge(object, proof, &sums) }
    guard case .different = answer, purpose == .verifying, let listed = await proof.listed(object, head, client) else {
      return answer
    }
    return try held(&sums) { (sums: inout FileSums) throws(Failure) in try judge(object, listed, &sums) }
  }

  private func proof(of object: ObjectInfo) async -> ByteProof {
    switch purpose {
    case .skipping: ByteProof(plan: plan, etagMayBeMD5: etagMayBeMD5)
    case .verifying: await .strongest(of: object, head, client, etagMayBeMD5: etagMayBeMD5)
    }
  }

  /// Judges a file once more that was touched while its checksum was computed: the earlier result may be about other
  /// bytes.
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

  private func differentSize(_ size: Int64) -> Sameness { .different(why: file.differs(from: size)) }

  private func judge(
    _ object: ObjectInfo, _ proof: ByteProof, _ sums: inout FileSums
  ) throws(Failure) -> Sameness {
    switch try proof.sign(of: object, &sums) {
    case .same(let match): return .same(SameObject(match, ReportedObject(object)))
    case .different(let why): return .different(why: why)
    case .doubtful(let why): return .unknown(why: "\(why), as far as their sizes can be guessed")
    case .none: break
    }
    guard purpose == .skipping(timesCount: true), let time = FileTime.noted(in: object.metadata, of: file.identity)
    else {
      return .unknown(
        why: "nothing that the store reveals about the object shows whether it is the file: \(Self.lack(object))")
    }
    guard time.isSame else { return .different(why: "\(time.name) of the object is \(time.text), not the file's") }
    return .same(
      SameObject(object: ReportedObject(object), evidence: "size and \(time.name) of the object are the file's"))
  }

  /// What is missing to decide.
  private static func lack(_ object: ObjectInfo) -> String {
    let sum =
      object.checksums.isEmpty
      ? "it has no checksum of the object" : "its checksum is of parts whose sizes are not known"
    guard let etag = object.etag.flatMap(ETag.init) else { return "\(sum), and no ETag" }
    guard object.encryption.etagMayBeMD5 else {
      return "\(sum), and because the object is encrypted, its ETag is not an MD5"
    }
    if case .multipart = etag.form { return "\(sum), and its ETag is of parts whose sizes are not known" }
    return "\(sum), and its ETag is not an MD5"
  }
}

extension Failure {
  /// Whether a HEAD does not show the object to this caller. 400: it is encrypted with a key that only its owner has.
  var hidesObject: Bool { status == 400 || (status == 403 && code == .credentials) }
}
