/// An unfinished upload that this machine has recorded in a state folder.
public struct RecordedUpload: Sendable {
  /// The origin of the store, such as `https://s3.eu-west-1.amazonaws.com`.
  public let origin: String
  /// The bucket of the object that it would create.
  public let bucket: String
  /// The key of the object that it would create.
  public let key: String
  /// The store's id of the upload.
  public let uploadID: String
  /// The file that is uploaded: its path from the root, or the descriptor that it was read from.
  public let source: FilePath
  /// When the upload was begun, by the store's clock.
  public let begun: Timestamp
  /// How many parts are recorded as sent. A run that was killed may have sent more; the store's list decides.
  public let parts: Int
  /// How many bytes these parts have in total.
  public let bytes: Int64
  let book: RecordBook
  let target: RecordTarget

  init(_ record: UploadRecord, in book: RecordBook) {
    self.book = book
    target = record.header.target
    (origin, bucket, key) = (target.origin, target.bucket, target.key)
    (uploadID, source, begun) = (record.header.uploadID, record.header.sourcePath, record.header.created)
    parts = record.parts.count
    bytes = record.parts.values.reduce(0) { $0 + $1.size }
  }

  /// Whether a run is working on it now.
  public var isRunning: Bool { book.isLocked(target) }

  /// Ends the upload by `end`, and then removes its record; nil, and nothing is done, while a run is working on it. The
  /// lock prevents a run from resuming an upload that is being ended.
  func ending<Value: Sendable>(
    _ world: World, by end: () async throws(Failure) -> Value
  ) async throws(Failure) -> Value? {
    var lock: RecordLock?
    do throws(Failure) {
      lock = try book.lock(target)
      guard lock != nil else { return nil }
    } catch {
      // In a folder that cannot be written no run can take the lock either.
      world.log(1, "\(error.message)")
      guard !isRunning else { return nil }
    }
    defer { lock?.release() }
    let value = try await end()
    do throws(Failure) {
      // Another run may have replaced it since it was read.
      let record = try book.load(target)
      if record?.header.uploadID.utf8.elementsEqual(uploadID.utf8) == true { try book.remove(target) }
    } catch {
      world.log(0, "the upload has ended, but its record \(error.message)")
    }
    return value
  }

  /// The failure of what must not happen while a run is working on it.
  var inUse: Failure {
    Failure(
      .locked,
      "a run is working on this upload" + (book.lockHolder(target).map { " (process \($0))" } ?? ""),
      remedy: "wait for it to end, or stop it first")
  }
}

extension MultipartUpload {
  /// This machine's record of the upload.
  var recorded: RecordedUpload? {
    guard let book = store.state?.book else { return nil }
    let target = RecordTarget(origin: store.signer.origin, bucket: store.bucket, key: key)
    guard let record = try? book.load(target), record.header.uploadID.utf8.elementsEqual(uploadID.utf8) else {
      return nil
    }
    return RecordedUpload(record, in: book)
  }
}
