import MultipartBasics

/// A destination: each has one record and one lock, whatever the source. Compared by bytes, because two keys that
/// Unicode considers equal are two objects.
struct RecordTarget: Sendable, Hashable {
  /// The origin `https://host`, with the port unless it is the default.
  let origin: String
  let bucket: String
  let key: String

  static func == (a: RecordTarget, b: RecordTarget) -> Bool { a.bytes == b.bytes }

  func hash(into hasher: inout Hasher) { hasher.combine(bytes) }

  /// A file name of 128 bits of SHA-256 in hex, so that no key is too long or contains a slash.
  func name() throws(Failure) -> String {
    Hex.encode(try Digest.sha256(bytes).prefix(16))
  }

  private var bytes: [UInt8] {
    Array(origin.utf8) + [0] + Array(bucket.utf8) + [0] + Array(key.utf8)
  }
}

/// What is known about an unfinished upload: enough to resume it, and nothing secret. Parts are recorded as this
/// machine saw them; the store's list decides whether they still exist.
struct UploadRecord: Sendable, Equatable {
  struct Header: Sendable, Equatable {
    var target: RecordTarget
    var sourcePath: FilePath
    var source: FileIdentity
    var uploadID: String
    var partSize: Int64
    var form: ChecksumForm
    /// The result of `OptionsDigest`.
    var optionsDigest: String
    /// When the upload was begun, by the store's clock: an older object at the key is not its result.
    var created: Timestamp

    /// Compares bytes, as they are written.
    static func == (a: Header, b: Header) -> Bool { RecordText.words(a) == RecordText.words(b) }
  }

  struct Part: Sendable, Equatable {
    var number: Int
    var size: Int64
    /// The ETag as the store sent it, including the quotes.
    var etag: String
    /// The checksum of the local bytes when the part was sent.
    var checksum: Checksum?

    /// Compares ETags by bytes, as they are written.
    static func == (a: Part, b: Part) -> Bool {
      a.number == b.number && a.size == b.size && a.etag.utf8.elementsEqual(b.etag.utf8) && a.checksum == b.checksum
    }
  }

  var header: Header
  /// The parts by number; if a part was sent twice, the later entry counts.
  var parts: [Int: Part] = [:]
}
