import MultipartBasics

/// Conditions for writing an object.
public struct WriteConditions: Sendable, Equatable {
  /// Writes only if no object has the key: `If-None-Match: *`.
  public var ifNoneMatch: Bool
  /// Writes only if the existing object has this ETag.
  public var ifMatch: String?
  /// How `ifMatch` is written: S3 expects an ETag with quotes.
  var sendsQuotes = true

  /// Conditions; without any, an existing object is replaced.
  public init(ifNoneMatch: Bool = false, ifMatch: String? = nil) {
    self.ifNoneMatch = ifNoneMatch
    self.ifMatch = ifMatch
  }

  func check() throws(Failure) {
    guard !ifNoneMatch || ifMatch == nil else {
      throw Failure(.usage, "an object cannot both be absent and have an ETag")
    }
  }

  func add(to headers: inout S3HeaderBuilder) throws(Failure) {
    try check()
    try headers.add(HeaderName.ifNoneMatch, ifNoneMatch ? "*" : nil)
    try headers.add(HeaderName.ifMatch, sendsQuotes ? ifMatch.map(Self.quoted) : ifMatch.flatMap(ETag.init)?.value)
  }

  /// Sends a request under these conditions. Ceph compares the ETag of a PutObject literally with its own, which has no
  /// quotes there. So if `ifMatch` is refused (412) although the object has exactly this ETag, the request is sent once
  /// more without quotes.
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

  /// Throws if the object at the key does not meet them: some stores ignore conditions. Where the store does not show the
  /// object, for lack of the permission or of the object's SSE-C key, only the request itself decides.
  func requireMet(_ head: HeadObject, _ client: S3Client, _ retry: RetryPolicy) async throws(Failure) {
    guard self != WriteConditions() else { return }
    do throws(Failure) {
      if let unmet = unmet(by: try await client.perform(head, retrying: retry)) { throw unmet }
    } catch {
      guard error.hidesObject else { throw error }
    }
  }

  /// The failure if what is at the key now does not meet them.
  func unmet(by found: HeadObject.Output) -> Failure? {
    switch found {
    case .absent where ifMatch != nil:
      Failure(.precondition, "there is no object to match \(.ifMatch)", status: 404)
    case .exists where ifNoneMatch:
      Failure(.precondition, "the object already exists", remedy: "leave \(.ifNoneMatch) out to replace it")
    case .exists(let object):
      matches(object.etag) ? nil : Failure(.precondition, "the object has a different ETag: \(object.etag ?? "none")")
    case .absent: nil
    }
  }

  /// Whether an object with this ETag may be replaced.
  func matches(_ etag: String?) -> Bool {
    guard let ifMatch, !ifMatch.utf8.elementsEqual("*".utf8) else { return true }
    return ETag(ifMatch) == etag.flatMap(ETag.init)
  }

  /// The ETag with quotes, which a condition requires; they are added if missing.
  static func quoted(_ etag: String) -> String {
    etag.utf8.first == UInt8(ascii: "\"") || etag.utf8.elementsEqual("*".utf8) || etag.begins(with: "W/")
      ? etag : "\"\(etag)\""
  }
}
