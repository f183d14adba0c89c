import Support
import Testing

@testable import MultipartCore

/// Paging through lists as various stores return them.
@Suite(.timeLimit(.minutes(15))) struct ListWalkTests {
  private func page(
    _ keys: [String], folders: [String] = [], truncated: Bool? = nil, token: String? = nil
  ) -> ListObjects.Page {
    var page = ListObjects.Page(
      objects: keys.map { ListedObject(key: $0, size: 1) }, isTruncated: truncated, nextToken: token)
    page.folders = folders
    return page
  }

  private func walk(_ prefix: String = "", delimiter: String? = nil, versions: Bool = false) -> ListWalk {
    ListWalk(BucketAddress("bucket"), prefix: prefix, asked: prefix, delimiter: delimiter, versions: versions)
  }

  private func objects(_ walk: ListWalk) throws -> ListObjects {
    guard case .objects(let list) = try #require(walk.request) else { throw Failure(.local, "a list of versions") }
    return list
  }

  @Test("it continues by token, and ends when the store says so")
  func tokens() throws {
    var walk = walk()
    #expect(try walk.take(page(["a", "b"], truncated: true, token: "t1")).map(\.key) == ["a", "b"])
    #expect(try objects(walk).token == "t1")
    #expect(try walk.take(page(["c"], truncated: false, token: "t2")).map(\.key) == ["c"])
    #expect(walk.request == nil)
  }

  @Test("folders and objects are listed in one order, each once, even across two pages")
  func folders() throws {
    var walk = walk("p/", delimiter: "/")
    let first = try walk.take(page(["p/b", "p/d"], folders: ["p/a/", "p/c/", "p/e/"], truncated: true, token: "t"))
    #expect(first.map(\.key) == ["p/a/", "p/b", "p/c/", "p/d", "p/e/"])
    #expect(first.first == .folder("p/a/"))
    #expect(try walk.take(page(["p/f"], folders: ["p/e/"])).map(\.key) == ["p/f"])
  }

  @Test("a store without delimiters lists folders too")
  func flat() throws {
    var walk = walk("p/", delimiter: "/")
    #expect(try walk.take(page(["p/a/x", "p/a/y", "p/b", "p/c/z"])).map(\.key) == ["p/a/", "p/b", "p/c/"])
  }

  @Test("without a token the marker is the last key, or after a folder the end of its contents")
  func marker() throws {
    var walk = walk("", delimiter: "/")
    _ = try walk.take(page(["a"], truncated: true))
    #expect(try objects(walk).startAfter == "a")
    // Some stores treat the marker as inclusive.
    #expect(try walk.take(page(["a"], folders: ["b/"], truncated: true)).map(\.key) == ["b/"])
    let after = try #require(objects(walk).startAfter)
    #expect(after.hasPrefix("b/") && "b/\u{10FFFD}zzz".utf8.lexicographicallyPrecedes(after.utf8))
  }

  @Test("a list that repeats itself ends with a failure, whatever the length of the circle", arguments: [1, 2, 5, 40])
  func circle(_ length: Int) throws {
    var walk = walk()
    var pages = 0
    let failure = #expect(throws: Failure.self) {
      while walk.request != nil {
        _ = try walk.take(page(["key-\(pages % length)"], truncated: true, token: "token-\(pages)"))
        pages += 1
        guard pages < 1000 else { return }
      }
    }
    #expect(failure?.message.contains("does not come to an end") == true && pages <= 4 * length + 4, "\(pages)")
  }

  @Test("pages without anything new end with a failure too, and so does a page that names itself")
  func noNews() throws {
    var walk = walk()
    var pages = 0
    #expect(throws: Failure.self) {
      while pages < 5000 {
        _ = try walk.take(page([], truncated: true, token: "token-\(pages)"))
        pages += 1
      }
    }
    #expect(pages >= 900 && pages < 1100, "a store that skips deleted objects may have some such pages: \(pages)")
    var other = self.walk()
    _ = try other.take(page(["a"], truncated: true, token: "t"))
    #expect(throws: Failure.self) { _ = try other.take(page(["b"], truncated: true, token: "t")) }
  }

  @Test("keys outside the prefix are left out, and that is reported")
  func outside() throws {
    var walk = walk("p/")
    #expect(try walk.take(page(["o", "p/a"])).map(\.key) == ["p/a"])
    #expect(walk.notes == [.outside])
  }

  @Test("prefixes and keys are compared by bytes: an accent written as two characters is different")
  func bytes() throws {
    var walk = walk("e\u{301}")
    #expect(try walk.take(page(["\u{e9}x", "e\u{301}x"])).map { Array($0.key.utf8) } == [Array("e\u{301}x".utf8)])
  }

  @Test("versions continue by key and version, and two versions of one key are two entries")
  func versions() throws {
    var walk = walk(versions: true)
    var first = page([], truncated: true)
    for id in ["2", "1"] {
      var object = ListedObject(key: "a")
      object.version = .init(id: id, isLatest: id == "2", isDeleteMarker: false)
      first.objects.append(object)
    }
    first.nextVersion = .init(key: "a", versionID: "1")
    #expect(try walk.take(first).count == 2)
    guard case .versions(let list) = try #require(walk.request) else {
      Issue.record("not a list of versions")
      return
    }
    #expect(list.marker == .init(key: "a", versionID: "1"))
  }
}
