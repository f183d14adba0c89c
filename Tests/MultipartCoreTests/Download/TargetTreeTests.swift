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

  @Test("A file or folder of an earlier run is no target under a name that differs from its own in capitals")
  func otherCapitals() throws {
    let directory = try TemporaryDirectory()
    try directory.write("1", to: "d/Readme.txt")
    // As if this name led to the same file.
    try directory.write("1", to: "d/readme.txt")
    try directory.write("1", to: "d/\u{e9}")
    try directory.write("1", to: "d/1")
    let listed = Locked<[String]>([])
    let tree = TargetTree(FilePath(directory.path("d")), makes: true) { name, _ in
      listed.withLock { $0.append(String(decoding: name, as: UTF8.self)) }
      return name.elementsEqual("Readme.txt".utf8)
    }
    #expect(tree.open())
    #expect(try tree.target(at: Array("Readme.txt".utf8))?.found != nil)
    for name in ["readme.txt", "\u{e9}"] {
      #expect { try tree.target(at: Array(name.utf8)) } throws: { error in
        guard let failure = error as? Failure else { return false }
        return failure.message.description == FolderMeeting.otherForm.message.description
          && failure.place.file == directory.path("d/" + name)
      }
    }
    // Only names that may lead to something else are looked for in the folder.
    #expect(try tree.target(at: Array("1".utf8))?.found != nil)
    #expect(try tree.target(at: Array("new".utf8))?.found == nil)
    #expect(listed.withLock { $0 } == ["Readme.txt", "readme.txt", "\u{e9}"])
  }
}
