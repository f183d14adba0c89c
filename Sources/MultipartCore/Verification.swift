/// Whether an object is a file, byte for byte.
public enum Verification: Sendable {
  /// It is.
  case same(VerifiedObject)
  /// It is not.
  case different(why: String)
  /// Nothing that the store tells decides it.
  case unknown(why: String)
  /// There is no object.
  case absent

  /// The proof, or a failure that says why there is none: `dataMismatch` if the object is not the file, else `refused`.
  public func proven() throws(Failure) -> VerifiedObject {
    switch self {
    case .same(let object): return object
    case .different(let why):
      throw Failure(
        .dataMismatch, "the object is not the file: \(why)",
        remedy: "one of the two was changed or damaged: find out which, before you replace either")
    case .unknown(let why):
      throw Failure(
        .refused, "it is not known whether the object is the file: \(why)", remedy: "download the object to compare it")
    case .absent: throw HeadObject.noObject
    }
  }
}

/// An object that was shown to be a file.
public struct VerifiedObject: Sendable {
  /// In bytes.
  public var size: Int64
  /// How many parts it was made of, as far as the proof has shown.
  public var parts: Int
  /// As the store gives it, including the quotes.
  public var etag: String?
  /// The version's id, if the bucket keeps versions.
  public var versionID: String?
  /// The store's checksum of the object, if the file was compared with it.
  public var checksum: ObjectChecksum?
  /// What proves it, for people: `CRC64NVME abc= of the object is the file's`.
  public var evidence: String
  /// The id by which the store finds the request in its logs.
  public var requestID: String?
}

/// How an object is compared with a file.
public struct VerifyOptions: Sendable {
  /// This version of the object instead of the newest.
  public var versionID: String?
  /// The key with which the object is encrypted (SSE-C).
  public var customerKey: CustomerKey?
  /// Of many: stops when one is not shown to be its file.
  public var stopsAtFirstFailure = false

  /// The defaults.
  public init() {}
}

extension Store {
  /// Whether an object is a file. Nothing is downloaded: the file is read, and compared with the size, the checksum or the
  /// ETag that the store has; the strongest that there is decides. Times never count. Cancelling the task ends it.
  ///
  ///     switch try await store.verify(.file("disk.img"), is: "images/disk.img") {
  ///     case .same(let object): print(object.evidence)
  ///     case .different(let why), .unknown(let why): print(why)
  ///     case .absent: print("not there")
  ///     }
  public func verify(
    _ input: UploadInput, is key: String, _ options: VerifyOptions = VerifyOptions()
  ) async throws(Failure) -> Verification {
    try checkKey(options.customerKey)
    guard let file = try input.openFile() else {
      throw Failure(.usage, "a stream cannot be verified, only a file", remedy: "write it into a file first")
    }
    let check = SameCheck(
      client: client,
      head: HeadObject(address(key, customerKey: options.customerKey), versionID: options.versionID),
      file: file, purpose: .verifying, etagMayBeMD5: etagMayBeMD5, retry: retry, isStopped: { Task.isCancelled })
    switch try await check.run() {
    case .same(let same):
      return .same(
        VerifiedObject(
          size: file.size, parts: same.parts, etag: same.object.etag, versionID: same.object.versionID,
          checksum: same.sum, evidence: same.evidence, requestID: same.object.requestID))
    case .different(let why): return .different(why: why)
    case .unknown(let why): return .unknown(why: why)
    case .absent: return .absent
    }
  }
}
