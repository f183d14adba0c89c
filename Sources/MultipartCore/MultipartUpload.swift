import MultipartBasics

/// An upload in parts, step by step: for parts that come from several places, or at different times.
///
///     let upload = try await store.createUpload("disk.img")
///     try await upload.part(1, .file("disk.img"), offset: 0, length: 64 << 20)
///     try await upload.part(2, .file("disk.img"), offset: 64 << 20)
///     print(try await upload.complete().evidence)
///
/// Only `complete` and `abort` end the upload: until then the store keeps its parts, which cost money.
public struct MultipartUpload: Sendable {
  /// The key of the object.
  public var key: String { address.key }
  /// The store's id of this upload.
  public let uploadID: String
  /// The store's id of the request that has begun it; nil if that was done elsewhere.
  public let requestID: String?
  let address: ObjectAddress
  let store: Store

  init(_ store: Store, _ address: ObjectAddress, uploadID: String, requestID: String? = nil) {
    (self.store, self.address, self.uploadID, self.requestID) = (store, address, uploadID, requestID)
  }

  var place: Place { steps.place }

  var steps: UploadSteps { UploadSteps(address, uploadID: uploadID, store.client, store.retry) }

  /// The object's URL, for messages.
  var name: String { SafeText.oneLine("s3://\(store.bucket)/\(key)", limit: .max) }

  /// Sends a slice of a file as this part, with retries. A `length` of nil means the rest of the file. It replaces a
  /// part that the store already has under this number.
  @discardableResult
  public func part(
    _ number: Int, _ input: UploadInput, offset: Int64 = 0, length: Int64? = nil, checksum: ChecksumForm? = nil
  ) async throws(Failure) -> UploadedPart {
    var options = UploadOptions()
    (options.checksum, options.customerKey) = (checksum, address.customerKey)
    try store.check(options)
    let slice = try input.slice(offset: offset, length: length)
    var job = UploadJob(file: slice.file, to: address)
    job.retry = store.retry
    job.checksum = checksum
    job.isDirectoryBucket = store.isDirectoryBucket
    let step = try PartStep(job: job, slice: slice, client: store.client, world: store.world)
    return UploadedPart(try await step.run(number, uploadID: uploadID))
  }

  /// The parts that the store has, in order of number.
  public func parts() async throws(Failure) -> [UploadedPart] { try await listing().parts.map { UploadedPart($0) } }

  func listing() async throws(Failure) -> S3Client.PartListing { try await steps.listing() }

  /// Completes the upload from these parts, or from all parts that the store lists. It fails if the store lacks one of
  /// them or has different bytes for it, or if numbers are missing and `allowsGaps` is false. If the upload was
  /// completed earlier, the object is checked: if it is made of exactly these parts, it is the result, as `.unchanged`.
  /// Without `parts` nothing shows what it was made of, and the call throws `uploadGone`. A record of the upload in the
  /// state folder is removed; while a run of this machine is working on it, the call throws `locked`.
  ///
  /// Only the conditions, the object's headers and the encryption of the options are used. A store does not show what
  /// an upload was created with, so pass the headers and the encryption of `createUpload` again: it fails if the object
  /// does not have them.
  @discardableResult
  public func complete(
    _ parts: [UploadedPart]? = nil, allowsGaps: Bool = false, _ options: UploadOptions = UploadOptions()
  ) async throws(Failure) -> UploadedObject {
    try await CompletionOfParts(self, parts, allowsGaps: allowsGaps, options).run()
  }

  /// How the abort of an upload has ended.
  public enum AbortOutcome: Sendable, Equatable {
    /// The store has confirmed the abort, and lists none of the upload's parts.
    case aborted
    /// The store has confirmed the abort, but refuses to list the upload's parts.
    case unlisted
    /// The upload had already ended.
    case wasGone

    /// What a message about `unlisted` says.
    public static let doubt = "the store refuses to list its parts, which would show that none remain"
  }

  /// Aborts the upload, and returns once the store lists none of its parts; a record of it in the state folder is
  /// removed. That it had already ended has to be shown by such a record, or by the store: otherwise it throws
  /// `uploadGone`. It throws `locked` while a run of this machine is working on the upload.
  @discardableResult
  public func abort() async throws(Failure) -> AbortOutcome {
    do throws(Failure) {
      return try await AbortOfUpload(self).run()
    } catch {
      throw error.at(place)
    }
  }
}

extension UploadedPart {
  init(_ receipt: PartReceipt) {
    self.init(number: receipt.number, size: receipt.size, etag: receipt.etag)
    if let sum = receipt.checksum, receipt.proof == .checksum { checksums[sum.algorithm] = sum.base64 }
  }
}

extension UploadInput {
  /// A slice of a file, which is read again for each try.
  func slice(offset: Int64, length: Int64?) throws(Failure) -> PartSlice {
    let file: SourceFile
    switch kind {
    case .file(let path): file = try SourceFile(path)
    case .entry(let entry, let followsLinks): file = try SourceFile(entry, followsLinks: followsLinks)
    case .descriptor(let descriptor, let name, _):
      guard let opened = try SourceFile(open: descriptor, name: FilePath(name)) else { throw Self.noFile(name) }
      file = opened
    case .named(let path):
      guard let opened = try StreamFile.openFile(path) else { throw Self.noFile(StreamFile.title(of: path).text) }
      file = opened
    case .command, .chunks: throw Self.noFile("a stream")
    }
    let name = Place(file: file.path.text)
    let length = length ?? max(0, file.size - max(0, offset))
    guard offset >= 0, length >= 0, offset <= file.size, length <= file.size - offset else {
      throw Failure(
        .usage, "the slice from \(offset) of \(length) bytes is not within the file's \(file.size)",
        remedy: "check \(.offset) and \(.length)"
      ).at(name)
    }
    guard length <= S3Limits.largestPart else {
      throw Failure(.usage, "a part of \(length) bytes: S3 accepts at most 5 GiB", remedy: "give \(.length)").at(name)
    }
    return PartSlice(file: file, offset: offset, length: length)
  }

  private static func noFile(_ name: String) -> Failure {
    Failure(.usage, "the source is not a regular file", remedy: "name a file, or pass it as <FILE").at(
      Place(file: name))
  }
}
