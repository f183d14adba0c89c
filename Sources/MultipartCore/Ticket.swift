import MultipartBasics

/// An upload that someone with credentials has begun, as presigned requests: anyone with the ticket and the file can
/// send the parts and complete the object, and nothing else. It is a secret until it expires.
///
///     let ticket = try await store.issueTicket(.file("disk.img"), to: "images/disk.img", for: .seconds(36 * 3600))
///     try ticket.write(to: "ticket.json")
///
/// and on another machine, without credentials:
///
///     let object = try await Ticket(contentsOf: "ticket.json").upload(.file("disk.img"))
///
/// The store's list of parts is the only state, so any machine can resume an interrupted upload.
public struct Ticket: Sendable {
  /// How many bytes a ticket may upload.
  public enum Length: Sendable, Equatable {
    /// Exactly this many bytes.
    case exactly(Int64)
    /// A stream of at most this many bytes.
    case upTo(Int64)
  }

  /// The bucket.
  public internal(set) var bucket: String
  /// The key of the object.
  public internal(set) var key: String
  /// The store's id of the upload.
  public internal(set) var uploadID: String
  /// The URL of the object: all requests go there, each with its own query.
  public internal(set) var url: String
  /// When the upload was begun, by the store's clock.
  public internal(set) var created: Timestamp
  /// When the store starts to refuse the ticket's requests.
  public internal(set) var expires: Timestamp
  /// The name of the file, if the issuer had it; in a batch, its path below the folder.
  public internal(set) var file: String?
  /// How many bytes the object has.
  public internal(set) var length: Length
  /// The size of every part but the last.
  public internal(set) var partSize: Int64
  /// What each part carries for the store to verify. If the issuer had the file, the values are part of the signatures.
  public internal(set) var checksum: ChecksumForm
  /// False for objects that are encrypted with a KMS key: their ETags say nothing about the bytes.
  public internal(set) var etagMayBeMD5 = true
  /// The settings that the upload was begun with, besides its encryption, which the store has confirmed then.
  var asked = RequestedSettings(HeaderList())
  /// The requests that send the parts, in order of number.
  public internal(set) var parts: [Call]
  /// The requests that list the parts, a page each.
  public internal(set) var lists: [Call]
  /// The request that assembles the object.
  public internal(set) var complete: Call
  var abort: Call
  /// The request that looks for the object.
  public internal(set) var head: Call

  /// The mark by which the machine that issued the ticket recognises it.
  var mark: String?

  /// A presigned request.
  public struct Call: Sendable, Equatable {
    /// The query, without the address; nil: the store had the part when the ticket was renewed.
    public internal(set) var query: String?
    var headers = HeaderList()

    /// The headers that must be sent with exactly these values, because they are signed.
    public var headerFields: [NamedValue] { headers.fields }
  }

  /// The number of parts that the ticket has requests for.
  public var partCount: Int { parts.count }

  /// The only server that receives the bytes, as `https://host`.
  public var origin: String { String(AddressBook.origin(of: url)) }

  /// The origin, with the path of an endpoint below which all buckets are.
  public var endpoint: String { TicketAddress(url, bucket: bucket, key: key)?.endpoint ?? origin }

  /// Identifies the upload without revealing it: the first 16 bytes of a SHA-256, in hexadecimal.
  public func fingerprint() throws(Failure) -> String {
    Hex.encode(try Digest.sha256((url + "\n" + uploadID).utf8).prefix(16))
  }

  /// The object's address, for requests with these headers.
  func address(_ common: CommonHeaders = CommonHeaders()) -> ObjectAddress { ObjectAddress(bucket, key, common) }

  var place: Place { address().place(uploadID: uploadID) }

  /// The part's checksum, if it is signed.
  public func sum(ofPart number: Int) -> Checksum? {
    guard number > 0, number <= parts.count else { return nil }
    let headers = parts[number - 1].headers
    switch checksum {
    case .md5: return headers[HeaderName.contentMD5].flatMap { Checksum(.md5, base64: $0) }
    case .algorithm(let algorithm): return headers[algorithm.headerName].flatMap { Checksum(algorithm, base64: $0) }
    case .nothing: return nil
    }
  }

  /// The object's ETag, if the MD5 of each part is signed.
  public var signedETag: String? {
    let sums = signedSums
    guard etagMayBeMD5, checksum == .md5, !sums.isEmpty else { return nil }
    return try? MultipartETag.of(md5s: sums.map(\.bytes))
  }

  /// The object's composite checksum as HEAD returns it, if each part's checksum is signed.
  public var signedComposite: String? {
    guard case .algorithm = checksum else { return nil }
    return try? CompositeChecksum(of: signedSums).text
  }

  /// The signed checksums of all parts, or none.
  var signedSums: [Checksum] {
    let sums = (1...partCount).compactMap { sum(ofPart: $0) }
    return sums.count == partCount ? sums : []
  }
}

/// A ticket's URLs are secrets, so that no description shows them.
extension Ticket: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// A description without secrets.
  public var description: String { "ticket for s3://\(bucket)/\(key) until \(expires.iso8601)" }
  /// A description without secrets.
  public var debugDescription: String { description }
  /// A mirror without children, because they are secrets.
  public var customMirror: Mirror { Mirror(self, children: []) }
}
