/// What a presigned URL is for, apart from its method and key.
public struct PresignOptions: Sendable {
  /// The upload that a part is sent to.
  public var uploadID: String?
  /// The number of the part; only with `uploadID`.
  public var partNumber: Int?
  /// A version of the object.
  public var versionID: String?
  /// The `Content-Type` that a request with the URL must have.
  public var contentType: String?
  /// The store accepts only bytes with this MD5 (Base64).
  public var contentMD5: String?
  /// The response to a GET or HEAD contains the object's checksums, if the store keeps any.
  public var givesChecksums = false
  /// Headers that the response to a GET must have, such as `response-content-disposition`.
  public var answerHeaders: [NamedValue] = []

  /// No part, no version, no further headers.
  public init() {}
}

/// A signed request that needs no credentials.
public struct PresignedURL: Sendable {
  /// The HTTP method.
  public enum Method: String, Sendable, CaseIterable {
    case get = "GET"
    case put = "PUT"
    case head = "HEAD"
    case delete = "DELETE"

    var http: HTTPMethod {
      switch self {
      case .get: .get
      case .put: .put
      case .head: .head
      case .delete: .delete
      }
    }
  }

  /// How long a URL can be valid by SigV4: from a second to seven days.
  public static let lifetimes: ClosedRange<Duration> = .seconds(1) ... .seconds(7 * 86_400)

  static func check(lifetime: Duration, of what: Wording) throws(Failure) {
    guard lifetimes.contains(lifetime) else {
      throw Failure(
        .usage, "\(what) can be valid from 1 second to 7 days", remedy: "set \(.urlLifetime) to at most 7d")
    }
  }

  /// The URL, which is a secret: whoever holds it can use it.
  public var url: String
  /// The method that was signed.
  public var method: Method
  /// Headers that must be sent with it.
  public var headers: [NamedValue]
  /// When it expires.
  public var expires: Timestamp?

  init(_ signed: Request, _ method: Method) {
    url = signed.url
    self.method = method
    headers = signed.headers.fields
    expires = signed.expires
  }
}
