@testable import MultipartCore
import Support
import Testing

/// Answers as real stores gave them, shortened only where noted.
@Suite(.timeLimit(.minutes(15))) struct S3StoreAnswerTests {
  private let uploads = ListMultipartUploads(BucketAddress("probe"))

  private func page(_ body: String) throws -> ListMultipartUploads.Page {
    try uploads.output(from: S3Answers.ok("<?xml version='1.0' encoding='UTF-8'?>\n" + body))
  }

  @Test func seaweedFSSaysThatKeysAreEncodedAndDoesNotEncodeThem() throws {
    let page = try page(
      """
      <ListMultipartUploadsResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Bucket>probe</Bucket>\
      <Delimiter></Delimiter><EncodingType>url</EncodingType><IsTruncated>false</IsTruncated><KeyMarker></KeyMarker>\
      <MaxUploads>10000</MaxUploads><Prefix></Prefix><Upload><Initiated>2026-11-20T05:44:53Z</Initiated>\
      <Key>a b</Key><UploadId>7dbde9_00b0</UploadId></Upload><Upload><Initiated>2026-11-20T05:44:53Z</Initiated>\
      <Key>100%25+c</Key><UploadId>7dbde9_0536</UploadId></Upload></ListMultipartUploadsResult>
      """)
    #expect(page.uploads.map(\.key) == ["a b", "100%25+c"])
    #expect(page.uploads.first?.initiated != nil)
  }

  @Test func swiftEncodesKeysButNotTheMarker() throws {
    let page = try page(
      """
      <ListMultipartUploadsResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Bucket>probe</Bucket>\
      <KeyMarker></KeyMarker><UploadIdMarker></UploadIdMarker><NextKeyMarker>a+b</NextKeyMarker>\
      <NextUploadIdMarker>Y2Fj</NextUploadIdMarker><MaxUploads>1000</MaxUploads><EncodingType>url</EncodingType>\
      <IsTruncated>true</IsTruncated><Upload><Key>a%20b</Key><UploadId>NjcwNm</UploadId></Upload>\
      <Upload><Key>a%2Bb</Key><UploadId>Y2Fj</UploadId></Upload></ListMultipartUploadsResult>
      """)
    #expect(page.uploads.map(\.key) == ["a b", "a+b"])
    #expect(page.uploads.map(\.otherKey) == ["a%20b", "a%2Bb"])
    #expect(page.nextKeyMarker == "a+b")
  }

  @Test func minIOsFrontEndWritesASpaceAsPlusInKeysAndMarker() throws {
    let page = try page(
      """
      <ListMultipartUploadsResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Bucket>probe</Bucket>\
      <KeyMarker></KeyMarker><UploadIdMarker></UploadIdMarker><NextKeyMarker>a+b</NextKeyMarker>\
      <NextUploadIdMarker>d57da6d1</NextUploadIdMarker><EncodingType>url</EncodingType><MaxUploads>10000</MaxUploads>\
      <IsTruncated>false</IsTruncated><Upload><Key>a+b</Key><UploadId>649d2f12</UploadId><Initiator><ID></ID>\
      <DisplayName></DisplayName></Initiator><StorageClass></StorageClass>\
      <Initiated>2026-11-20T05:44:53.483Z</Initiated></Upload></ListMultipartUploadsResult>
      """)
    #expect(page.uploads.map(\.key) == ["a b"])
    #expect(page.nextKeyMarker == "a b")
  }

  @Test func minIOsFrontEndEndsItsListOfPartsWithMarkerZero() throws {
    let page = try ListParts(ObjectAddress("probe", "a b"), uploadID: "u").output(
      from: S3Answers.ok(
        """
        <?xml version="1.0" encoding="UTF-8"?>
        <ListPartsResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Bucket>probe</Bucket><Key>a b</Key>\
        <UploadId>u</UploadId><StorageClass>STANDARD</StorageClass><PartNumberMarker>0</PartNumberMarker>\
        <NextPartNumberMarker>0</NextPartNumberMarker><MaxParts>10000</MaxParts><IsTruncated>false</IsTruncated>\
        <Part><PartNumber>1</PartNumber><LastModified>2026-11-20T05:44:53.000Z</LastModified>\
        <ETag>&#34;336311a016184326ddbdd61edd4eeb52&#34;</ETag><Size>10</Size></Part></ListPartsResult>
        """))
    #expect(page.parts.map(\.etag) == ["\"336311a016184326ddbdd61edd4eeb52\""])
    var pages = ListParts.Pages()
    #expect(pages.add(page) == nil)
    #expect(pages.isComplete)
  }

  @Test(arguments: ["a&#x1b;b", "a&#27;b", "a\u{1b}b", "a&#x1;&#0;b"])
  func aKeyThatXMLCannotHoldDoesNotHideTheUploadID(_ key: String) throws {
    let create = CreateMultipartUpload(ObjectAddress("probe", "a\u{1b}b"))
    let output = try create.output(
      from: S3Answers.ok(
        """
        <InitiateMultipartUploadResult><Bucket>probe</Bucket><Key>\(key)</Key><UploadId>u&amp;1</UploadId>\
        </InitiateMultipartUploadResult>
        """))
    #expect(output.uploadID == "u&1")
    for spoiled in ["&#-5;", "&#x-5;", "&#999;&", "&#;", "&#x;", "&"] {
      #expect(throws: Failure.self) {
        try create.output(
          from: S3Answers.ok(
            "<InitiateMultipartUploadResult><Key>\(key)\(spoiled)</Key><UploadId>u</UploadId></InitiateMultipartUploadResult>"
          ))
      }
    }
    // A list of keys must be read as it is, or not at all.
    let list = ListMultipartUploads(BucketAddress("probe"))
    #expect(throws: Failure.self) {
      try list.output(
        from: S3Answers.ok("<ListMultipartUploadsResult><Prefix>\(key)</Prefix></ListMultipartUploadsResult>"))
    }
  }

  @Test func seaweedFSGivesTheCompositeChecksumAtComplete() throws {
    let complete = CompleteMultipartUpload(
      ObjectAddress("probe", "a b"), uploadID: "u", parts: [.init(number: 1, etag: "e")])
    let output = try complete.output(
      from: S3Answers.ok(
        """
        <?xml version="1.0" encoding="UTF-8"?>
        <CompleteMultipartUploadResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">\
        <Location>http://127.0.0.1/probe/a%20b</Location><Bucket>probe</Bucket><Key>a b</Key>\
        <ETag>&#34;cb8d7289925309a05b2db09b7709c264-1&#34;</ETag><ChecksumCRC32>205RRA==-1</ChecksumCRC32>\
        <ChecksumType>COMPOSITE</ChecksumType></CompleteMultipartUploadResult>
        """))
    #expect(output.etag == "\"cb8d7289925309a05b2db09b7709c264-1\"")
    #expect(output.checksums == ["x-amz-checksum-crc32": "205RRA==-1"])
    #expect(output.checksumType == "COMPOSITE")
  }

  @Test func swiftSaysNoSuchKeyToTheAbortOfAnUploadThatIsGone() throws {
    let abort = AbortMultipartUpload(ObjectAddress("probe", "a b"), uploadID: "Y2Fj")
    let answer = S3Answers.ok(
      "<?xml version='1.0' encoding='UTF-8'?>\n<Error><Code>NoSuchKey</Code><Message>The specified key does not exist."
        + "</Message><RequestId>tx75ab</RequestId><Key>a b/Y2Fj</Key></Error>", status: 404)
    #expect(try abort.output(from: answer) == .wasGone)
  }

  @Test func swiftNamesTheRegionItWants() {
    let answer = S3Answers.ok(
      """
      <?xml version='1.0' encoding='UTF-8'?>
      <Error><Code>AuthorizationHeaderMalformed</Code><Message>The authorization header is malformed; the region \
      'eu-nowhere-9' is wrong; expecting 'us-east-1'</Message><RequestId>txced7</RequestId>\
      <Region>us-east-1</Region></Error>
      """, status: 400)
    let failure = s3Failure { _ = try ListMultipartUploads(BucketAddress("probe")).output(from: answer) }
    #expect(failure?.region == "us-east-1")
    #expect(failure?.code == .refused)
  }

  @Test func whatSwiftRepeatsOfARefusedSignatureIsNotKept() {
    let answer = S3Answers.ok(
      """
      <?xml version='1.0' encoding='UTF-8'?>
      <Error><Code>SignatureDoesNotMatch</Code><Message>The request signature we calculated does not match the \
      signature you provided. Check your key and signing method.</Message><RequestId>txe5d5</RequestId>\
      <AWSAccessKeyId>test:tester</AWSAccessKeyId><StringToSign>AWS4-HMAC-SHA256
      20261120T054453Z
      20261120/us-east-1/s3/aws4_request
      d254b6099bb4914ee37e25cdd4cd343040ae9f0ea35b4e8da65ed639ecd28dfc</StringToSign><SignatureProvided>\
      3dbb6dd291db61e315b8e4c7d61fcffb6dd1612022d3b507b3d7ba06804540dc</SignatureProvided>\
      <StringToSignBytes>41 57 53 34</StringToSignBytes></Error>
      """, ["x-amz-request-id": "txe5d5"], status: 403)
    let failure = Failure(answer: answer, operation: HeadObject.name, place: Place(bucket: "probe"))
    #expect(failure.code == .credentials)
    #expect(failure.message.hasSuffix("Check your key and signing method"))
    for secret in ["tester", "d254b6", "3dbb6d", "AWS4", "41 57"] { #expect(!"\(failure)".contains(secret)) }
  }
}

