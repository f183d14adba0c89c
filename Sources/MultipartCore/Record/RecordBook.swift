import Glibc
import MultipartBasics

/// The records of unfinished uploads: one file per destination (mode 0600) in `uploads/` of the state folder (0700).
///
/// Writing requires the destination's lock, reading does not. An upload need not fail because of a disk failure
/// (`.local`): it can continue without a record.
///
/// ```swift
/// guard let lock = try book.lock(target) else { return busy(book.lockHolder(target)) }
/// defer { lock.release() }
/// let old = try book.load(target)
/// let writer = try old.map(book.resume) ?? book.begin(header)
/// try writer.append(part, now: world.uptime())
/// ```
struct RecordBook: Sendable {
  private let folder: String

  init(folder: String) {
    self.folder = folder
  }

  /// Takes the lock; nil while another process, or another upload of this one, holds it.
  func lock(_ target: RecordTarget) throws(Failure) -> RecordLock? {
    let folder = try RecordFolder.make(try path())
    let lock = try RecordLock.take(folder, try target.name() + ".lock")
    if lock?.leftSince != nil { folder.removeLeftovers(beside: try Self.name(target)) }
    return lock
  }

  /// Whether a run holds the lock.
  func isLocked(_ target: RecordTarget) -> Bool {
    do throws(Failure) {
      guard let folder = try RecordFolder.open(try path()) else { return false }
      return try RecordLock.isHeld(folder, try target.name() + ".lock")
    } catch _ {
      return false
    }
  }

  /// The process that has noted its id in the lock, for messages; nil if unknown.
  func lockHolder(_ target: RecordTarget) -> Int32? {
    do throws(Failure) {
      let folder = try RecordFolder.open(try path())
      return try folder?.file(try target.name() + ".lock", O_RDONLY)?.notedPid()
    } catch _ {
      return nil
    }
  }

  /// Whether this destination has a record, readable or not.
  func mayHave(_ target: RecordTarget) -> Bool {
    do throws(Failure) {
      return try RecordFolder.open(try path())?.file(try Self.name(target), O_RDONLY) != nil
    } catch _ {
      return false
    }
  }

  /// Whether there is any record, readable or not.
  var hasRecords: Bool {
    do throws(Failure) {
      return try RecordFolder.open(try path())?.names().contains { $0.ends(with: Self.suffix) } ?? false
    } catch _ {
      return false
    }
  }

  /// Loads a record; nil without one, or if nothing in it can be used. Throws `.configuration` for an unknown version
  /// and for a file that another user created or could have written, and `.local` if it cannot be read.
  func load(_ target: RecordTarget) throws(Failure) -> UploadRecord? {
    guard let folder = try RecordFolder.open(try path()) else { return nil }
    guard let record = try Self.read(folder, try Self.name(target))?.1.record else { return nil }
    return record.header.target == target ? record : nil
  }

  /// Replaces an older record by a new one with the parts that are already at the store; it is durable on return.
  func begin(
    _ header: UploadRecord.Header, parts: [UploadRecord.Part] = []
  ) throws(Failure) -> RecordWriter {
    let parts = Dictionary(parts.map { ($0.number, $0) }) { _, last in last }
    return try write(UploadRecord(header: header, parts: parts))
  }

  /// Continues at the end of `record`'s file, after cutting off an incomplete last entry. If the file differs from `record`
  /// or has many outdated entries, it is rewritten.
  func resume(_ record: UploadRecord) throws(Failure) -> RecordWriter {
    let (folder, name) = (try RecordFolder.make(try path()), try Self.name(record.header.target))
    guard let (file, reading) = try Self.read(folder, name, O_RDWR | O_APPEND), reading.record == record,
      reading.length <= RecordText.mostBytes / 2
    else { return try write(record) }
    try file.cut(to: reading.length)
    return RecordWriter(folder, name, file, length: reading.length, seed: reading.seed)
  }

  func remove(_ target: RecordTarget) throws(Failure) {
    try RecordFolder.open(try path())?.remove(try Self.name(target))
  }

  /// The usable records, oldest first.
  func all() throws(Failure) -> [UploadRecord] { try listing().records }

  struct Listing: Sendable {
    /// The records, oldest first.
    var records: [UploadRecord] = []
    /// One failure for each file that cannot be used.
    var unusable: [Failure] = []
  }

  func listing() throws(Failure) -> Listing {
    var listing = Listing()
    guard let folder = try RecordFolder.open(try path()) else { return listing }
    for name in try folder.names() where name.ends(with: Self.suffix) {
      do throws(Failure) {
        guard let (_, reading) = try Self.read(folder, name) else {
          throw Failure(.local, "the record is damaged", remedy: Self.forUnusable)
        }
        guard try Self.name(reading.record.header.target) == name else {
          throw Failure(.local, "the record is in the wrong place", remedy: Self.forUnusable)
        }
        listing.records.append(reading.record)
      } catch {
        listing.unusable.append(error.at(Place(file: folder.place(name))))
      }
    }
    listing.records.sort { $0.header.created < $1.header.created }
    return listing
  }

  private static let forUnusable: Wording =
    "remove the file; if its upload is unfinished, the list of the bucket's uploads has it"

  // MARK: Files

  private static let suffix = ".record"

  private static func name(_ target: RecordTarget) throws(Failure) -> String { try target.name() + suffix }

  private func path() throws(Failure) -> String {
    guard !folder.isEmpty else {
      throw Failure(.local, "there is no state folder", remedy: "name one with \(.stateFolder)")
    }
    return RecordFolder.own(in: folder)
  }

  private static func read(
    _ folder: RecordFolder, _ name: String, _ flags: Int32 = O_RDONLY
  ) throws(Failure) -> (RecordFile, RecordText.Reading)? {
    guard let file = try folder.file(name, flags) else { return nil }
    do throws(Failure) {
      return try RecordText.read(try file.read(most: RecordText.mostBytes)).map { (file, $0) }
    } catch {
      throw error.at(Place(file: folder.place(name)))
    }
  }

  private func write(_ record: UploadRecord) throws(Failure) -> RecordWriter {
    let (folder, name) = (try RecordFolder.make(try path()), try Self.name(record.header.target))
    var (bytes, seed) = try RecordText.head(record.header)
    for part in record.parts.values.sorted(by: { $0.number < $1.number }) {
      // A part that cannot be written is left out: the next run then compares it like an unknown one.
      guard let entry = try? RecordText.entry(part, seed: seed), bytes.count + entry.count <= RecordText.mostBytes
      else {
        continue
      }
      bytes += entry
    }
    let file = try folder.replace(name, with: bytes)
    return RecordWriter(folder, name, file, length: bytes.count, seed: seed)
  }
}
