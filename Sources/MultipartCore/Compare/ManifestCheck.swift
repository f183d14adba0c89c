import MultipartBasics

/// Compares an object with its entry in a manifest.
struct ManifestCheck: Sendable {
  private let store: Store
  private let entry: ManifestEntry
  private let key: String
  private var options: VerifyOptions

  init(_ store: Store, _ entry: ManifestEntry, _ key: String, _ options: VerifyOptions) {
    (self.store, self.entry, self.key, self.options) = (store, entry, key, options)
    if let version = entry.versionID { self.options.versionID = version }
  }

  func run() async throws(Failure) -> VerifiedObject {
    guard let object = try await store.look(at: key, options) else { throw HeadObject.noObject }
    try entry.check(object)
    var (read, sums): (DownloadedObject?, [ChecksumAlgorithm: Checksum]) = (nil, [:])
    if options.comparesBytes {
      var running = try MultiChecksum(entry.algorithms.union(entry.listsMD5 ? [.md5] : []))
      let whole = try await store.readThrough(key, options) { piece in piece.withUnsafeBytes { running.update($0) } }
      guard !ObjectIdentity(object).isReplaced(by: whole.identity) else { throw RangeSink.replaced }
      (read, sums) = (whole, try running.finish())
    }
    let verdict = try entry.judge(object, etagMayBeMD5: store.etagMayBeMD5) { sums[$0] ?? object.wholeChecksum($0) }
    switch verdict {
    case .same(_, _, .opaque): throw Self.unknown("its ETag is the listed one, but not made of its bytes", remedy: nil)
    case .same(_, nil, .store) where entry.contradicts(sums[.md5]): throw ManifestEntry.different(ManifestEntry.damaged)
    case .same(_, _, .store) where read?.isContradicted == true: throw ManifestEntry.different(ManifestEntry.damaged)
    // The list says that the object is the same, and its bytes may still be damaged.
    case .same(_, _, .store) where read?.isProven == false:
      throw Self.unknown("the manifest lists no checksum of its bytes, and the store has none", remedy: nil)
    case .same(let match, let sum, _):
      let how = read == nil ? "matches" : "matches, and every byte was downloaded"
      var verified = VerifiedObject(read, object, evidence: "\(match) in the manifest \(how)")
      verified.checksum = sum ?? verified.checksum
      return verified
    case .different(let why): throw ManifestEntry.different(why)
    case .unknown(let lack):
      let canTell = !options.comparesBytes && !entry.algorithms.isEmpty
      throw Self.unknown(lack, remedy: canTell ? Verification.wayToKnow : nil)
    }
  }

  private static func unknown(_ lack: String, remedy: Wording?) -> Failure {
    Failure(
      .refused, "it is not known whether the object is the one that the manifest lists: \(lack)",
      remedy: remedy ?? "download the object, and compare it with what else you have of it")
  }
}

extension ManifestEntry {
  enum Verdict {
    /// What matches, and which checksum of the object it is.
    case same(String, ObjectChecksum?, Basis)
    case different(Wording)
    case unknown(lack: String)
  }

  /// What a value that matches was made of.
  enum Basis {
    /// It is a checksum of all bytes.
    case bytes
    /// The store has made it of the bytes, in its own way.
    case store
    /// Nothing says that it has to do with the bytes.
    case opaque
  }

  /// The checksums of the bytes that an entry lists.
  var algorithms: Set<ChecksumAlgorithm> {
    if sha256 != nil { return [.sha256] }
    return if let checksum, checksum.type == .fullObject { [checksum.algorithm] } else { [] }
  }

  /// Whether the listed ETag has the form of an MD5 of all bytes.
  var listsMD5: Bool { if case .md5? = etag.flatMap(ETag.init)?.form { true } else { false } }

  /// Whether the listed ETag is the MD5 of other bytes than those that were read.
  func contradicts(_ sum: Checksum?) -> Bool {
    guard let sum, case .md5(let listed)? = etag.flatMap(ETag.init)?.form else { return false }
    return !sum.bytes.elementsEqual(listed)
  }

  /// Checks the object before anything is downloaded.
  func check(_ object: ObjectInfo) throws(Failure) {
    guard let size, let given = object.size, given != size else { return }
    throw Self.different("the object has \(given) bytes, and the manifest lists \(size)")
  }

  /// Throws if what the store says about the object shows that it is not the listed one.
  func refute(_ object: ObjectInfo, etagMayBeMD5: Bool) throws(Failure) {
    let verdict = try judge(object, etagMayBeMD5: etagMayBeMD5) { (algorithm) throws(Failure) in
      object.wholeChecksum(algorithm)
    }
    if case .different(let why) = verdict { throw Self.different(why) }
  }

  /// Compares by the strongest value that is listed. `sum` returns a checksum of the whole object, if there is one.
  func judge(
    _ object: ObjectInfo, etagMayBeMD5: Bool, _ sum: (ChecksumAlgorithm) throws(Failure) -> Checksum?
  ) throws(Failure) -> Verdict {
    if let sha256, let own = try sum(.sha256) {
      guard own == sha256 else { return .different("its SHA-256 is not the listed one") }
      return .same("SHA-256 \(sha256.hex)", nil, .bytes)
    }
    if let checksum {
      let isSame: Bool? =
        switch checksum.type {
        case .fullObject:
          if let listed = Checksum(checksum.algorithm, base64: checksum.value), let own = try sum(checksum.algorithm) {
            own == listed
          } else {
            nil
          }
        // The store's own checksum is compared with the bytes when they are downloaded.
        case .composite:
          object.counterpart(of: checksum).map { $0.utf8.elementsEqual(checksum.value.utf8) }
        }
      if let isSame {
        guard isSame else { return .different("its \(checksum.title) is not the listed one") }
        return .same("\(checksum.title) \(checksum.value)", checksum, checksum.type == .fullObject ? .bytes : .store)
      }
    }
    guard let listed = etag.flatMap(ETag.init), let given = object.parsedETag else {
      return .unknown(lack: lack)
    }
    guard given == listed else {
      let (given, listed) = (SafeText.oneLine(given.quoted), SafeText.oneLine(listed.quoted))
      return .different("its ETag is \(given), and the manifest lists \(listed)")
    }
    let isOfBytes = given.form != .opaque && etagMayBeMD5 && object.encryption.etagMayBeMD5
    return .same("ETag \(SafeText.oneLine(given.quoted))", nil, isOfBytes ? .store : .opaque)
  }

  private var lack: String {
    if sha256 != nil { return "the store has no SHA-256 of the object" }
    return checksum.map { "the store has no \($0.title) of the object" }
      ?? "the manifest lists neither a checksum nor an ETag of it"
  }

  static let damaged: Wording = "its bytes are not those that its ETag was made of"

  static func different(_ why: Wording) -> Failure {
    Failure(
      .dataMismatch, "the object is not the one that the manifest lists: " + why,
      remedy: "it was replaced or damaged since the manifest was written")
  }
}