/// Answers with bytes changed, doubled and removed, by seeds: a failing run names its own.
@Suite(.timeLimit(.minutes(15))) struct S3HostileAnswerTests {
  /// The SplitMix64 generator.
  private struct Dice {
    var state: UInt64

    mutating func roll(_ sides: Int) -> Int {
      state &+= 0x9E37_79B9_7F4A_7C15
      var z = state
      z = (z ^ z >> 30) &* 0xBF58_476D_1CE4_E5B9
      z = (z ^ z >> 27) &* 0x94D0_49BB_1331_11EB
      return Int((z ^ z >> 31) % UInt64(sides))
    }
  }

  private let operations: [any S3Operation] = [
    CreateMultipartUpload(ObjectAddress("b", "k")), ListMultipartUploads(BucketAddress("b")),
    CompleteMultipartUpload(ObjectAddress("b", "k"), uploadID: "u", parts: [.init(number: 1, etag: "e")]),
    ListParts(ObjectAddress("b", "k"), uploadID: "u"), PutObject(ObjectAddress("b", "k"), body: .none),
    HeadObject(ObjectAddress("b", "k")), AbortMultipartUpload(ObjectAddress("b", "k"), uploadID: "u"),
  ]

  @Test(arguments: 0..<400 as Range<UInt64>) func aSpoiledAnswerIsReadOrRefusedAndNeverACrash(_ seed: UInt64) {
    var dice = Dice(state: seed)
    let samples = [
      S3Answers.created, S3Answers.completed, S3Answers.completeFailed, S3Answers.parts, S3Answers.uploads,
    ]
    var body = Array(samples[dice.roll(samples.count)].utf8)
    for _ in 0..<1 + dice.roll(6) {
      let at = dice.roll(body.count)
      switch dice.roll(4) {
      case 0: body[at] = UInt8(dice.roll(256))
      case 1: body.removeSubrange(at..<min(body.count, at + 1 + dice.roll(20)))
      case 2: body.insert(contentsOf: body[at..<min(body.count, at + 1 + dice.roll(200))], at: dice.roll(body.count))
      default: body.insert(contentsOf: Array("<&>\"'%;]]>".utf8).suffix(dice.roll(10)), at: at)
      }
      if body.isEmpty { body = [0x3C] }
    }
    let statuses = [200, 204, 301, 400, 403, 404, 500, 503]
    let answer = Response(status: statuses[dice.roll(statuses.count)], body: body)
    for operation in operations {
      let failure = s3Failure { _ = try operation.output(from: answer) }
      #expect(failure?.code != .local)
      #expect((failure?.message.description.unicodeScalars.allSatisfy { $0.value >= 0x20 } ?? true))
    }
  }
}
