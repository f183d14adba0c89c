@testable import MultipartCore

/// An S3 error: code, status, message, and further contents of the body or the headers.
struct FakeS3Error: Error, Sendable {
  var code: String
  var status: Int
  var message: String
  var details: [(name: String, value: String)] = []
  var headers: HeaderList = [:]

  init(_ kind: Kind, _ message: String, details: [(name: String, value: String)] = [], headers: HeaderList = [:]) {
    code = kind.rawValue
    status = kind.status
    self.message = message
    self.details = details
    self.headers = headers
  }

  init(code: String, status: Int, message: String) {
    self.code = code
    self.status = status
    self.message = message
  }

  /// The codes that the fake returns by itself.
  enum Kind: String {
    case accessDenied = "AccessDenied"
    case authorizationHeaderMalformed = "AuthorizationHeaderMalformed"
    case authorizationQueryParametersError = "AuthorizationQueryParametersError"
    case badDigest = "BadDigest"
    case entityTooLarge = "EntityTooLarge"
    case entityTooSmall = "EntityTooSmall"
    case expiredToken = "ExpiredToken"
    case internalError = "InternalError"
    case invalidAccessKeyId = "InvalidAccessKeyId"
    case invalidArgument = "InvalidArgument"
    case invalidDigest = "InvalidDigest"
    case invalidPart = "InvalidPart"
    case invalidPartOrder = "InvalidPartOrder"
    case invalidRange = "InvalidRange"
    case invalidRequest = "InvalidRequest"
    case invalidToken = "InvalidToken"
    case invalidURI = "InvalidURI"
    case keyTooLong = "KeyTooLongError"
    case malformedXML = "MalformedXML"
    case metadataTooLarge = "MetadataTooLarge"
    case methodNotAllowed = "MethodNotAllowed"
    case missingContentLength = "MissingContentLength"
    case noSuchBucket = "NoSuchBucket"
    case noSuchKey = "NoSuchKey"
    case noSuchLifecycleConfiguration = "NoSuchLifecycleConfiguration"
    case noSuchObjectLockConfiguration = "NoSuchObjectLockConfiguration"
    case noSuchUpload = "NoSuchUpload"
    case notImplemented = "NotImplemented"
    case permanentRedirect = "PermanentRedirect"
    case preconditionFailed = "PreconditionFailed"
    case requestHeaderSectionTooLarge = "RequestHeaderSectionTooLarge"
    case requestTimeTooSkewed = "RequestTimeTooSkewed"
    case signatureDoesNotMatch = "SignatureDoesNotMatch"
    case contentSHA256Mismatch = "XAmzContentSHA256Mismatch"

    var status: Int {
      switch self {
      case .permanentRedirect: 301
      case .accessDenied, .invalidAccessKeyId, .requestTimeTooSkewed, .signatureDoesNotMatch: 403
      case .noSuchBucket, .noSuchKey, .noSuchLifecycleConfiguration, .noSuchObjectLockConfiguration, .noSuchUpload: 404
      case .methodNotAllowed: 405
      case .missingContentLength: 411
      case .preconditionFailed: 412
      case .invalidRange: 416
      case .internalError: 500
      case .notImplemented: 501
      default: 400
      }
    }
  }
}
