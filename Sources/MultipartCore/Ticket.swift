/// An upload that somebody with credentials has begun, as presigned requests: whoever holds it and the file sends the
/// parts and completes the object, and can do nothing else. It is a secret until it expires.
///
///     let ticket = try await store.issueTicket(.file("disk.img"), to: "images/disk.img", for: .seconds(36 * 3600))
///     try ticket.write(to: "ticket.json")
///
/// and on another machine, without credentials:
///
///     let object = try await Ticket(contentsOf: "ticket.json").upload(.file("disk.img"))
///
/// The store's list of parts is the only state: an upload that was interrupted continues from any machine.
public struct Ticket: Sendable {
  /// How much it may upload.
  public enum Length: Sendable, Equatable {
    /// Exactly this many bytes.
    case exactly(Int64)
    /// A stream of at most this many.
    case upTo(Int64)
  }

  /// The bucket.
  public internal(set) var bucket: String
  /// The key of the object.
  public internal(set) var key: String
  /// The store's id of the upload.
  public internal(set) var uploadID: String
  /// The URL of the object: all requests go there, each with a query of its own.
  public internal(set) var url: String
  /// When the upload was begun, by the store's clock.
  public internal(set) var created: Timestamp
  /// When the store begins to refuse its requests.
  public internal(set) var expires: Timestamp
  /// The name of the file, if the issuer had it; in a batch its path below the folder.
  public internal(set) var file: String?
  /// How many bytes the object has.
  public internal(set) var length: Length
  /// The size of every part but the last.
  public internal(set) var partSize: Int64
  /// What each part carries for the store to verify. If the issuer had the file, its values are part of the signatures.
  public internal(set) var checksum: ChecksumForm
  /// False for objects that are encrypted with a key of KMS: their ETags say nothing about the bytes.
  package internal(set) var etagMayBeMD5 = true
  package internal(set) var parts: [Call]
  package internal(set) var lists: [Call]
  package internal(set) var complete: Call
  package internal(set) var abort: Call
  package internal(set) var head: Call

  /// By which the machine that issued it recognises it.
  var mark: String?

  /// A presigned request.
  package struct Call: Sendable, Equatable {
    /// Without the address; nil: the part was at the store when the ticket was renewed.
    package var query: String?
    /// They must be sent with exactly these values, because they are signed.
    package var headers = HeaderList()
  }

  /// The number of parts that it has requests for.
  public var partCount: Int { parts.count }

  /// `https://host`: the one server that gets the bytes.
  public var origin: String { String(AddressBook.origin(of: url)) }

  /// The same, with the path of an endpoint below which all buckets are.
  package var endpoint: String { TicketAddress(url, bucket: bucket, key: key)?.endpoint ?? origin }

  /// For requests with these headers.
  func address(_ common: CommonHeaders = CommonHeaders()) -> ObjectAddress { ObjectAddress(bucket, key, common) }

  var place: Place { address().place(uploadID: uploadID) }

  /// The part's checksum, if it is signed.
  package func sum(ofPart number: Int) -> Checksum? {
    guard parts.indices.contains(number - 1) else { return nil }
    let headers = parts[number - 1].headers
    switch checksum {
    case .md5: return headers[HeaderName.contentMD5].flatMap { Checksum(.md5, base64: $0) }
    case .algorithm(let algorithm): return headers[algorithm.headerName].flatMap { Checksum(algorithm, base64: $0) }
    case .nothing: return nil
    }
  }

  /// What the object's ETag must be, if the MD5 of each part is signed.
  package var signedETag: String? {
    let sums = signedSums
    guard etagMayBeMD5, checksum == .md5, !sums.isEmpty else { return nil }
    return try? MultipartETag.of(md5s: sums.map(\.bytes))
  }

  /// The same of the object's checksum, as HEAD tells it.
  package var signedComposite: String? {
    guard case .algorithm = checksum else { return nil }
    return try? CompositeChecksum(of: signedSums).text
  }

  /// Of all parts, or none.
  var signedSums: [Checksum] {
    let sums = (1...partCount).compactMap { sum(ofPart: $0) }
    return sums.count == partCount ? sums : []
  }
}

/// Its URLs are secrets.
extension Ticket: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// Without a secret.
  public var description: String { "ticket for s3://\(bucket)/\(key) until \(expires.iso8601)" }
  /// The same.
  public var debugDescription: String { description }
  /// The same.
  public var customMirror: Mirror { Mirror(self, children: []) }
}
