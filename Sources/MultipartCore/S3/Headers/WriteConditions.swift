/// Conditions for writing an object.
public struct WriteConditions: Sendable, Equatable {
  /// Only if there is no object with the key: `If-None-Match: *`.
  public var ifNoneMatch: Bool
  /// Only if the existing object has this ETag.
  public var ifMatch: String?
  /// How `ifMatch` is written: S3 takes an ETag with quotes.
  var sendsQuotes = true

  /// Without conditions any existing object is replaced.
  public init(ifNoneMatch: Bool = false, ifMatch: String? = nil) {
    self.ifNoneMatch = ifNoneMatch
    self.ifMatch = ifMatch
  }

  func add(to headers: inout S3HeaderBuilder) throws(Failure) {
    if ifNoneMatch, ifMatch != nil {
      throw Failure(.usage, "an object cannot be asked to be absent and to have an ETag at once")
    }
    try headers.add(HeaderName.ifNoneMatch, ifNoneMatch ? "*" : nil)
    try headers.add(HeaderName.ifMatch, sendsQuotes ? ifMatch.map(Self.quoted) : ifMatch.flatMap(ETag.init)?.value)
  }

  /// Sends a request under these conditions. Ceph compares what a PutObject names letter by letter with its ETag, which
  /// has no quotes there. So if `ifMatch` is refused (412) although the object has exactly this ETag, the request is sent
  /// once more without quotes.
  func sending<Output: Sendable>(
    of head: HeadObject, _ client: S3Client, _ send: (WriteConditions) async throws(Failure) -> Output
  ) async throws(Failure) -> Output {
    do throws(Failure) {
      return try await send(self)
    } catch {
      guard error.status == 412, let ifMatch, !ifMatch.utf8.elementsEqual("*".utf8),
        case .exists(let object)? = try? await client.perform(head), matches(object.etag)
      else { throw error }
      var bare = self
      bare.sendsQuotes = false
      return try await send(bare)
    }
  }

  /// Whether an object with this ETag may be replaced.
  func matches(_ etag: String?) -> Bool {
    guard let ifMatch, !ifMatch.utf8.elementsEqual("*".utf8) else { return true }
    return ETag(ifMatch) == etag.flatMap(ETag.init)
  }

  /// A condition needs the ETag's quotes; they are added if missing.
  static func quoted(_ etag: String) -> String {
    etag.utf8.first == UInt8(ascii: "\"") || etag.utf8.elementsEqual("*".utf8) || etag.begins(with: "W/")
      ? etag : "\"\(etag)\""
  }
}
