import MultipartBasics
@testable import MultipartCore
import Support
import Testing

@Suite(.timeLimit(.minutes(15))) struct S3HeaderTests {
  private func put(_ change: (inout ObjectHeaders) -> Void) throws -> HeaderList {
    var object = ObjectHeaders()
    change(&object)
    return try PutObject(ObjectAddress("b", "k"), body: .none, object: object).request().headers
  }

  @Test("Of two ETags or checksums that contradict each other, neither is evidence")
  func contradictingEvidence() {
    var answer = Response(status: 200)
    for value in ["\"a\"", "\"b\""] { answer.headers.add("ETag", value) }
    for value in ["AAAAAA==", "BBBBBB=="] { answer.headers.add("x-amz-checksum-crc32c", value) }
    for _ in 0..<2 { answer.headers.add("x-amz-checksum-crc64nvme", "AAAAAAAAAAA=") }
    let object = ObjectInfo(answer)
    #expect(object.etag == nil && object.checksums == ["x-amz-checksum-crc64nvme": "AAAAAAAAAAA="])
  }

  @Test func everyObjectHeaderIsSentUnderItsName() throws {
    let headers = try put {
      $0.contentType = "text/plain"
      $0.cacheControl = "no-cache"
      $0.contentDisposition = "attachment"
      $0.contentEncoding = "gzip"
      $0.contentLanguage = "de"
      $0.expires = "Wed, 28 Oct 2009 22:32:00 GMT"
      $0.metadata = [NamedValue("Color", "blue"), NamedValue("n", "")]
      $0.tags = [NamedValue("a b", "c&d=é"), NamedValue("x", "")]
      $0.storageClass = "STANDARD_IA"
      $0.acl = "private"
      $0.grants = [
        .init(.read, "id=\"1\""), .init(.fullControl, "id=\"2\""), .init(.read, "uri=\"u\""),
      ]
      $0.websiteRedirect = "/x"
      $0.lockMode = .governance
      $0.retainUntil = Timestamp(seconds: 1_256_769_120)
      $0.legalHold = true
      $0.extra = [NamedValue("x-custom", "1"), NamedValue("cache-control", "max-age=5")]
    }
    let expected: [String: String?] = [
      "Content-Type": "text/plain", "Content-Disposition": "attachment", "Content-Encoding": "gzip",
      "Content-Language": "de", "Expires": "Wed, 28 Oct 2009 22:32:00 GMT", "x-amz-meta-Color": "blue",
      "x-amz-meta-n": "", "x-amz-tagging": "a%20b=c%26d%3D%C3%A9&x=", "x-amz-storage-class": "STANDARD_IA",
      "x-amz-acl": "private", "x-amz-grant-read": "id=\"1\", uri=\"u\"", "x-amz-grant-full-control": "id=\"2\"",
      "x-amz-website-redirect-location": "/x", "x-amz-object-lock-mode": "GOVERNANCE",
      "x-amz-object-lock-retain-until-date": "2009-10-28T22:32:00Z", "x-amz-object-lock-legal-hold": "ON",
      "x-custom": "1", "Cache-Control": "max-age=5",
    ]
    for (name, value) in expected { #expect(headers[name] == value, "\(name)") }
    #expect(headers.fields.count == expected.count)
  }

  @Test func moreTagsThanS3AllowsAreRefused() throws {
    let tags = (0...S3Limits.mostTags).map { NamedValue("t\($0)", "1") }
    #expect(try put { $0.tags = tags.dropLast() }["x-amz-tagging"] != nil)
    #expect(s3Failure { _ = try put { $0.tags = tags } }?.code == .usage)
  }

  @Test func aFurtherHeaderThatAPropertySetsIsFound() {
    var object = ObjectHeaders()
    object.extra = [NamedValue("x-custom", "1"), NamedValue("CACHE-control", "max-age=5")]
    #expect(object.replaced == nil)
    object.cacheControl = "no-cache"
    #expect(object.replaced == "CACHE-control")
  }

  @Test func unsetHeadersAreNotSent() throws {
    #expect(try put { _ in }.fields.isEmpty)
  }

  @Test func aTabIsSentAsItIsSignedOrNotAtAll() throws {
    let headers = try put { $0.metadata = [NamedValue("a", "b\tc")] }
    #expect(headers["x-amz-meta-a"] == "=?UTF-8?B?Yglj?=")
    for change: (inout ObjectHeaders) -> Void in [
      { $0.contentDisposition = "a\tb" }, { $0.extra = [NamedValue("x-amz-meta-a", "b\tc")] },
      { $0.grants = [.init(.read, "id=\"a\tb\"")] },
    ] {
      #expect(s3Failure { _ = try put(change) }?.code == .usage)
    }
  }

  @Test(arguments: ["a\r\nX-Evil: 1", "a\nb", "a\rb", "a\0b", "a\u{7F}", "\u{1B}[31m"])
  func aValueThatWouldEndItsLineIsRefusedEverywhere(_ evil: String) throws {
    let changes: [(inout ObjectHeaders) -> Void] = [
      { $0.contentType = evil }, { $0.metadata = [NamedValue("a", evil)] }, { $0.acl = evil },
      { $0.metadata = [NamedValue("a", "é" + evil)] }, { $0.metadata = [NamedValue("a" + evil, "v")] },
      { $0.grants = [.init(.read, evil)] }, { $0.extra = [NamedValue("a", evil)] },
      { $0.extra = [NamedValue(evil, "a")] }, { $0.websiteRedirect = evil },
    ]
    for (number, change) in changes.enumerated() {
      #expect(s3Failure { _ = try put(change) }?.code == .usage, "\(number)")
    }
    #expect(
      s3Failure {
        _ = try ListMultipartUploads(BucketAddress("b", CommonHeaders(expectedBucketOwner: evil))).request()
      }?.code == .usage)
    #expect(
      s3Failure {
        _ = try UploadPart(
          ObjectAddress("b", "k"), uploadID: "u", partNumber: 1, body: .none, checksum: NamedValue("Content-MD5", evil)
        ).request()
      }?.code == .usage)
    #expect(s3Failure { _ = try GetObject(ObjectAddress("b", "k"), ifMatch: evil).request() }?.code == .usage)
  }

  @Test func aRefusedValueIsNotRepeatedInTheMessage() {
    let failure = s3Failure { _ = try put { $0.extra = [NamedValue("x-api-key", "hunter2\n")] } }
    #expect(failure.map { "\($0)".contains("hunter2") } == false)
  }

  @Test func nonASCIIMetadataIsSentAsAnEncodedWordAndDecoded() throws {
    let headers = try put { $0.metadata = [NamedValue("t", "ÄMÄZÕÑ S3")] }
    #expect(headers["x-amz-meta-t"] == "=?UTF-8?B?w4RNw4Raw5XDkSBTMw==?=")
    #expect(EncodedWord.decode("=?UTF-8?B?w4RNw4Raw5XDkSBTMw==?=") == "ÄMÄZÕÑ S3")
  }

  @Test(arguments: [
    ("plain", "plain"), ("=?UTF-8?Q?caf=C3=A9_au?= =?utf-8?B?IGxhaXQ=?=", "café au lait"), ("=?UTF-8?B?%%%?=", nil),
    ("=?UTF-8?B?/w==?=", nil), ("=?latin-1?Q?=E9?=", nil), ("=?UTF-8?Q?=4?=", nil), ("=?", nil), ("=?UTF-8?B?", nil),
  ])
  func encodedWordsAreDecodedOrLeftAlone(_ word: String, _ text: String?) {
    #expect(EncodedWord.decode(word) == text ?? word)
  }

  @Test func aNonASCIIHeaderIsRefusedWithARemedy() {
    let failure = s3Failure { _ = try put { $0.contentDisposition = "attachment; filename=\"é\"" } }
    #expect(failure?.code == .usage)
    #expect(failure?.remedy?.contains("filename*=UTF-8''") == true)
  }

  @Test func metadataOfOneNameTwiceIsRefused() {
    #expect(s3Failure { _ = try put { $0.metadata = [NamedValue("A", "1"), NamedValue("a", "2")] } }?.code == .usage)
  }

  @Test(arguments: [
    "Authorization", "host", "Content-Length", "Transfer-Encoding", "x-amz-date", "X-Amz-Security-Token",
    "x-amz-server-side-encryption-customer-key", "Content-MD5", "x-amz-checksum-crc32", "If-None-Match",
  ])
  func headersThatAreMadeCannotBeGivenByHand(_ name: String) {
    #expect(s3Failure { _ = try put { $0.extra = [NamedValue(name, "x")] } }?.code == .usage)
  }

  @Test func anObjectLockNeedsBothModeAndDate() {
    #expect(s3Failure { _ = try put { $0.lockMode = .compliance } }?.code == .usage)
    #expect(s3Failure { _ = try put { $0.retainUntil = Timestamp(seconds: 0) } }?.code == .usage)
  }

  @Test func kmsHeadersAreAsS3NamesThem() throws {
    let headers = try CreateMultipartUpload(
      ObjectAddress("b", "k"),
      encryption: .init(.kmsDualLayer, keyID: "arn:aws:kms:k", contextJSON: "{\"a\":\"b\"}", bucketKey: true)
    ).request().headers
    #expect(headers["x-amz-server-side-encryption"] == "aws:kms:dsse")
    #expect(headers["x-amz-server-side-encryption-aws-kms-key-id"] == "arn:aws:kms:k")
    #expect(headers["x-amz-server-side-encryption-context"] == "eyJhIjoiYiJ9")
    #expect(headers["x-amz-server-side-encryption-bucket-key-enabled"] == "true")
    let mixed = PutObject(ObjectAddress("b", "k"), body: .none, encryption: .init(.aes256, keyID: "k"))
    #expect(s3Failure { _ = try mixed.request() }?.code == .usage)
  }

  @Test func theCustomerKeyIsSentWithItsMD5AndNeverShown() throws {
    let key = try CustomerKey(Array("01234567890123456789012345678901".utf8))
    let headers = try HeadObject(ObjectAddress("b", "k", customerKey: key)).request().headers
    let base64 = "MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE="
    #expect(headers["x-amz-server-side-encryption-customer-algorithm"] == "AES256")
    #expect(headers["x-amz-server-side-encryption-customer-key"] == base64)
    #expect(headers["x-amz-server-side-encryption-customer-key-MD5"] == "KYvwGXoFFJ42a2u2GDWhwQ==")
    var dumped = "\(key) \(String(reflecting: key)) \(HeadObject(ObjectAddress("b", "k", customerKey: key)))"
    dump(key, to: &dumped)
    #expect(!dumped.contains("MDEy") && !dumped.contains("KYvw") && !dumped.contains("0123"))
    for field in headers.fields where field.name.hasPrefix("x-amz-server-side-encryption-customer-key") {
      #expect(Redaction.shown(field) == "\(field.name): REDACTED")
    }
  }

  @Test(arguments: [0, 16, 31, 33, 44]) func aCustomerKeyOfAnotherLengthIsRefused(_ count: Int) {
    #expect(s3Failure { _ = try CustomerKey([UInt8](repeating: 1, count: count)) }?.code == .usage)
  }

  @Test func oursAndTheStoresKeyAreNotMixed() throws {
    let key = try CustomerKey([UInt8](repeating: 1, count: 32))
    let operation = CreateMultipartUpload(ObjectAddress("b", "k", customerKey: key), encryption: .init(.aes256))
    #expect(s3Failure { _ = try operation.request() }?.code == .usage)
  }

  @Test(arguments: ["Authorization", "X-AMZ-SECURITY-TOKEN", "Cookie"]) func secretsAreKnownInAnyCase(_ name: String) {
    #expect(SecretNames.isSecret(header: name))
    #expect(ObjectHeaders.isReserved(name))
  }

  @Test(
    arguments: [
      "X-Api-Key", "Ocp-Apim-Subscription-Key", "CF-Access-Client-Secret", "X-Session-Id", "apikey", "x_api_key",
      "X-Goog-Api-Key",
    ])
  func secretsOfGatewaysCanBeGivenAndAreNotShown(_ name: String) {
    let field = NamedValue(name, "hunter2")
    #expect(!ObjectHeaders.isReserved(name))
    #expect(Redaction.shown(field) == "\(name): REDACTED")
    #expect(Redaction.headers([name: "hunter2"])[name] == "REDACTED")
    #expect(Redaction.shown(NamedValue("x-amz-meta-" + name, "v")) == "x-amz-meta-\(name): v")
  }

  @Test(arguments: ["Host", "date", "X-Amz-Checksum-CRC32", "x-amz-checksum-mode", "Content-MD5", "If-None-Match"])
  func whatEachRequestMakesIsNotGivenByHand(_ name: String) {
    #expect(ObjectHeaders.isReserved(name))
    #expect(!ObjectHeaders.isReserved("x-amz-meta-" + name))
  }

  @Test func checksumHeadersAndElementsAreOneThing() {
    #expect(ChecksumHeaders.element(for: "x-amz-checksum-crc64nvme") == "ChecksumCRC64NVME")
    #expect(ChecksumHeaders.element(for: "X-Amz-Checksum-SHA256") == "ChecksumSHA256")
    #expect(ChecksumHeaders.element(for: "x-amz-checksum-type") == nil)
    #expect(ChecksumHeaders.element(for: "Content-MD5") == nil)
    #expect(ChecksumHeaders.element(for: "x-amz-checksum-a><b") == nil)
    let headers: HeaderList = [
      "X-Amz-Checksum-CRC32C": "a", "x-amz-checksum-type": "COMPOSITE", "x-amz-checksum-sha1": "", "ETag": "e",
    ]
    #expect(ChecksumHeaders.values(in: headers) == ["x-amz-checksum-crc32c": "a"])
  }
}

