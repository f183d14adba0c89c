@testable import MultipartCore
import Testing

@Suite(.timeLimit(.minutes(15))) struct S3PartPagesTests {
  private func page(_ numbers: some Sequence<Int>, _ truncated: Bool?, next: Int? = nil) -> ListParts.Page {
    ListParts.Page(
      parts: numbers.map { .init(number: $0, size: Int64($0), etag: "") }, isTruncated: truncated, nextMarker: next)
  }

  /// Plays a store that returns the page after a marker.
  private func walk(_ store: (Int) -> ListParts.Page) -> (pages: ListParts.Pages, requests: [Int]) {
    var pages = ListParts.Pages()
    var requests: [Int] = []
    var next: Int? = 0
    while let marker = next, requests.count < 20_000 {
      requests.append(marker)
      next = pages.add(store(marker))
    }
    return (pages, requests)
  }

  @Test func followsTheMarkersToTheEnd() {
    let (pages, requests) = walk { marker in
      let last = min(marker + 1000, 2500)
      return page(marker + 1...last, last < 2500, next: last)
    }
    #expect(pages.parts.map(\.number) == Array(1...2500))
    #expect(requests == [0, 1000, 2000])
    #expect(pages.isComplete)
  }

  @Test func aWholeUploadOfTenThousandPartsIsComplete() {
    // Some stores call even the last page truncated.
    for lastIsTruncated in [false, true] {
      let (pages, requests) = walk { marker in
        page(marker + 1...marker + 1000, marker + 1000 < 10_000 || lastIsTruncated, next: marker + 1000)
      }
      #expect(pages.parts.count == 10_000)
      #expect(requests.count == 10)
      #expect(pages.isComplete)
    }
  }

  @Test func aMissingMarkerIsTheHighestNumber() {
    let (pages, requests) = walk { marker in page(marker + 1...marker + 10, marker < 20) }
    #expect(requests == [0, 10, 20])
    #expect(pages.parts.count == 30)
    #expect(pages.isComplete)
  }

  @Test func anInclusiveMarkerBringsNoNumberTwice() {
    let (pages, requests) = walk { marker in
      let first = max(1, marker)
      let last = min(first + 9, 25)
      return page(first...last, last < 25, next: last)
    }
    #expect(pages.parts.map(\.number) == Array(1...25))
    #expect(requests == [0, 10, 19])
    #expect(pages.isComplete)
  }

  @Test func aStoreThatIgnoresTheMarkerIsAskedOnceMoreAndNoLonger() {
    let (pages, requests) = walk { _ in page(1...10, true, next: 10) }
    #expect(pages.parts.count == 10)
    #expect(requests == [0, 10])
    #expect(!pages.isComplete)
  }

  @Test func aMarkerThatDoesNotGrowFallsBackToTheHighestNumber() {
    let (pages, requests) = walk { marker in page(marker + 1...marker + 5, marker < 10, next: 0) }
    #expect(requests == [0, 5, 10])
    #expect(pages.parts.count == 15)
  }

  @Test func aPageWithoutPartsIsTheEnd() {
    let (pages, requests) = walk { marker in page([], true, next: marker + 1) }
    #expect(requests == [0])
    #expect(!pages.isComplete)
  }

  @Test(arguments: [nil, 0, 3] as [Int?]) func withoutIsTruncatedAShortPageIsTheLast(_ next: Int?) {
    let (pages, requests) = walk { marker in marker == 0 ? page(1...3, nil, next: next) : page([], nil) }
    #expect(requests.count <= 2)
    #expect(pages.parts.count == 3)
    #expect(pages.isComplete)
  }

  @Test func withoutIsTruncatedAFullPageIsFollowed() {
    let (pages, requests) = walk { marker in page(marker + 1...min(marker + 1000, 1500), nil) }
    #expect(requests == [0, 1000])
    #expect(pages.parts.count == 1500)
  }

  @Test func unsortedPartsComeOutInOrder() {
    var pages = ListParts.Pages()
    #expect(pages.add(page([3, 1, 2, 3], false)) == nil)
    #expect(pages.parts.map(\.number) == [1, 2, 3])
  }

  @Test func anEndlessStoreIsStopped() {
    let (pages, requests) = walk { marker in page([marker + 1], true, next: marker + 1) }
    #expect(requests.count == 1000)
    #expect(pages.parts.count == 1000)
    #expect(!pages.isComplete)
  }

  @Test func markersBeyondTheLastPartAreTheEnd() {
    let (pages, requests) = walk { _ in page([10_000], true, next: Int.max) }
    #expect(requests == [0])
    #expect(pages.isComplete)
    let (other, _) = walk { _ in page([5], true, next: Int.min) }
    #expect(other.parts.map(\.number) == [5])
  }
}

