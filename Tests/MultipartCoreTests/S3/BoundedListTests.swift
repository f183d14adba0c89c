import MultipartBasics
import Support
import Testing

@testable import MultipartCore

/// Lists that a store, or other clients, make longer than is useful.
@Suite struct BoundedListTests {
  private let clock = TestWorld()

  private static func answer(_ text: String) -> Response {
    Response(status: 200, headers: ["Date": "Tue, 14 Nov 2023 22:13:20 GMT"], body: Array(text.utf8))
  }

  @Test("two pages of an endless list of uploads are read")
  func endlessUploads() async throws {
    let store = ScriptedStore { (_, number) throws(Failure) in
      let uploads = (0..<1000).map { "<Upload><Key>k</Key><UploadId>\(number)-\($0)</UploadId></Upload>" }.joined()
      return Self.answer(
        "<ListMultipartUploadsResult><IsTruncated>true</IsTruncated><NextKeyMarker>k</NextKeyMarker>"
          + "<NextUploadIdMarker>\(number)-999</NextUploadIdMarker>\(uploads)</ListMultipartUploadsResult>")
    }
    let list = ListMultipartUploads(BucketAddress("bucket"), prefix: "k")
    let found = try await store.client(clock.world).uploads(ofKey: "k", list)
    #expect(store.requests.count == 2)
    #expect(found.uploads.count == 2000)
    #expect(!found.isComplete)
    #expect(found.date == Timestamp(seconds: 1_700_000_000))
  }

  @Test("a page with more than ten times S3's number of uploads is cut")
  func longPage() throws {
    let uploads = (0..<12_000).map { "<Upload><Key>k</Key><UploadId>\($0)</UploadId></Upload>" }.joined()
    let page = try ListMultipartUploads(BucketAddress("bucket")).output(
      from: Self.answer("<ListMultipartUploadsResult>\(uploads)</ListMultipartUploadsResult>"))
    #expect(page.uploads.count == 10_000 && page.isCut)
    var pages = ListMultipartUploads.Pages()
    #expect(pages.add(page) == nil && !pages.isComplete)
  }

  @Test("a list with an upload that has no id, and so cannot be aborted, is none")
  func nameless() {
    let list = "<ListMultipartUploadsResult><Upload><Key>k</Key></Upload></ListMultipartUploadsResult>"
    #expect(throws: Failure.self) {
      try ListMultipartUploads(BucketAddress("bucket")).output(from: Self.answer(list))
    }
  }

  @Test("lists of other clients' parts that never arrive are waited for ten seconds in total, and a message says so")
  func endlessWait() async throws {
    let slept = Locked<[Duration]>([])
    let world = World(
      now: clock.world.now, uptime: clock.world.uptime, sleep: { time in slept.withLock { $0.append(time) } },
      random: { 0.5 }, environment: [:])
    let uploads = (1...9).map { "<Upload><Key>k</Key><UploadId>\($0)</UploadId></Upload>" }.joined()
    let store = ScriptedStore { (request, number) throws(Failure) in
      if number == 1 { return Self.answer("<ListMultipartUploadsResult>\(uploads)</ListMultipartUploadsResult>") }
      // It sleeps until it is cancelled.
      try? await Task.sleep(for: .seconds(1000))
      throw Failure(.interrupted, "interrupted")
    }
    let directory = try TemporaryDirectory()
    let file = try SourceFile(FilePath(try directory.write([1, 2, 3], to: "file")))
    let heard = Locked<[String]>([])
    let uploader = try Uploader(
      job: UploadJob(file: file, to: ObjectAddress("bucket", "k")), client: try store.client(clock.world), world: world,
      tell: { news in if case .warning(let text) = news { heard.withLock { $0.append(text.description) } } })
    guard case .found([]) = await uploader.findForeign() else {
      Issue.record("something was found")
      return
    }
    #expect(slept.withLock { $0 } == [.seconds(10)])
    #expect(heard.withLock { $0 }.contains { $0.hasPrefix("examined none of 9 unfinished uploads") })
  }

  @Test("of a list with one part per page a thousand pages are read, and it counts as incomplete")
  func endlessParts() async throws {
    let store = ScriptedStore { (_, number) throws(Failure) in
      Self.answer(
        "<ListPartsResult><UploadId>id</UploadId><IsTruncated>true</IsTruncated>"
          + "<NextPartNumberMarker>\(number)</NextPartNumberMarker>"
          + "<Part><PartNumber>\(number)</PartNumber><Size>5</Size><ETag>e</ETag></Part></ListPartsResult>")
    }
    let found = try await store.client(clock.world).allParts(ListParts(ObjectAddress("bucket", "k"), uploadID: "id"))
    #expect(store.requests.count == 1000)
    #expect(!found.isComplete)
  }
}
