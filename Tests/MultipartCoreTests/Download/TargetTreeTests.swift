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
    for name in ["Readme.txt", "e\u{301}", ".hidden", "v1"] { try directory.write("1", to: name) }
    let path = FilePath(directory.path(""))
    let names = NameForms(try NameForms.list(try Folder.target(path, shownAs: path)))
    for (name, standing) in [
      ("Readme.txt", .exactly), ("readme.TXT", .otherwise), ("Readme.tx", .notAtAll), ("e\u{301}", .exactly),
      ("\u{e9}", .notAtAll), ("\u{c9}", .otherwise), (".hidden", .exactly), ("v1.", .notAtAll),
    ] as [(String, NameForms.Standing)] {
      #expect(names.standing(of: Array(name.utf8)) == standing, "\(name)")
    }
  }

  @Test("A file that this run has written is no target under a name that its folder does not list")
  func ofThisRun() throws {
    let directory = try TemporaryDirectory()
    try directory.write("1", to: "d/file")
    let name = Array("file".utf8)
    func tree(lists: Bool, published changed: Duration?) throws -> TargetTree {
      let tree = TargetTree(FilePath(directory.path("d")), makes: true) { _ in lists ? [name] : [] }
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
    // As if these names led to the same file and folder.
    try directory.write("1", to: "d/readme.txt")
    try directory.write("1", to: "d/Sub/x")
    try directory.write("1", to: "d/sub/x")
    try directory.write("1", to: "d/1")
    let reads = Locked(0)
    let tree = TargetTree(FilePath(directory.path("d")), makes: true) { _ in
      reads.withLock { $0 += 1 }
      return ["Readme.txt", "Sub", "1"].map { Array($0.utf8) }
    }
    #expect(tree.open())
    for name in ["Readme.txt", "Sub/x"] { #expect(try tree.target(at: Array(name.utf8))?.found != nil) }
    for name in ["readme.txt", "sub/x"] {
      #expect { try tree.target(at: Array(name.utf8)) } throws: { error in
        guard let failure = error as? Failure else { return false }
        return failure.message.description == FolderMeeting.otherForm.message.description
          && failure.place.file == directory.path("d/" + name)
      }
    }
    // Only names that may lead to something else are looked for in their folder, which is read once.
    #expect(try tree.target(at: Array("1".utf8))?.found != nil)
    #expect(try tree.target(at: Array("new/file".utf8))?.found == nil)
    #expect(reads.withLock { $0 } == 1)
  }
}
