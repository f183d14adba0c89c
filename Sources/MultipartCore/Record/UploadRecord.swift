/// Whereto: there is one record and one lock for each destination, whatever the source. Compared by bytes, for two keys
/// that Unicode holds to be equal are two objects.
package struct RecordTarget: Sendable, Hashable {
  /// `https://host`, with the port where it is not the usual one.
  package let origin: String
  package let bucket: String
  package let key: String

  package init(origin: String, bucket: String, key: String) {
    self.origin = origin
    self.bucket = bucket
    self.key = key
  }

  package static func == (a: RecordTarget, b: RecordTarget) -> Bool { a.bytes == b.bytes }

  package func hash(into hasher: inout Hasher) { hasher.combine(bytes) }

  /// 128 bits of SHA-256 as hex: no key is too long for it, or means a folder.
  func name() throws(Failure) -> String {
    Hex.encode(try Digest.sha256(bytes).prefix(16))
  }

  private var bytes: [UInt8] {
    Array(origin.utf8) + [0] + Array(bucket.utf8) + [0] + Array(key.utf8)
  }
}

/// What is known of an unfinished upload: enough to go on with it, nothing secret. What it says of parts is what this
/// machine once saw; the store's own list decides whether it still holds.
package struct UploadRecord: Sendable, Equatable {
  package struct Header: Sendable, Equatable {
    package var target: RecordTarget
    package var sourcePath: FilePath
    package var source: FileIdentity
    package var uploadID: String
    package var partSize: Int64
    package var form: ChecksumForm
    /// From `OptionsDigest`.
    package var optionsDigest: String
    /// When the upload was begun, by the store's clock: what is at the key and older, it has not made.
    package var created: Timestamp

    package init(
      target: RecordTarget, sourcePath: FilePath, source: FileIdentity, uploadID: String, partSize: Int64,
      form: ChecksumForm, optionsDigest: String, created: Timestamp
    ) {
      self.target = target
      self.sourcePath = sourcePath
      self.source = source
      self.uploadID = uploadID
      self.partSize = partSize
      self.form = form
      self.optionsDigest = optionsDigest
      self.created = created
    }

    /// By bytes, as they are written.
    package static func == (a: Header, b: Header) -> Bool { RecordText.words(a) == RecordText.words(b) }
  }

  package struct Part: Sendable, Equatable {
    package var number: Int
    package var size: Int64
    /// As the store gave it, quotes and all.
    package var etag: String
    /// What was computed from the local bytes when the part was sent.
    package var checksum: Checksum?

    package init(number: Int, size: Int64, etag: String, checksum: Checksum? = nil) {
      self.number = number
      self.size = size
      self.etag = etag
      self.checksum = checksum
    }

    /// ETags by bytes, as they are written.
    package static func == (a: Part, b: Part) -> Bool {
      a.number == b.number && a.size == b.size && a.etag.utf8.elementsEqual(b.etag.utf8) && a.checksum == b.checksum
    }
  }

  package var header: Header
  /// By number; of a part that was sent twice the later line counts.
  package var parts: [Int: Part]

  package init(header: Header, parts: [Int: Part] = [:]) {
    self.header = header
    self.parts = parts
  }
}
