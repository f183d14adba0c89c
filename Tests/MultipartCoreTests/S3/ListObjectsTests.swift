@testable import MultipartCore
import Testing

@Suite(.timeLimit(.minutes(15))) struct ListObjectsTests {
  private func page(_ body: String) throws -> ListObjects.Page {
    try ListObjects(BucketAddress("bucket")).output(from: S3Answers.ok(body))
  }

  @Test("a page's objects, and how the list continues")
  func page() throws {
    let page = try page(
      """
      <ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Name>bucket</Name><KeyCount>2</KeyCount>
      <IsTruncated>true</IsTruncated><EncodingType>url</EncodingType><NextContinuationToken>a+b/%20=</NextContinuationToken>
      <Contents><Key>a+b%2Bc%0A</Key><LastModified>2010-11-10T20:48:33.000Z</LastModified>
        <ETag>&quot;5289df737df57326fcdd22597afb1fac&quot;</ETag><Size>3</Size></Contents>
      <Contents><Key>d</Key><Size>-1</Size></Contents></ListBucketResult>
      """)
    #expect(
      page.objects == [
        ListedObject(
          key: "a b+c\n", size: 3, etag: "\"5289df737df57326fcdd22597afb1fac\"",
          lastModified: Timestamp(seconds: 1_289_422_113)), ListedObject(key: "d"),
      ])
    #expect(page.isTruncated == true)
    // A token is opaque, even if it looks encoded.
    #expect(page.nextToken == "a+b/%20=")
  }

  @Test(
    "a list that hides objects is none: an entry or a folder without a name, or an error among the entries",
    arguments: [
      "<Contents><Size>1</Size></Contents>", "<Contents><Key/><Size>1</Size></Contents>",
      "<Contents><Key>a<b/></Key></Contents>", "<CommonPrefixes><Prefix/></CommonPrefixes>",
      "<Error><Code>InternalError</Code></Error>",
    ])
  func hiding(_ element: String) {
    #expect(throws: Failure.self) {
      try page(
        "<ListBucketResult><MaxKeys>1000</MaxKeys><Contents><Key>a</Key></Contents>\(element)</ListBucketResult>")
    }
  }

  @Test("a page of more entries and folders than are read is cut; one of as many is not, whatever else it has")
  func long() throws {
    let folders = { (count: Int) in
      (0..<count).map { "<CommonPrefixes><Prefix>\($0)/</Prefix></CommonPrefixes>" }.joined()
    }
    let one = "<Contents><Key>k</Key><ETag>\"\"</ETag></Contents>"
    let whole = try page("<ListBucketResult>\(folders(9999))\(one)<MaxKeys>9</MaxKeys></ListBucketResult>")
    #expect(!whole.isCut && whole.folders.count == 9999 && whole.objects == [ListedObject(key: "k")])
    let cut = try page("<ListBucketResult>\(folders(10_000))\(one)</ListBucketResult>")
    #expect(cut.isCut)
    #expect(!(try page("<ListBucketResult>\(one)<CommonPrefixes/></ListBucketResult>").isCut))
  }

  @Test("keys that no encoder would write are not decoded")
  func notEncoded() throws {
    let page = try page(
      "<ListBucketResult><EncodingType>url</EncodingType><Contents><Key>a%20b</Key></Contents>"
        + "<Contents><Key>a%20 c</Key></Contents></ListBucketResult>")
    #expect(page.objects.map(\.key) == ["a%20b", "a%20 c"])
    #expect(page.isTruncated == nil)
  }

  @Test("the query has what was requested, and empty texts are left out")
  func request() throws {
    let list = ListObjects(
      BucketAddress("bucket", CommonHeaders(expectedBucketOwner: "1", requestPayer: true)), prefix: "p/",
      startAfter: "p/a b", token: "t+/=")
    let request = try list.request()
    #expect(
      request.query == [
        QueryItem("list-type", "2"), QueryItem("encoding-type", "url"), QueryItem("prefix", "p/"),
        QueryItem("start-after", "p/a b"), QueryItem("continuation-token", "t+/="),
      ])
    #expect(request.headers["x-amz-request-payer"] == "requester")
    let plain = try ListObjects(BucketAddress("bucket"), prefix: "", startAfter: "").request()
    #expect(plain.query == [QueryItem("list-type", "2"), QueryItem("encoding-type", "url")])
  }

  @Test("answers that are not lists are refused, and a long page is cut")
  func nonsense() throws {
    for body in ["", "<html></html>", "<ListBucketResult>", S3Answers.error("AccessDenied")] {
      #expect(s3Failure { _ = try page(body) } != nil, "\(body)")
    }
    let many = (0..<12_000).map { "<Contents><Key>\($0)</Key></Contents>" }.joined()
    #expect(try page("<ListBucketResult>\(many)</ListBucketResult>").objects.count == 10_000)
  }

  @Test("a damaged answer gives a page or a failure, and nothing else")
  func fuzzed() throws {
    let body = Array(
      """
      <ListBucketResult><IsTruncated>true</IsTruncated><EncodingType>url</EncodingType>
      <NextContinuationToken>t</NextContinuationToken><Contents><Key>a%20b</Key><ETag>"e"</ETag><Size>12</Size>
      <LastModified>2010-11-10T20:48:33.000Z</LastModified></Contents></ListBucketResult>
      """.utf8)
    var dice = SplitMix(seed: 7)
    var pages = 0
    for _ in 0..<4000 {
      var changed = body
      for _ in 0..<1 + dice.next() % 3 {
        let place = Int(dice.next() % UInt64(changed.count))
        switch dice.next() % 3 {
        case 0: changed[place] = UInt8(truncatingIfNeeded: dice.next())
        case 1: changed.remove(at: place)
        default: changed.insert(changed[Int(dice.next() % UInt64(changed.count))], at: place)
        }
      }
      do throws(Failure) {
        let page = try ListObjects(BucketAddress("b")).output(from: Response(status: 200, body: changed))
        #expect(page.objects.allSatisfy { $0.size ?? 0 >= 0 })
        pages += 1
      } catch {
        #expect(error.code == .server)
      }
    }
    #expect(pages > 100)
  }
}

private struct SplitMix {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }
}
