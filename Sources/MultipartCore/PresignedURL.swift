/// What a presigned URL is for, beside its method and key.
public struct PresignOptions: Sendable {
  /// A part of this upload, with its number.
  public var uploadID: String?
  /// With `uploadID`.
  public var partNumber: Int?
  /// A version of the object.
  public var versionID: String?
  /// Whoever uses the URL has to send it.
  public var contentType: String?
  /// Only bytes with this MD5 (Base64) are taken.
  public var contentMD5: String?
  /// `response-content-disposition` and its like: headers of the answer to a GET.
  public var answerHeaders: [NamedValue] = []

  /// For the object as it is.
  public init() {}
}

/// A request that anybody can make.
public struct PresignedURL: Sendable {
  /// What it does.
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

  /// A secret: whoever holds it can use it.
  public var url: String
  /// What it does.
  public var method: Method
  /// Those that have to go along with it.
  public var headers: [NamedValue]
  /// Until when it can be used.
  public var expires: Timestamp?

  init(_ signed: Request, _ method: Method) {
    url = signed.url
    self.method = method
    headers = signed.headers.fields
    expires = signed.expires
  }
}
