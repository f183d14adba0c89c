import MultipartBasics
import Support
import Testing

@testable import MultipartCore

@Suite(.timeLimit(.minutes(15))) struct S3RequestTests {
  private let common = CommonHeaders(expectedBucketOwner: "111122223333", requestPayer: true)

  private func everyOperation(_ address: ObjectAddress = ObjectAddress("b", "k"), uploadID: String = "u")
    -> [any S3Operation]
  {
    [
      CreateMultipartUpload(address),
      UploadPart(address, uploadID: uploadID, partNumber: 1, body: .none),
      CompleteMultipartUpload(address, uploadID: uploadID, parts: [.init(number: 1, etag: "e")]),
      ListParts(address, uploadID: uploadID),
      PutObject(address, body: .none),
      HeadObject(address),
      GetObject(address),
      AbortMultipartUpload(address, uploadID: uploadID),
      ListMultipartUploads(BucketAddress(address.bucket, address.common)),
    ]
  }

  @Test func everyOperationHasItsMethodAndName() throws {
    let seen = try everyOperation().map { operation in
      let request = try operation.request()
      #expect(request.operation == type(of: operation).name)
      #expect(request.place == operation.place)
      return "\(request.operation) \(request.method.rawValue)"
    }
    #expect(
      seen == [
        "CreateMultipartUpload POST", "UploadPart PUT", "CompleteMultipartUpload POST", "ListParts GET",
        "PutObject PUT", "HeadObject HEAD", "GetObject GET", "AbortMultipartUpload DELETE",
        "ListMultipartUploads GET",
      ])
  }

  @Test func everyOperationCarriesTheBucketsOwnerAndThePayer() throws {
    for operation in everyOperation(ObjectAddress("b", "k", common)) {
      let headers = try operation.request().headers
      #expect(headers["x-amz-expected-bucket-owner"] == "111122223333")
      #expect(headers["x-amz-request-payer"] == "requester")
    }
  }

  @Test func whatWritesOrReadsBytesCarriesTheCustomerKey() throws {
    let key = try CustomerKey([UInt8](repeating: 7, count: 32))
    for operation in everyOperation(ObjectAddress("b", "k", customerKey: key)).prefix(7) {
      #expect(try operation.request().headers["x-amz-server-side-encryption-customer-algorithm"] == "AES256")
    }
  }

  @Test func anEmptyBucketKeyOrUploadIDIsRefusedBeforeItIsSent() {
    for operation in everyOperation(ObjectAddress("", "k")) {
      #expect(s3Failure { _ = try operation.request() }?.code == .usage)
    }
    for operation in everyOperation(ObjectAddress("b", "")).prefix(8) {
      #expect(s3Failure { _ = try operation.request() }?.code == .usage)
    }
    let withID = everyOperation(uploadID: "")
    for operation in [withID[1], withID[2], withID[3], withID[7]] {
      #expect(s3Failure { _ = try operation.request() }?.code == .usage)
    }
  }

  @Test func createAsksForTheChecksumItWants() throws {
    let request = try CreateMultipartUpload(ObjectAddress("b", "k"), checksum: .crc64nvme).request()
    #expect(request.query == [QueryItem("uploads")])
    #expect(request.headers["x-amz-checksum-algorithm"] == "CRC64NVME")
    #expect(request.headers["x-amz-checksum-type"] == "FULL_OBJECT")
    #expect(request.carriesChecksum)
  }

  @Test func aPartNamesItsNumberItsUploadAndItsChecksum() throws {
    let request = try UploadPart(
      ObjectAddress("b", "k"), uploadID: "a+b/c=", partNumber: 10_000, body: .bytes([1, 2, 3]),
      checksum: NamedValue("x-amz-checksum-crc32c", "yZRlqg=="), payloadSHA256: "ab"
    ).request()
    #expect(request.query == [QueryItem("partNumber", "10000"), QueryItem("uploadId", "a+b/c=")])
    #expect(request.headers["x-amz-checksum-crc32c"] == "yZRlqg==")
    #expect(request.body.length == 3)
    #expect(request.payloadSHA256 == "ab")
    #expect(request.place.part == 10_000)
  }

  @Test(arguments: [Int.min, -1, 0, 10_001, Int.max]) func aPartNumberThatCannotBeIsRefused(_ number: Int) {
    let part = UploadPart(ObjectAddress("b", "k"), uploadID: "u", partNumber: number, body: .none)
    #expect(s3Failure { _ = try part.request() }?.code == .usage)
    let complete = CompleteMultipartUpload(
      ObjectAddress("b", "k"), uploadID: "u", parts: [.init(number: number, etag: "e")])
    #expect(s3Failure { _ = try complete.request() }?.code == .usage)
  }

  private func bytes(_ body: RequestBody) -> [UInt8] {
    if case .bytes(let bytes) = body { bytes } else { [] }
  }

  @Test func completeListsThePartsInOrderWithTheirChecksums() throws {
    let request = try CompleteMultipartUpload(
      ObjectAddress("b", "k"), uploadID: "u",
      parts: [
        .init(number: 2, etag: "\"b&<>\"", checksum: NamedValue("x-amz-checksum-crc32c", "AA+/==")),
        .init(number: 1, etag: "a"),
      ],
      objectChecksum: NamedValue("x-amz-checksum-crc64nvme", "rosUhgoHmVg="), checksumType: .fullObject,
      objectSize: 48 << 40, conditions: WriteConditions(ifNoneMatch: true)
    ).request()
    #expect(
      String(decoding: bytes(request.body), as: UTF8.self) == """
        <?xml version="1.0" encoding="UTF-8"?>
        <CompleteMultipartUpload xmlns="http://s3.amazonaws.com/doc/2006-03-01/">\
        <Part><PartNumber>1</PartNumber><ETag>a</ETag></Part>\
        <Part><PartNumber>2</PartNumber><ETag>"b&amp;&lt;&gt;"</ETag><ChecksumCRC32C>AA+/==</ChecksumCRC32C></Part>\
        </CompleteMultipartUpload>
        """)
    #expect(request.query == [QueryItem("uploadId", "u")])
    #expect(request.headers["x-amz-checksum-crc64nvme"] == "rosUhgoHmVg=")
    #expect(request.headers["x-amz-checksum-type"] == "FULL_OBJECT")
    #expect(request.headers["x-amz-mp-object-size"] == "52776558133248")
    #expect(request.headers["If-None-Match"] == "*")
    #expect(request.answerMayTakeLong)
  }

  @Test func completeRefusesAnEmptyListAndAPartTwice() {
    for parts in [[], [1, 1], [3, 1, 3]] {
      let complete = CompleteMultipartUpload(
        ObjectAddress("b", "k"), uploadID: "u", parts: parts.map { .init(number: $0, etag: "e") })
      #expect(s3Failure { _ = try complete.request() }?.code == .usage)
    }
  }

  @Test func theListOfTenThousandPartsIsWrittenInAMoment() throws {
    let parts = (1...10_000).reversed().map { CompleteMultipartUpload.Part(number: $0, etag: "\"\($0)\"") }
    let complete = CompleteMultipartUpload(ObjectAddress("b", "k"), uploadID: "u", parts: parts)
    let began = threadTime()
    let list = bytes(try complete.request().body)
    #expect(threadTime() - began < .seconds(5))
    #expect(try XMLReader.read(list).root.map { Array($0.children).count } == 10_000)
  }

  @Test(arguments: [("abc", "\"abc\""), ("\"abc\"", "\"abc\""), ("*", "*"), ("W/\"a\"", "W/\"a\"")])
  func anETagInAConditionHasItsQuotes(_ typed: String, _ sent: String) throws {
    let request = try PutObject(ObjectAddress("b", "k"), body: .none, conditions: .init(ifMatch: typed)).request()
    #expect(request.headers["If-Match"] == sent)
  }

  @Test func conditionsThatContradictEachOtherAreRefused() {
    let put = PutObject(ObjectAddress("b", "k"), body: .none, conditions: .init(ifNoneMatch: true, ifMatch: "e"))
    #expect(s3Failure { _ = try put.request() }?.code == .usage)
  }

  @Test func listsNameTheirMarkers() throws {
    #expect(
      try ListParts(ObjectAddress("b", "k"), uploadID: "u", marker: 7, maximumParts: 2).request().query == [
        QueryItem("uploadId", "u"), QueryItem("max-parts", "2"), QueryItem("part-number-marker", "7"),
      ])
    #expect(
      try ListMultipartUploads(BucketAddress("b"), prefix: "a/ü", marker: .init(key: "x y", uploadID: "i")).request()
        .query
        == [
          QueryItem("uploads"), QueryItem("encoding-type", "url"), QueryItem("prefix", "a/ü"),
          QueryItem("key-marker", "x y"), QueryItem("upload-id-marker", "i"),
        ])
  }

  @Test func headAndGetAskForChecksumsAndRanges() throws {
    let head = try HeadObject(ObjectAddress("b", "k")).request()
    #expect(head.headers["x-amz-checksum-mode"] == "ENABLED")
    let get = try GetObject(ObjectAddress("b", "k"), range: 0...9, ifMatch: "e", wantsChecksums: false).request()
    #expect(get.headers["Range"] == "bytes=0-9")
    #expect(get.headers["If-Match"] == "\"e\"")
    #expect(get.headers["x-amz-checksum-mode"] == nil)
    #expect(!get.carriesChecksum && !head.carriesChecksum)
    #expect(s3Failure { _ = try GetObject(ObjectAddress("b", "k"), range: -1...9).request() }?.code == .usage)
  }

  @Test("Until the first answer of a run it is known how long a connection may still take")
  func firstContact() async throws {
    let (clock, progress) = (TestWorld(), TransferProgress(total: nil, parts: nil))
    let (seen, asking) = (Locked<[UploadActivity]>([]), Locked<S3Client?>(nil))
    let store = ScriptedStore { (_, number) throws(Failure) in
      clock.advance(.seconds(3))
      if let client = asking.withLock({ $0 }) { seen.withLock { $0.append(client.activity(of: progress)) } }
      if number == 1 { throw Failure(.network, "no connection") }
      return Response(status: 200, headers: ["Content-Length": "1", "ETag": "\"e\""])
    }
    let client = try store.client(clock.world)
    asking.withLock { $0 = client }
    // The client holds its store, which holds this.
    defer { asking.withLock { $0 = nil } }
    let head = HeadObject(ObjectAddress("bucket", "k"))
    _ = try? await client.perform(head)
    #expect(client.activity(of: progress) == .starting)
    for _ in 1...2 { _ = try await client.perform(head) }
    let states = seen.withLock { $0 }
    #expect(states == [.connecting(until: .seconds(1010)), .connecting(until: .seconds(1013)), .starting])
  }
}
