import MultipartBasics

/// The record of one upload while it runs: the lock on its destination, the record of an earlier run, and the writer.
///
/// If the disk fails, the upload continues without a record, and one warning says so.
final class UploadJournal: Sendable {
  private struct State: Sendable {
    var lock: RecordLock?
    var found: UploadRecord?
    var writer: RecordWriter?
    var hasWarned = false
  }

  private let book: RecordBook
  let target: RecordTarget
  private let digest: String
  private let state = Locked(State())
  private let warn: @Sendable (Wording) -> Void

  init(
    book: RecordBook, target: RecordTarget, digest: String, warn: @escaping @Sendable (Wording) -> Void
  ) {
    self.book = book
    self.target = target
    self.digest = digest
    self.warn = warn
  }

  /// The record of an earlier run.
  var found: UploadRecord? { state.withLock { $0.found } }

  /// Takes the lock and reads the record. False if another run holds the lock.
  func open() throws(Failure) -> Bool {
    do throws(Failure) {
      guard let lock = try book.lock(target) else { return false }
      let found = try book.load(target)
      state.withLock { state in
        state.lock = lock
        state.found = found
      }
    } catch {
      // A record of a different version, or one that another user could have written, must not be ignored.
      guard error.code == .local else { throw error }
      disappoint(error)
    }
    return true
  }

  var holder: Int32? { book.lockHolder(target) }

  /// The address at which this machine has begun an upload that the store has, if it differs from this run's. A store
  /// may have several addresses, such as a name and a tunnel.
  func otherAddress(of uploadID: String) -> String? {
    let records = (try? book.all()) ?? []
    return records.lazy.map(\.header).first { header in
      header.uploadID.utf8.elementsEqual(uploadID.utf8) && header.target.key.utf8.elementsEqual(target.key.utf8)
        && !header.target.origin.utf8.elementsEqual(target.origin.utf8)
    }?.target.origin
  }

  /// Records a new upload, or a found one that already has parts of this source. Returns whether it was written.
  func begin(
    _ uploadID: String, job: UploadJob, partSize: Int64, form: ChecksumForm, receipts: [PartReceipt] = [],
    created: Timestamp
  ) -> Bool {
    let path = job.source.path
    // What a stream or an open descriptor is called need not be a path.
    let isPath = !job.source.isStream && !path.namesDescriptor && path.exists
    let header = UploadRecord.Header(
      target: target, sourcePath: isPath ? path.absolute : path, source: job.source.identity,
      uploadID: uploadID, partSize: partSize, form: form, optionsDigest: digest, created: created)
    let parts = receipts.map(UploadRecord.Part.init)
    return write { (book) throws(Failure) in try book.begin(header, parts: parts) }
  }

  /// Records that the upload is resumed.
  func resume() -> Bool {
    guard let found else { return false }
    return write { (book) throws(Failure) in try book.resume(found) }
  }

  private func write(_ open: (RecordBook) throws(Failure) -> RecordWriter) -> Bool {
    guard state.withLock({ $0.lock }) != nil else { return false }
    do throws(Failure) {
      let writer = try open(book)
      state.withLock { $0.writer = writer }
      return true
    } catch {
      disappoint(error)
      return false
    }
  }

  func append(_ receipt: PartReceipt, now: Duration) {
    guard let writer = state.withLock({ $0.writer }) else { return }
    do throws(Failure) {
      try writer.append(UploadRecord.Part(receipt), now: now)
    } catch {
      disappoint(error)
    }
    restore()
  }

  /// Writes the record anew if somebody has removed it, for example with the state folder: otherwise the parts would be
  /// left at the store, and no run would know of them.
  private func restore() {
    do throws(Failure) {
      try state.withLock { (state) throws(Failure) in
        guard let record = try state.writer?.lost() else { return }
        let lock = if let held = state.lock, held.isNamed { held } else { try book.lock(target) }
        guard let lock, !book.mayHave(target) else {
          throw Failure(.local, "its record was removed or replaced")
        }
        state.lock = lock
        state.writer = try book.begin(record.header, parts: Array(record.parts.values))
      }
    } catch {
      disappoint(error)
    }
  }

  /// Keeps the record for the next run at the end of this one, or deletes it together with its upload.
  func close(keeps: Bool) {
    if keeps { restore() }
    let (writer, lock) = state.withLock { state in
      defer {
        state.writer = nil
        state.lock = nil
      }
      return (state.writer, state.lock)
    }
    defer { lock?.release() }
    do throws(Failure) {
      if keeps {
        try writer?.flush()
      } else if let writer {
        try writer.remove()
      } else if lock != nil {
        try book.remove(target)
      }
    } catch {
      disappoint(error)
    }
  }

  /// Why this run cannot use the record; nil if it can.
  func reasonAgainst(_ record: UploadRecord, job: UploadJob, partSize: Int64) -> Wording? {
    let header = record.header
    if header.source.size != job.source.size { return "the source differs from that of the unfinished upload" }
    if !header.optionsDigest.utf8.elementsEqual(digest.utf8) {
      return "the unfinished upload was created with other options"
    }
    if header.partSize != partSize { return "the unfinished upload has a different part size" }
    if let form = job.checksum, form != header.form { return "the unfinished upload carries a different checksum" }
    return nil
  }

  private func disappoint(_ failure: Failure) {
    let first = state.withLock { state in
      defer { state.hasWarned = true }
      return !state.hasWarned
    }
    guard first else { return }
    let path = failure.place.file.map { SafeText.oneLine($0) } ?? ""
    let file = path.isEmpty || failure.message.description.contains(path) ? "" : path + ": "
    warn("should this upload be interrupted, it could not be resumed: \(file)\(failure.message)")
  }
}

extension UploadRecord.Part {
  fileprivate init(_ receipt: PartReceipt) {
    self.init(number: receipt.number, size: receipt.size, etag: receipt.etag, checksum: receipt.checksum)
  }
}
