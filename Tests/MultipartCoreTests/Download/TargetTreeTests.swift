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

  @Test("An existing file is a target as long as nothing of this run has become it under another name")
  func targets() throws {
    let directory = try TemporaryDirectory()
    try directory.write("1", to: "d/old")
    let tree = TargetTree(FilePath(directory.path("d")), makes: true)
    #expect(tree.open())
    let old = try #require(try tree.target(at: Array("old".utf8))?.found)
    tree.published(old)
    try directory.write("12", to: "d/old")
    #expect(try tree.target(at: Array("old".utf8))?.found?.size == 2)
  }
}
