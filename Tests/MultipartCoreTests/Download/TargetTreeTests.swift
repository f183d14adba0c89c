import Foundation
import MultipartBasics
import Support
import Testing

@testable import MultipartCore

/// The folder of a download of many objects.
@Suite struct TargetTreeTests {
  @Test("A name counts as another object's file only if the folder lists it in exactly these bytes")
  func names() throws {
    let directory = try TemporaryDirectory()
    for name in ["Readme.txt", "e\u{301}", ".hidden"] { try directory.write("1", to: name) }
    let path = FilePath(directory.path(""))
    let folder = try Folder.target(path, shownAs: path)
    for (name, isThere) in [
      ("Readme.txt", true), ("readme.TXT", false), ("Readme.tx", false), ("e\u{301}", true), ("\u{e9}", false),
      (".hidden", true),
    ] {
      #expect(TargetTree.has(Array(name.utf8), in: folder) == isThere, "\(name)")
    }
  }

  @Test("A file that this run has written is no target under a name that its folder does not list")
  func ofThisRun() throws {
    let directory = try TemporaryDirectory()
    try directory.write("1", to: "d/file")
    let name = Array("file".utf8)
    func tree(lists: Bool, published changed: Duration?) throws -> TargetTree {
      let tree = TargetTree(FilePath(directory.path("d")), makes: true) { _, _ in lists }
      #expect(tree.open())
      guard let changed, var file = try tree.target(at: name)?.found else { return tree }
      file.changedSeconds += changed.components.seconds
      tree.published(file)
      return tree
    }
    // The file is as old as the first of this run, or older by a minute, or nothing was published yet.
    for (changed, isTarget) in [(Duration.zero, false), (.seconds(60), true), (nil, true)] {
      let folded = try tree(lists: false, published: changed)
      if isTarget {
        #expect(try folded.target(at: name)?.found != nil)
      } else {
        #expect { try folded.target(at: name) } throws: { ($0 as? Failure)?.code == .precondition }
      }
      #expect(try tree(lists: true, published: changed).target(at: name)?.found != nil)
    }
  }
}