@Suite(.timeLimit(.minutes(15))) struct DateTextTests {
  @Test(arguments: [
    ("2010-11-10T20:48:33.000Z", 1_289_422_113), ("2010-11-10T20:48:33Z", 1_289_422_113),
    ("2024-02-29T23:59:59.999999Z", 1_709_251_199), ("1970-01-01T00:00:00+00:00", 0), ("2010-11-10", nil),
    ("2010-11-10T20:48:33+02:00", 1_289_414_913), ("2010-02-30T20:48:33Z", nil), ("2010-13-10T20:48:33Z", nil),
    ("", nil), ("xxxxxxxxxxxxxxxxxxxxxxxx", nil),
    ("2010-11-10T20:48:33.Z.Z", nil),
  ])
  func xmlDatesAreRead(_ text: String, _ seconds: Int64?) {
    #expect(DateText.iso8601(text)?.seconds == seconds)
  }

  @Test(arguments: [
    ("Wed, 28 Oct 2009 22:32:00 GMT", 1_256_769_120), ("Thu, 01 Jan 1970 00:00:00 GMT", 0),
    ("Wed, 28 Oct 2009 22:32:00 CET", nil), ("28 Oct 2009", nil), ("", nil), ("Wed, 28 Okt 2009 22:32:00 GMT", nil),
    ("Wed, 99 Oct 2009 22:32:00 GMT", nil), ("Wed, 28 Oct 99999 22:32:00 GMT", nil),
  ])
  func headerDatesAreRead(_ text: String, _ seconds: Int64?) {
    #expect(DateText.http(text)?.seconds == seconds)
  }

  @Test(arguments: [
    (0, "Thu, 01 Jan 1970 00:00:00 GMT"), (1_256_769_120, "Wed, 28 Oct 2009 22:32:00 GMT"),
    (-1, "Thu, 01 Jan 1970 00:00:00 GMT"), (.min, "Thu, 01 Jan 1970 00:00:00 GMT"),
    (253_402_300_800, "Fri, 31 Dec 9999 23:59:59 GMT"), (.max, "Fri, 31 Dec 9999 23:59:59 GMT"),
  ])
  func anyTimeCanBeWritten(_ seconds: Int64, _ text: String) {
    #expect(Timestamp(seconds: seconds).httpDate == text)
  }
}