@Suite(.timeLimit(.minutes(15))) struct S3UploadPagesTests {
  typealias Marker = ListMultipartUploads.Marker

  private func page(_ keys: [String], _ truncated: Bool?, key: String? = nil, id: String? = nil)
    -> ListMultipartUploads.Page
  {
    ListMultipartUploads.Page(
      uploads: keys.map { .init(key: $0, uploadID: "id-\($0)") }, isTruncated: truncated, nextKeyMarker: key,
      nextUploadIDMarker: id)
  }

  private func walk(limit: Int = 100_000, _ store: (Marker?) -> ListMultipartUploads.Page)
    -> (pages: ListMultipartUploads.Pages, requests: [Marker?])
  {
    var pages = ListMultipartUploads.Pages(limit: limit)
    var requests: [Marker?] = []
    var marker: Marker?
    repeat {
      requests.append(marker)
      marker = pages.add(store(marker))
    } while marker != nil && requests.count < 20_000
    return (pages, requests)
  }

  @Test func followsBothMarkers() {
    let (pages, requests) = walk { marker in
      marker == nil ? page(["a", "b"], true, key: "b", id: "id-b") : page(["c"], false)
    }
    #expect(pages.uploads.map(\.key) == ["a", "b", "c"])
    #expect(requests == [nil, Marker(key: "b", uploadID: "id-b")])
    #expect(pages.isComplete)
  }

  @Test(arguments: [nil, ""] as [String?]) func emptyOrMissingMarkersAreTheLastUpload(_ text: String?) {
    let (pages, requests) = walk { marker in
      marker == nil ? page(["b", "a"], true, key: text, id: text) : page(["c"], false, key: text, id: text)
    }
    #expect(requests == [nil, Marker(key: "a", uploadID: "id-a")])
    #expect(pages.uploads.map(\.key) == ["b", "a", "c"])
  }

  @Test func aStoreThatRepeatsItsMarkerIsStopped() {
    let (pages, requests) = walk { _ in page(["a"], true, key: "a", id: "id-a") }
    #expect(pages.uploads.count == 1)
    #expect(requests.count == 2)
    #expect(!pages.isComplete)
  }

  @Test func aStoreWithCyclicMarkersIsStopped() {
    var round = 0
    let (pages, requests) = walk { _ in
      round += 1
      return page([["a", "b", "c"][round % 3]], true, key: ["x", "y", "z"][round % 3])
    }
    #expect(pages.uploads.count == 3)
    #expect(requests.count <= 5)
    #expect(!pages.isComplete)
  }

  @Test func emptyPagesWithNewMarkersAreStopped() {
    var round = 0
    let (_, requests) = walk { _ in
      round += 1
      return page([], true, key: "k\(round)")
    }
    #expect(requests.count == 2)
  }

  @Test func aListThatNeverEndsIsBounded() {
    var round = 0
    let (pages, requests) = walk(limit: 50) { _ in
      round += 1
      return page(["k\(round)"], true, key: "k\(round)")
    }
    #expect(pages.uploads.count == 50)
    #expect(requests.count == 50)
    #expect(!pages.isComplete)
  }

  @Test func oneKeyCanHaveManyUploadsAndKeysThatLookAlikeAreTwo() {
    var pages = ListMultipartUploads.Pages()
    let next = pages.add(
      ListMultipartUploads.Page(
        uploads: [
          .init(key: "é", uploadID: "1"), .init(key: "é", uploadID: "2"), .init(key: "e\u{301}", uploadID: "1"),
          .init(key: "é", uploadID: "1"),
        ], isTruncated: false))
    #expect(next == nil)
    #expect(pages.uploads.count == 3)
  }

  @Test func withoutIsTruncatedAShortPageWithoutAMarkerIsTheLast() {
    let (pages, requests) = walk { _ in page(["a"], nil) }
    #expect(requests.count == 1)
    #expect(pages.isComplete)
  }
}
