/// Whether an object and a file are identical, byte for byte.
public enum Verification: Sendable {
  /// They are identical.
  case same(VerifiedObject)
  /// They differ.
  case different(why: String)
  /// Nothing that the store reveals decides it.
  case unknown(why: String)
  /// The object does not exist.
  case absent

  /// The proof, or a failure that says why there is none: `dataMismatch` if the object is not the file, else `refused`.
  public func proven() throws(Failure) -> VerifiedObject {
    switch self {
    case .same(let object): return object
    case .different(let why):
      throw Failure(
        .dataMismatch, "the object is not the file: \(why)",
        remedy: "one of the two was changed or damaged: find out which one before you replace either")
    case .unknown(let why):
      throw Failure(
        .refused, "it is not known whether the object is the file: \(why)", remedy: Self.wayToKnow)
    case .absent: throw HeadObject.noObject
    }
  }

  static let wayToKnow: Wording = "\(.comparesBytes) downloads the object to compare it"
}

/// An object that was proven to be identical to a file.
public struct VerifiedObject: Sendable {
  /// The size in bytes.
  public var size: Int64
  /// How many parts the object was made of, as far as the proof has shown.
  public var parts: Int
  /// The ETag as the store sends it, including the quotes.
  public var etag: String?
  /// The version's id, if the bucket keeps versions.
  public var versionID: String?
  /// The store's checksum of the object, if the file was compared with it.
  public var checksum: ObjectChecksum?
  /// What proves it, for people: `CRC64NVME abc= matches the file`.
  public var evidence: String
  /// The request id under which the store logs the request.
  public var requestID: String?
}

/// How an object is compared with a file.
public struct VerifyOptions: Sendable {
  /// The version to compare instead of the newest.
  public var versionID: String?
  /// The key with which the object is encrypted (SSE-C).
  public var customerKey: CustomerKey?
  /// Downloads the object and compares every byte, whatever the store reveals about it. Nothing is written.
  public var comparesBytes = false
  /// How many bytes one request of such a download asks for.
  var rangeSize: Int64 = 2 << 20
  /// Ends a run of many after this time; what was compared before that is reported.
  public var deadline: Duration?
  /// Stops a run of many when one object is not proven to be identical to its file.
  public var stopsAtFirstFailure = false

  /// The defaults.
  public init() {}
}

extension Store {
  /// Verifies that an object is identical to a file. Unless the options ask for it, nothing is downloaded: the file is
  /// read and compared with the size, the checksum or the ETag that the store has; the strongest of these decides.
  /// Timestamps are never considered. Cancelling the task stops it.
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
    guard !options.comparesBytes else {
      return try await ByteCheck(store: self, file: file, key: key, options: options).run()
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
