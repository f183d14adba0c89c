@testable import MultipartCore
import Testing

@Suite(.timeLimit(.minutes(15))) struct S3AnswerTests {
  private let create = CreateMultipartUpload(ObjectAddress("b", "k"), checksum: .crc64nvme)
  private let part = UploadPart(ObjectAddress("b", "k"), uploadID: "u", partNumber: 3, body: .none)
  private let complete = CompleteMultipartUpload(
    ObjectAddress("b", "k"), uploadID: "u", parts: [.init(number: 1, etag: "e")])
  private let list = ListParts(ObjectAddress("b", "k"), uploadID: "u")
  private let uploads = ListMultipartUploads(BucketAddress("b"))

  @Test func createGivesTheUploadIDAndWhatTheStoreSaysOfIt() throws {
    let output = try create.output(
      from: S3Answers.ok(
        S3Answers.created,
        [
          "x-amz-abort-date": "Wed, 28 Oct 2009 22:32:00 GMT", "x-amz-abort-rule-id": "clean",
          "x-amz-server-side-encryption": "aws:kms", "x-amz-server-side-encryption-aws-kms-key-id": "key",
          "x-amz-request-id": "R1",
        ]))
    #expect(output.uploadID == "VXBsb2FkIElEIGZvciA2aWWpbmcncyBteS1tb3ZpZS5tMnRzIHVwbG9hZA")
    #expect(output.abortDate == Timestamp(seconds: 1_256_769_120))
    #expect(output.abortRuleID == "clean")
    #expect(output.encryption.algorithm == "aws:kms")
    #expect(output.encryption.kmsKeyID == "key")
    #expect(output.requestID == "R1")
  }

  @Test func createUnderstandsOtherRootsAndNamespaces() throws {
    let text = "<x:Result xmlns:x='http://doc.s3.amazonaws.com/2006-03-01'><x:UploadId>a+b/=</x:UploadId></x:Result>"
    #expect(try create.output(from: S3Answers.ok(text)).uploadID == "a+b/=")
  }

  @Test(arguments: [
    "", "<r><UploadId></UploadId></r>", "<r><UploadId>  </UploadId></r>", "<r/>", "<r><UploadId>abc",
    "<html><body>Sign in</body></html>", "{}",
    // Scripts read the id as a line of text, and people see it.
    "<r><UploadId>a&#10;b</UploadId></r>", "<r><UploadId>a&#x85;b</UploadId></r>",
    "<r><UploadId>a&#x202E;b</UploadId></r>",
  ])
  func createWithoutAnUploadIDForOneLineIsAFailure(_ body: String) {
    #expect(s3Failure { _ = try create.output(from: S3Answers.ok(body)) }?.code == .server)
  }

  @Test func aPartGivesWhatTheStoreVerified() throws {
    let output = try part.output(
      from: S3Answers.ok("", ["etag": "\"abc\"", "X-Amz-Checksum-Crc64nvme": "AAA=", "x-amz-request-id": "R"]))
    #expect(output.etag == "\"abc\"")
    #expect(output.checksums == ["x-amz-checksum-crc64nvme": "AAA="])
    #expect(output.requestID == "R")
    #expect(try part.output(from: S3Answers.ok()).etag == nil)
  }

  @Test func anErrorUnderStatus200IsAnErrorWhateverTheOperation() {
    let answer = S3Answers.ok(" \n" + S3Answers.completeFailed)
    let put = PutObject(ObjectAddress("b", "k"), body: .none)
    let abort = AbortMultipartUpload(ObjectAddress("b", "k"), uploadID: "u")
    let all: [any S3Operation] = [create, part, complete, list, uploads, put, abort]
    for operation in all {
      let failure = s3Failure { _ = try operation.output(from: answer) }
      #expect(failure?.code == .server)
      #expect(failure?.s3Code == "InternalError")
      #expect(failure?.status == 200)
      #expect(failure?.requestID == "656c76696e6727732072657175657374")
      #expect(failure?.place == operation.place)
    }
  }

  @Test func completeGivesETagLocationChecksumsAndVersion() throws {
    let output = try complete.output(
      from: S3Answers.ok(S3Answers.completed, ["x-amz-version-id": "v1", "x-amz-request-id": "R"]))
    #expect(output.etag == "\"3858f62230ac3c915f300c664312c11f-9\"")
    #expect(output.versionID == "v1")
    #expect(output.checksums.isEmpty)
    let body = """
      <CompleteMultipartUploadResult><ETag>&#34;e-2&#34;</ETag><ChecksumCRC64NVME>rosUhgoHmVg=</ChecksumCRC64NVME>
      <ChecksumType>FULL_OBJECT</ChecksumType><New><ETag>no</ETag></New></CompleteMultipartUploadResult>
      """
    let other = try complete.output(from: S3Answers.ok(body))
    #expect(other.etag == "\"e-2\"")
    #expect(other.checksums == ["x-amz-checksum-crc64nvme": "rosUhgoHmVg="])
    #expect(other.checksumType == "FULL_OBJECT")
  }

  @Test func whiteSpaceBeforeTheResultIsAllowed() throws {
    let waited = String(repeating: " ", count: 5000) + "\n" + S3Answers.completed
    #expect(try complete.output(from: S3Answers.ok(waited)).etag != nil)
    let refused = String(repeating: " ", count: 5000) + S3Answers.completeFailed
    #expect(s3Failure { _ = try complete.output(from: S3Answers.ok(refused)) }?.s3Code == "InternalError")
  }

  @Test func anObjectsETagMayBeEmptyOrWithoutQuotes() throws {
    let empty = "<CompleteMultipartUploadResult><ETag></ETag></CompleteMultipartUploadResult>"
    #expect(try complete.output(from: S3Answers.ok(empty)).etag == nil)
    let bare = "<CompleteMultipartUploadResult><ETag> abc-2 </ETag></CompleteMultipartUploadResult>"
    #expect(try complete.output(from: S3Answers.ok(bare)).etag == "abc-2")
  }

  @Test func everyBeginningOfCompletesAnswerIsAFailureAndTheWholeIsNot() throws {
    let whole = Array(("  \n" + S3Answers.completed).utf8)
    for count in 0..<whole.count {
      let failure = s3Failure { _ = try complete.output(from: Response(status: 200, body: Array(whole.prefix(count)))) }
      #expect(failure?.code == .server, "\(count)")
    }
    _ = try complete.output(from: Response(status: 200, body: whole))
  }

  @Test(arguments: [
    "<html><head/></html>", "<Ok/>", "OK", "{\"ETag\":\"x\"}", "<Result><Key>k</Key></Result>",
    "<CompleteMultipartUploadResult><ETag>e</ETag><Error><Code>c</Code></Error></CompleteMultipartUploadResult>",
  ])
  func completeBelievesNoOtherDocument(_ body: String) {
    #expect(s3Failure { _ = try complete.output(from: S3Answers.ok(body)) }?.code == .server)
  }

  @Test func abortIsDoneWithWhatIsGone() throws {
    let abort = AbortMultipartUpload(ObjectAddress("b", "k"), uploadID: "u")
    #expect(try abort.output(from: S3Answers.ok("", status: 204)) == .aborted)
    #expect(try abort.output(from: S3Answers.ok(S3Answers.error("NoSuchUpload"), status: 404)) == .wasGone)
    #expect(try abort.output(from: S3Answers.ok("", status: 404)) == .wasGone)
    let noBucket = S3Answers.ok(S3Answers.error("NoSuchBucket"), status: 404)
    #expect(s3Failure { _ = try abort.output(from: noBucket) }?.code == .refused)
    #expect(s3Failure { _ = try abort.output(from: S3Answers.ok("", status: 503)) }?.code == .throttled)
  }

  @Test func aPageOfPartsIsReadWhole() throws {
    let page = try list.output(from: S3Answers.ok(S3Answers.parts))
    #expect(
      page.parts == [
        .init(
          number: 2, size: 10_485_760, etag: "\"7778aef83f66abc1fa1e8477f296d394\"",
          checksums: ["x-amz-checksum-crc64nvme": "1bT8IQIx1Pk="], lastModified: Timestamp(seconds: 1_289_422_114)),
        .init(
          number: 3, size: 10_485_760, etag: "\"aaaa18db4cc2f85cedef654fccc4a4x8\"",
          lastModified: Timestamp(seconds: 1_289_422_113)),
      ])
    #expect(page.isTruncated == true)
    #expect(page.nextMarker == 3)
    #expect(page.checksumAlgorithm == "CRC64NVME")
    #expect(page.checksumType == "FULL_OBJECT")
  }

  @Test func impossiblePartsAreLeftOut() throws {
    func part(_ number: String, _ size: String) -> String {
      "<Part><PartNumber>\(number)</PartNumber><Size>\(size)</Size></Part>"
    }
    let bad = [
      ("0", "1"), ("-1", "1"), ("10001", "1"), ("1", "-1"), ("99999999999999999999", "1"), ("x", "1"), ("1", ""),
    ]
    let text = "<ListPartsResult>" + bad.map { part($0.0, $0.1) }.joined() + part(" 5 ", "6") + "</ListPartsResult>"
    #expect(try list.output(from: S3Answers.ok(text)).parts == [.init(number: 5, size: 6, etag: "")])
  }

  @Test func anEmptyListOfPartsIsAListAndAnEmptyAnswerIsNot() throws {
    let empty = "<ListPartsResult><IsTruncated>false</IsTruncated></ListPartsResult>"
    #expect(try list.output(from: S3Answers.ok(empty)).parts.isEmpty)
    for body in ["", "<html/>", "<ListPartsResult><Part><PartNumber>1</PartNumber>"] {
      #expect(s3Failure { _ = try list.output(from: S3Answers.ok(body)) }?.code == .server)
    }
  }

  @Test func aPageOfUploadsIsReadWhole() throws {
    let page = try uploads.output(from: S3Answers.ok(S3Answers.uploads))
    #expect(page.uploads.map(\.key) == ["my-divisor", "my-movie.m2ts"])
    let first = try #require(page.uploads.first)
    #expect(first.uploadID == "XMgbGlrZSBlbHZpbmcncyBub3QgaGF2aW5nIG11Y2ggbHVjaw")
    #expect(first.initiated == Timestamp(seconds: 1_289_422_113))
    #expect(first.initiatedText == "2010-11-10T20:48:33.000Z")
    #expect(page.isTruncated == true)
    #expect(page.nextKeyMarker == "my-movie.m2ts")
    #expect(page.nextUploadIDMarker == "YW55IGlkZWEgd2h5IGVsdmluZydzIHVwbG9hZCBmYWlsZWQ")
  }

  @Test func keysAreDecodedOnlyWhereTheStoreSaysThatTheyAreEncoded() throws {
    func page(_ encoding: String) throws -> ListMultipartUploads.Page {
      try uploads.output(
        from: S3Answers.ok(
          "<ListMultipartUploadsResult>\(encoding)<NextKeyMarker>a%01+b</NextKeyMarker><Upload><Key>a%01+b</Key>"
            + "<UploadId>i%20</UploadId></Upload></ListMultipartUploadsResult>"))
    }
    let encoded = try page("<EncodingType>url</EncodingType>")
    #expect(encoded.uploads.first?.key == "a\u{1} b")
    #expect(encoded.nextKeyMarker == "a\u{1} b")
    #expect(encoded.uploads.first?.uploadID == "i%20")
    #expect(try page("").uploads.first?.key == "a%01+b")
    #expect(try page("").nextKeyMarker == "a%01+b")
  }

  @Test func headTellsWhatAnObjectIs() throws {
    let head = HeadObject(ObjectAddress("b", "k"))
    let output = try head.output(
      from: S3Answers.ok(
        "",
        [
          "Content-Length": "443", "ETag": "\"e-2\"", "x-amz-checksum-crc64nvme": "AA=",
          "x-amz-checksum-type": "FULL_OBJECT",
          "x-amz-version-id": "v", "Last-Modified": "Wed, 28 Oct 2009 22:32:00 GMT", "Content-Type": "text/plain",
          "X-Amz-Meta-Title": "=?UTF-8?B?w6k=?=", "x-amz-mp-parts-count": "2",
          "x-amz-server-side-encryption-customer-algorithm": "AES256",
        ]))
    guard case .exists(let object) = output else {
      Issue.record("the object is there")
      return
    }
    #expect(object.size == 443)
    #expect(object.etag == "\"e-2\"")
    #expect(object.checksums == ["x-amz-checksum-crc64nvme": "AA="])
    #expect(object.checksumType == .fullObject)
    #expect(object.partsCount == 2)
    #expect(object.versionID == "v")
    #expect(object.lastModified == Timestamp(seconds: 1_256_769_120))
    #expect(object.metadata == [NamedValue("title", "é")])
    #expect(object.encryption.customerAlgorithm == "AES256")
    #expect(try head.output(from: S3Answers.ok("", status: 404)) == .absent)
    #expect(s3Failure { _ = try head.output(from: S3Answers.ok("", status: 403)) }?.code == .credentials)
  }

  @Test(arguments: ["", "-5", "abc", "99999999999999999999"]) func anImpossibleSizeIsIgnored(_ text: String) throws {
    let output = try HeadObject(ObjectAddress("b", "k")).output(from: S3Answers.ok("", ["Content-Length": text]))
    guard case .exists(let object) = output else {
      Issue.record("the object is there")
      return
    }
    #expect(object.size == nil)
  }

  @Test func aRangeTellsTheSizeOfTheWhole() throws {
    let get = GetObject(ObjectAddress("b", "k"), range: 0...9)
    let output = try get.output(
      from: S3Answers.ok(
        "0123456789", ["Content-Length": "10", "Content-Range": "bytes 0-9/443", "ETag": "e"], status: 206))
    #expect(output.object.size == 443)
    #expect(output.contentRange == "bytes 0-9/443")
    #expect(output.body == Array("0123456789".utf8))
    #expect(
      s3Failure { _ = try get.output(from: S3Answers.ok(S3Answers.error("InvalidRange"), status: 416)) }?.code
        == .refused)
  }

  @Test func anObjectThatLooksLikeAnErrorIsAnObject() throws {
    let text = S3Answers.error("InternalError")
    #expect(try GetObject(ObjectAddress("b", "k")).output(from: S3Answers.ok(text)).body == Array(text.utf8))
  }

  @Test func putGivesETagChecksumsAndVersion() throws {
    let output = try PutObject(ObjectAddress("b", "k"), body: .none).output(
      from: S3Answers.ok("", ["ETag": "\"e\"", "x-amz-checksum-crc32": "AAAAAA==", "x-amz-version-id": "3"]))
    #expect(output.etag == "\"e\"")
    #expect(output.checksums == ["x-amz-checksum-crc32": "AAAAAA=="])
    #expect(output.versionID == "3")
  }
}
