import MultipartBasics

/// The body of an unsuccessful answer. Only the elements listed here are read; elements that repeat our request
/// (`StringToSign`, `SignatureProvided`, `AWSAccessKeyId`, `Token-0`, …) are read only to keep their contents out of
/// the message.
struct S3ErrorBody: Sendable, Equatable {
  enum Form: Sendable, Equatable {
    /// No body: that of a HEAD, or of a store that sends none.
    case empty
    case xml
    /// HTML or JSON of a proxy, or anything else that is not XML of S3.
    case other
  }

  private(set) var form = Form.empty
  private(set) var code: String?
  private(set) var message: String?
  private(set) var requestID: String?
  private(set) var region: String?
  private(set) var endpoint: String?
  /// The argument or header that was refused.
  private(set) var argument: String?
  /// Whether it says that a presigned URL has expired.
  private(set) var saysExpires = false
  /// Whether it says, in the words of a common server, that plain HTTP was sent to a TLS port.
  private(set) var saysTLSPort = false

  private static let secretElements = [
    "StringToSign", "StringToSignBytes", "CanonicalRequest", "CanonicalRequestBytes", "SignatureProvided",
    "AWSAccessKeyId", "Token-0", "Token", "SecurityToken", "X-Amz-Credential",
  ]

  private static let tlsPorts = [
    "http request to an https server", "http request was sent to https port", "plain http to an ssl-enabled server",
  ]

  init(_ body: [UInt8]) {
    guard body.contains(where: { $0 > 0x20 }) else { return }
    form = .other
    // No error is longer than a page of text; only that much of a longer body is read.
    let tree = XMLReader.readWhatThereIs(body.count > Self.maximum ? Array(body.prefix(Self.maximum)) : body)
    guard let parent = Self.error(in: tree) else {
      let text = String(decoding: body.prefix(1024), as: UTF8.self).lowercased()
      saysTLSPort = Self.tlsPorts.contains { text.holds($0) }
      return
    }
    form = .xml
    code = parent.string("Code").flatMap(Self.token)
    requestID =
      parent.string("RequestId").flatMap(Self.token) ?? tree.first("RequestId").flatMap { Self.token($0.text) }
    region = parent.string("Region").flatMap(Self.region)
    endpoint = parent.string("Endpoint").flatMap(Self.token)
    argument = (parent.string("ArgumentName") ?? parent.string("Header")).flatMap(Self.token)
    saysExpires = parent.string("Expires") != nil && parent.string("ServerTime") != nil
    var secrets = Self.secretElements.compactMap { parent.string($0) }
    if let argument, SecretNames.isSecret(header: argument), let value = parent.string("ArgumentValue") {
      secrets.append(value)
    }
    let text = parent.string("Message").map { Redaction.sentence($0, secrets: secrets) }
    message = text?.isEmpty == true ? nil : text
  }

  private static let maximum = 256 << 10

  /// Whether a body is an error, whatever the status was; checks only its beginning.
  static func isError(_ body: [UInt8]) -> Bool {
    let text = body.drop { $0 <= 0x20 }
    guard text.first == UInt8(ascii: "<") else { return false }
    guard let root = XMLReader.readWhatThereIs(Array(text.prefix(4096))).root else { return false }
    return root.isNamed("Error") || root.isNamed("ErrorResponse")
  }

  /// The error element: `<Error>` as the root, in `<ErrorResponse>` or its `<Errors>`, or any root that has a code and
  /// a message.
  private static func error(in tree: XMLTree) -> XMLElement? {
    guard let root = tree.root else { return nil }
    if root.isNamed("Error") { return root }
    if let inner = root.first("Error") ?? root.first("Errors")?.first("Error") { return inner }
    return root.first("Code") != nil ? root : nil
  }

  static func requestID(_ headers: HeaderList) -> String? {
    (headers["x-amz-request-id"] ?? headers["x-amzn-requestid"] ?? headers["x-goog-request-id"]
      ?? headers["x-trans-id"]).flatMap(token)
  }

  /// The code in a header: some stores put the code of a refused HEAD, which has no body, there.
  static func code(_ headers: HeaderList) -> String? {
    (headers["x-amz-error-code"] ?? headers["x-minio-error-code"]).flatMap(token)
  }

  /// The text if it is one word of printable ASCII.
  private static func token(_ text: String) -> String? {
    let text = ASCII.trimmed(text)
    guard !text.isEmpty, text.utf8.count <= 256, text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
      return nil
    }
    return text
  }

  /// The region if it is valid. It becomes part of a host name and of a signature, so only letters, digits and hyphens
  /// are accepted.
  static func region(_ text: String) -> String? {
    let text = ASCII.trimmed(text)
    guard BucketName.isLabel(text.lowercased()), text.utf8.allSatisfy({ $0 < 0x80 }) else { return nil }
    return text
  }
}
