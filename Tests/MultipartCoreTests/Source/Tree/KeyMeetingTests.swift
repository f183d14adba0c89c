import Foundation
import Support
import Testing

@testable import MultipartCore

@Suite(.timeLimit(.minutes(15))) struct KeyMeetingTests {
  private func meeting(
    _ files: [String], _ trees: [Tree], _ naming: KeyName = KeyName(prefix: "p/")
  ) throws -> KeyMeeting? {
    KeyMeeting.find(
      files: files.map { (Array($0.split(separator: "/").last.map(String.init)?.utf8 ?? "".utf8), FilePath($0)) },
      trees: try trees.map { try TreeWalk(root: $0.root, depth: .names) }, naming)
  }

  @Test("Two trees that share a name clash, others do not, whatever order they are given in")
  func trees() throws {
    let one = try Tree(["a/x", "b", "z/z/z"])
    let two = try Tree(["a.b", "a/y", "c/empty/", "z/z.z"])
    let three = try Tree(["a/w", "z/z/z"])
    #expect(try meeting([], [one, two]) == nil)
    #expect(try meeting([], [two, three]) == nil)
    for trees in [[one, two, three], [three, two, one], [two, three, one]] {
      let found = try #require(try meeting([], trees))
      #expect(found.key == "p/z/z/z")
      #expect(Set([found.first.text, found.second.text]) == [one.path("z/z/z"), three.path("z/z/z")])
      #expect(found.failure.code == .usage && found.failure.place.key == "p/z/z/z")
    }
  }

  @Test("Files clash with each other and with those of trees")
  func files() throws {
    let tree = try Tree(["b", "sub/c"])
    #expect(try meeting(["/x/a", "/x/c", "/y/d"], [tree]) == nil)
    #expect(try meeting(["/x/a", "/y/a"], [])?.key == "p/a")
    #expect(try meeting(["/x/a", "/x/a"], [])?.key == "p/a")
    #expect(try meeting(["/x/a", "/y/b"], [tree])?.key == "p/b")
    #expect(try meeting([], []) == nil)
  }

  @Test("Names that become equal only by escaping clash too")
  func escaped() throws {
    let one = try Tree()
    let two = try Tree(["a%FF"])
    try one.make([UInt8(ascii: "a"), 0xFF])
    #expect(try meeting([], [one, two])?.key == "p/a%FF")
    #expect(try meeting([], [one, two], KeyName(prefix: "p/", .refuse)) == nil)
  }

  @Test("Random trees clash exactly where their names do", arguments: 1...30)
  func random(seed: Int) throws {
    var random = SeededRandom(seed: UInt64(seed))
    var trees: [Tree] = []
    var seen: Set<String> = []
    var isShared = false
    for _ in 0..<4 {
      var names: Set<String> = []
      for _ in 0..<6 {
        names.insert(
          "\(Int.random(in: 0..<9, using: &random))/\(Int.random(in: 0..<9, using: &random)).\(Int.random(in: 0..<3, using: &random))"
        )
      }
      isShared = isShared || !seen.isDisjoint(with: names)
      seen.formUnion(names)
      trees.append(try Tree(Array(names)))
    }
    #expect(try (meeting([], trees) != nil) == isShared)
  }

  @Test("Entries of a list can clash, and it is read once if none do")
  func list() throws {
    var opened = 0
    func find(_ keys: [String]) throws(Failure) -> KeyMeeting? {
      try KeyMeeting.find(
        filesMayRepeat: false,
        inList: {
          opened += 1
          var rest = keys.enumerated().makeIterator()
          return { rest.next().map { ($0.element, FilePath("line \($0.offset + 1)")) } }
        })
    }
    #expect(try find((0..<10_000).map { "k\($0)" }) == nil && opened == 1)
    #expect(try find([]) == nil)
    let found = try #require(try find((0..<10_000).map { "k\($0)" } + ["k77"]))
    #expect(
      try KeyMeeting.find(filesMayRepeat: true) {
        var rest = ["a", "a", "k", "k"].enumerated().makeIterator()
        return { rest.next().map { ($0.element, FilePath($0.element == "a" ? "a" : "line \($0.offset)")) } }
      }?.key == "k")
    #expect(found.key == "k77" && found.first.text == "line 78" && found.second.text == "line 10001")
  }
}
