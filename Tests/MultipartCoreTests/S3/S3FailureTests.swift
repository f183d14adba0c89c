import Support
import Testing

@testable import MultipartCore

@Suite(.timeLimit(.minutes(15))) struct S3FailureTests {
  private let object = Place(bucket: "b", key: "k")
  private let upload = Place(bucket: "b", key: "k", uploadID: "u")

  private func read(
    _ body: String, _ status: Int = 400, _ headers: HeaderList = [:], place: Place? = nil, checksum: Bool = false,
    operation: OperationName = PutObject.name
  ) -> Failure {
    Failure(
      answer: S3Answers.ok(body, headers, status: status), operation: operation, place: place ?? object,
      carriedChecksum: checksum)
  }

  @Test(arguments: [
    ("ExpiredToken", 400, Failure.Code.credentialsExpired), ("ExpiredTokenException", 400, .credentialsExpired),
    ("TokenRefreshRequired", 400, .credentialsExpired), ("SecurityTokenExpired", 403, .credentialsExpired),
    ("AccessDenied", 403, .credentials), ("InvalidAccessKeyId", 403, .credentials),
    ("SignatureDoesNotMatch", 403, .credentials), ("InvalidToken", 400, .credentials),
    ("InvalidSecurity", 403, .credentials), ("NotSignedUp", 403, .credentials), ("AccountProblem", 403, .credentials),
    ("AuthorizationHeaderMalformed", 400, .credentials), ("MissingSecurityHeader", 400, .credentials),
    ("SomethingNew", 401, .credentials), ("SomethingNew", 403, .credentials),
    ("RequestTimeTooSkewed", 403, .clockSkew), ("RequestExpired", 400, .clockSkew),
    ("NoSuchUpload", 404, .uploadGone), ("NoSuchBucket", 404, .refused), ("NoSuchKey", 404, .refused),
    ("SomethingNew", 404, .refused), ("MethodNotAllowed", 405, .refused), ("PermanentRedirect", 301, .refused),
    ("PreconditionFailed", 412, .precondition), ("ConditionalRequestConflict", 409, .server),
    ("SomethingNew", 412, .precondition), ("SomethingNew", 409, .refused), ("OperationAborted", 409, .server),
    ("BrokenMPU", 409, .refused), ("BadDigest", 400, .dataMismatch), ("InvalidDigest", 400, .dataMismatch),
    ("XAmzContentSHA256Mismatch", 400, .dataMismatch), ("XAmzContentChecksumMismatch", 400, .dataMismatch),
    ("NotImplemented", 501, .refused), ("InvalidArgument", 400, .refused), ("InvalidRequest", 400, .refused),
    ("SlowDown", 503, .throttled), ("SlowDown", 429, .throttled), ("ServiceUnavailable", 503, .throttled),
    ("ThrottlingException", 400, .throttled), ("BandwidthLimitExceeded", 503, .throttled),
    ("TooManyRequests", 429, .throttled), ("SomethingNew", 429, .throttled), ("SomethingNew", 503, .throttled),
    ("KMS.ThrottlingException", 400, .throttled), ("RequestTimeout", 400, .network), ("IncompleteBody", 400, .network),
    ("SomethingNew", 408, .network), ("InternalError", 500, .server), ("InternalError", 200, .server),
    ("SomethingNew", 500, .server), ("SomethingNew", 502, .server), ("SomethingNew", 504, .server),
    ("SomethingNew", 200, .server), ("TemporaryRedirect", 307, .server), ("SlowDown", 200, .throttled),
    ("EntityTooLarge", 400, .refused), ("EntityTooSmall", 400, .refused), ("InvalidPart", 400, .refused),
    ("InvalidPartOrder", 400, .refused), ("KeyTooLongError", 400, .refused), ("MalformedXML", 400, .refused),
    ("MetadataTooLarge", 400, .refused), ("InvalidStorageClass", 400, .refused), ("QuotaExceeded", 403, .refused),
    ("InvalidObjectState", 403, .refused), ("KMS.NotFoundException", 400, .refused), ("SomethingNew", 507, .refused),
    ("SomethingNew", 400, .refused), ("SomethingNew", 418, .refused),
  ])
  func theCodeOfTheStoreDecidesAndTheStatusOnlyWithoutOne(_ s3Code: String, _ status: Int, _ code: Failure.Code) {
    let failure = read(S3Answers.error(s3Code), status)
    #expect(failure.code == code)
    #expect(failure.s3Code == s3Code)
    #expect(failure.status == status)
    #expect(failure.place == object)
  }

  @Test(arguments: [
    (301, Failure.Code.refused), (307, .server), (400, .refused), (401, .credentials), (403, .credentials),
    (404, .refused), (405, .refused), (408, .network), (409, .refused), (411, .refused), (412, .precondition),
    (416, .refused), (429, .throttled), (500, .server), (501, .refused), (502, .server), (503, .throttled),
    (504, .server), (507, .refused), (599, .server), (100, .server), (0, .server),
  ])
  func withoutABodyTheStatusDecides(_ status: Int, _ code: Failure.Code) {
    #expect(read("", status).code == code)
    #expect(read("", status).s3Code == nil)
    #expect(read("<html><body><h1>Error</h1></body></html>", status).code == code)
    #expect(read("{\"error\":{\"code\":\(status)}}", status).code == code)
  }

  @Test("a closed account and a full store have their own remedies, not those of permissions and connections")
  func closedOrFull() {
    #expect(read(S3Answers.error("AccountProblem"), 403).remedy?.description.contains("ask its provider") == true)
    for full in [read("", 507), read(S3Answers.error("XMinioStorageFull"), 507)] {
      let remedy = "the store's disks are full: delete what is not needed, or tell who runs the store"
      #expect(full.remedy?.description == remedy)
    }
  }

  @Test func withAnUploadIDNotFoundMeansThatTheUploadIsGone() {
    #expect(read("", 404, place: upload).code == .uploadGone)
    #expect(read(S3Answers.error("NoSuchKey"), 404, place: upload).code == .uploadGone)
    #expect(read(S3Answers.error("NoSuchKey"), 404, place: upload).s3Code == "NoSuchKey")
    #expect(read(S3Answers.error("UploadNotFound"), 404, place: upload).code == .uploadGone)
    #expect(read(S3Answers.error("NoSuchBucket"), 404, place: upload).code == .refused)
    #expect(read("default backend - 404", 404, place: upload).code == .server)
    #expect(read("<html><body>404 Not Found</body></html>", 404, place: upload).code == .server)
  }

  @Test(arguments: [
    (501, S3Answers.error("NotImplemented", "A header you provided implies functionality that is not implemented")),
    (501, ""),
    (
      501, S3Answers.error("NotImplemented", "Header 'x-amz-checksum-algorithm' with value 'CRC64NVME' not implemented")
    ),
    (501, S3Answers.error("NotImplemented", "The x-amz-checksum-crc64nvme algorithm is not supported.")),
    (501, S3Answers.error("NotImplemented", "no", "<Header>x-amz-sdk-checksum-algorithm</Header>")),
    (400, S3Answers.error("InvalidRequest", "The algorithm type you specified in x-amz-checksum- header is invalid.")),
    (400, S3Answers.error("InvalidRequest", "Value for x-amz-checksum-crc64nvme header is invalid.")),
    (400, S3Answers.error("InvalidArgument", "no", "<ArgumentName>x-amz-checksum-crc64nvme</ArgumentName>")),
    (400, S3Answers.error("InvalidArgument", "Content-MD5 is not supported")),
  ])
  func aRefusedChecksumIsKnownOnlyWhereOneWasSent(_ status: Int, _ body: String) {
    #expect(read(body, status, checksum: true).code == .checksumUnsupported)
    #expect(read(body, status, checksum: false).code == .refused)
  }

  @Test(arguments: [
    (501, S3Answers.error("NotImplemented", "Object tagging is not supported.")),
    (501, S3Answers.error("NotImplemented", "Server-side encryption is not supported.")),
    (501, S3Answers.error("NotImplemented", "Conditional object PUTs are not supported.")),
    (501, S3Answers.error("NotImplemented", "implies", "<Header>x-amz-tagging</Header>")),
    (400, S3Answers.error("InvalidArgument", "no", "<ArgumentName>x-amz-storage-class</ArgumentName>")),
    (400, S3Answers.error("InvalidRequest", "You must specify at least one part")),
    (400, S3Answers.error("EntityTooSmall", "checksum")), (400, ""),
  ])
  func whatIsNotAboutTheChecksumDoesNotBlameIt(_ status: Int, _ body: String) {
    #expect(read(body, status, checksum: true).code == .refused)
  }

  @Test func aWrongChecksumIsNotAnUnsupportedOne() {
    let body = S3Answers.error("BadDigest", "The CRC64NVME you specified did not match the calculated checksum.")
    #expect(read(body, 400, checksum: true).code == .dataMismatch)
  }

  @Test func theRequestItselfTellsWhetherItCarriedAChecksum() throws {
    let answer = S3Answers.ok(S3Answers.error("NotImplemented", "no"), status: 501)
    var part = UploadPart(ObjectAddress("b", "k"), uploadID: "u", partNumber: 1, body: .none)
    #expect(Failure(answer: answer, to: try part.request()).code == .refused)
    part.checksum = NamedValue("Content-MD5", "AAAA")
    #expect(Failure(answer: answer, to: try part.request()).code == .checksumUnsupported)
    #expect(s3Failure { _ = try part.output(from: answer) }?.code == .checksumUnsupported)
  }

  @Test func aSentenceCanAskForLess() {
    #expect(read(S3Answers.error("Unheard", "Please reduce your request rate."), 400).code == .throttled)
  }

  @Test func theRegionComesFromTheHeaderOrTheBody() {
    let body = S3Answers.error("AuthorizationHeaderMalformed", "wrong region", "<Region>eu-west-1</Region>")
    #expect(read(body).region == "eu-west-1")
    #expect(read(body).code == .refused)
    #expect(read(body).remedy?.pieces.last == .setting(.region, .value("eu-west-1")))
    #expect(read(body, 400, ["x-amz-bucket-region": "us-east-2"]).region == "us-east-2")
    #expect(read("", 301, ["x-amz-bucket-region": "us-east-2"]).remedy?.contains("us-east-2") == true)
  }

  @Test(arguments: [
    "evil.example.com/", "a b", "a\r\nb", "é", "", "@x", "us-east-2!", "a_b", "-a", "Kansai",
    String(repeating: "a", count: 65),
  ])
  func aRegionThatCouldNotBeOneIsNotBelieved(_ region: String) {
    #expect(read("", 301, ["x-amz-bucket-region": region]).region == nil)
    #expect(read(S3Answers.error("PermanentRedirect", "m", "<Region>\(region)</Region>"), 301).region == nil)
  }

  @Test func theRequestIDComesFromTheHeaderOrTheBody() {
    let body = S3Answers.error("SlowDown", "m", "<RequestId>BODY</RequestId>")
    #expect(read(body, 503).requestID == "BODY")
    #expect(read(body, 503, ["x-amz-request-id": "HEAD"]).requestID == "HEAD")
    #expect(read(body, 503, ["x-amz-request-id": "bad id\u{1B}"]).requestID == "BODY")
  }

  @Test(arguments: [
    ("5", nil, 5), (" 120 ", nil, 120), ("0", nil, 0), ("999999999999999999999999", nil, 86_400), ("-1", nil, nil),
    ("1.5", nil, nil), ("soon", nil, nil), ("", nil, nil),
    ("Wed, 28 Oct 2009 22:32:10 GMT", "Wed, 28 Oct 2009 22:32:00 GMT", 10),
    ("Wed, 28 Oct 2009 22:31:10 GMT", "Wed, 28 Oct 2009 22:32:00 GMT", 0),
    ("Wed, 28 Oct 2019 22:32:10 GMT", "Wed, 28 Oct 2009 22:32:00 GMT", 86_400),
    ("Wed, 28 Oct 2009 22:32:10 GMT", nil, nil),
  ])
  func retryAfterIsSecondsOrADateMeasuredByTheStoresClock(_ text: String, _ date: String?, _ seconds: Int?) {
    var headers: HeaderList = ["Retry-After": text]
    headers.add("Date", date)
    #expect(read("", 503, headers).retryAfter == seconds.map { .seconds($0) })
  }

  @Test func nothingOfOurRequestComesBackInAMessage() {
    let token = "FwoGZXIvYXdzEBYaDHqa0AP" + String(repeating: "Ab9", count: 100)
    let signature = String(repeating: "0f", count: 32)
    let body = """
      <Error><Code>SignatureDoesNotMatch</Code><Message>Wrong: AKIAIOSFODNN7EXAMPLE sig \(signature) tok \(token) key \
      MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE= "\(signature)"</Message>
      <AWSAccessKeyId>AKIAIOSFODNN7EXAMPLE</AWSAccessKeyId><StringToSign>AWS4-HMAC-SHA256 abc</StringToSign>
      <SignatureProvided>\(signature)</SignatureProvided><Token-0>\(token)</Token-0>
      <CanonicalRequest>PUT / x-amz-security-token:\(token)</CanonicalRequest></Error>
      """
    let failure = read(body, 403)
    let shown = "\(failure)"
    for secret in ["AKIAIOSFODNN7EXAMPLE", signature, token, "FwoGZX", "MDEyMzQ1", "AWS4-HMAC-SHA256"] {
      #expect(!shown.contains(secret), "\(secret)")
    }
    #expect(failure.message.contains("Wrong: REDACTED sig REDACTED tok REDACTED key REDACTED"))
    #expect(failure.remedy?.contains("secret key") == true)
  }

  @Test func whatLooksLikeASecretIsNotShownEvenIfNoElementNamesIt() {
    let signature = String(repeating: "0f", count: 32)
    for secret in [
      signature, "Signature=\(signature),", "'\(signature)'", "MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=",
      String(repeating: "Ab9/", count: 60),
    ] {
      let message = read(S3Answers.error("AccessDenied", "no \(secret) here"), 403).message
      #expect(message == "the store refused PutObject: no REDACTED here")
    }
  }

  @Test func aRefusedSecretArgumentIsNotRepeated() {
    let body = S3Answers.error(
      "InvalidArgument", "bad value hunter2hunter2",
      "<ArgumentName>x-amz-server-side-encryption-customer-key</ArgumentName>"
        + "<ArgumentValue>hunter2hunter2</ArgumentValue>")
    #expect(!"\(read(body))".contains("hunter2"))
  }

  @Test func aMessageIsOneShortLine() {
    let long = "a&#10;b&#13;c" + String(repeating: " wörd", count: 500) + "\u{202E}"
    let message = read(S3Answers.error("AccessDenied", long), 403).message.description
    #expect(message.hasPrefix("the store refused PutObject: a b c wörd"))
    #expect(message.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x202E })
    #expect(message.count < 400)
  }

  @Test func errorsAreFoundUnderOtherRootsAndCutOff() {
    #expect(
      read("<ErrorResponse><Error><Code>SlowDown</Code></Error><RequestId>r</RequestId></ErrorResponse>").requestID
        == "r")
    #expect(read("<x:Error xmlns:x='u'><x:Code>SlowDown</x:Code></x:Error>").s3Code == "SlowDown")
    #expect(read("<Fault><Code> SlowDown </Code><Message/></Fault>").s3Code == "SlowDown")
    #expect(read("<Error><Code>SlowDown</Code><Mess").s3Code == "SlowDown")
    #expect(read("<Error><Code>NoSuchKey</Code><Key>\u{1}</Key></Error>", 404).s3Code == "NoSuchKey")
    #expect(read("\n <?xml version='1.0'?><Error><Code>SlowDown</Code></Error>").s3Code == "SlowDown")
  }

  @Test func aCodeThatIsNotAWordIsIgnored() {
    for code in ["a b", "", "é", "\u{7}"] { #expect(read(S3Answers.error(code), 503).s3Code == nil) }
  }

  @Test func aHeadNamesItsCodeInAHeaderOnSomeStores() {
    #expect(read("", 404, ["x-minio-error-code": "NoSuchBucket"]).s3Code == "NoSuchBucket")
  }

  @Test func hostileBodiesAreJustFailures() {
    let bodies: [[UInt8]] = [
      [UInt8](repeating: 0, count: 1000), (0..<10_000).map { UInt8(truncatingIfNeeded: $0 &* 31) },
      Array(String(repeating: "<a>", count: 300_000).utf8), [UInt8](repeating: 0x3C, count: 10 << 20),
      Array(("<Error><Code>" + String(repeating: "x", count: 10 << 20)).utf8),
      Array("<!DOCTYPE Error [<!ENTITY x 'y'>]><Error><Code>&x;</Code></Error>".utf8),
    ]
    for body in bodies {
      let failure = Failure(answer: Response(status: 503, body: body), operation: PutObject.name, place: object)
      #expect(failure.code == .throttled)
      #expect(failure.s3Code == nil)
      #expect(failure.message.description.utf8.count < 1000)
    }
  }

  @Test func anExpiredPresignedURLIsReportedAsExpired() {
    let body = S3Answers.error(
      "AccessDenied", "Request has expired",
      "<Expires>2024-01-01T00:00:00Z</Expires><ServerTime>2024-01-02T00:00:00Z</ServerTime>")
    #expect(read(body, 403).remedy?.contains("presigned URL") == true)
  }

  @Test("A final refusal by a store has its own remedy; for an unknown code only the store's words are known")
  func ownHints() {
    for (s3Code, code) in S3ErrorTable.codes where code == .refused {
      #expect(read(S3Answers.error(s3Code), 400).remedy != nil, "\(s3Code)")
    }
    #expect(read(S3Answers.error("SomethingNew", "no tuesdays"), 400).remedy == nil)
    #expect(read(S3Answers.error("InvalidArgument"), 400).remedy?.contains("bucket") == false)
  }

  @Test(
    "Plain HTTP to a TLS port is recognised by the server's words, and for a HEAD it is not a failure that may pass")
  func tlsPort() {
    let words = "Client sent an HTTP request to an HTTPS server.\n"
    #expect(read(words, 400).remedy?.contains("https://") == true)
    #expect(read(words, 400).code == .refused)
    #expect(read("", 400, operation: HeadObject.name).code == .refused)
    #expect(read("", 400, ["x-amz-request-id": "1"], operation: HeadObject.name).code == .server)
  }

  @Test("A web page is not a store's answer, whatever its status; XML sent as text/html is one")
  func webPages() {
    let html: HeaderList = ["Content-Type": "text/html; charset=utf-8"]
    let page = "\n<!DOCTYPE html><html><body>Log in</body></html>"
    func isPage(_ status: Int, _ body: String, _ headers: HeaderList, _ operation: OperationName = PutObject.name)
      -> Bool
    {
      WebPage.failure(S3Answers.ok(body, headers, status: status), to: operation) != nil
    }
    #expect(isPage(200, page, html) && isPage(200, page, [:]) && isPage(307, page, html) && isPage(302, "", [:]))
    #expect(isPage(200, "", html, HeadObject.name))
    #expect(isPage(200, page, ["ETag": "x", "x-amz-request-id": "1"]))
    #expect(isPage(200, page, ["x-amz-request-id": "1"], AbortMultipartUpload.name))
    #expect(!isPage(200, "<?xml version='1.0'?><InitiateMultipartUploadResult/>", html))
    #expect(!isPage(204, "", html, AbortMultipartUpload.name) && !isPage(200, "", ["ETag": "x"]))
    #expect(!isPage(503, page, html) && !isPage(404, page, html))
    #expect(!isPage(200, "", ["Content-Type": "text/html", "ETag": "x"], HeadObject.name))
    #expect(!isPage(200, page, ["ETag": "x"], GetObject.name))
    #expect(!isPage(200, "", ["Content-Type": "text/html"], ListBuckets.name))
  }

  @Test func anAnswerOfAProxyIsReportedAsOne() {
    #expect(read("<html><body>Squid</body></html>", 502).remedy?.contains("proxy") == true)
  }
}
