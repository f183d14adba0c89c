import Foundation
import Support
import Testing

@testable import MultipartCore

/// Changes of a tree between two steps of its walk.
@Suite(.timeLimit(.minutes(15))) struct TreeChangeTests {
  @Test("What has vanished since its folder was read is a failure: nobody knows what was in it")
  func vanished() throws {
    let tree = try Tree(["a", "b", "c/x", "d"])
    let walk = try TreeWalk(root: tree.root)
    let other = try TreeWalk(root: tree.root)
    #expect(walk.tell(1) == ["a"] && other.tell(1) == ["a"])
    unlink(tree.path("b"))
    try FileManager.default.removeItem(atPath: tree.path("c"))
    try tree.make(Array("a2".utf8))
    // A list of names can have the file, but not what was in the folder.
    for path in [Array("b".utf8), nil] {
      guard case .failed(let failure)? = other.next() else {
        Issue.record("no failure")
        return
      }
      #expect(failure.path == path)
    }
    #expect(walk.tell() == ["sourceMissing: \(tree.path("b"))", "sourceMissing: \(tree.path("c"))", "d"])
  }

  @Test("A folder that becomes a link leads nowhere, even if it is already open")
  func swapped() throws {
    let secret = try Tree(["key", "sub/key"])
    let tree = try Tree(["a", "b/sub/x", "c/one", "c/two"])
    let walk = try TreeWalk(root: tree.root)
    #expect(walk.tell(1) == ["a"])
    #expect(rename(tree.path("b"), tree.path("was-b")) == 0)
    try tree.link("b", to: secret.directory.path)
    #expect(walk.tell(1) == ["sourceChanged: \(tree.path("b"))"])
    guard case .file(let one)? = walk.next() else {
      Issue.record("no file")
      return
    }
    #expect(rename(tree.path("c"), tree.path("was-c")) == 0)
    try tree.link("c", to: secret.directory.path)
    #expect(one.path == Array("c/one".utf8))
    #expect(try SourceFile(one, followsLinks: false).size == 1)
    #expect(walk.tell() == ["c/two"])
  }

  @Test("A file that becomes a link, a folder or a pipe is not sent")
  func replaced() throws {
    let tree = try Tree(["a", "b", "c", "d", "e"])
    let walk = try TreeWalk(root: tree.root)
    #expect(walk.tell(1) == ["a"])
    for name in ["b", "c", "d"] { unlink(tree.path(name)) }
    try tree.link("b", to: "/etc/passwd")
    try tree.make(Array("c/".utf8))
    #expect(mkfifo(tree.path("d"), 0o600) == 0)
    #expect(walk.tell() == ["b", "c", "d"].map { "sourceChanged: \(tree.path($0))" } + ["e"])
  }

  private func found(_ name: String, in tree: Tree, followsLinks: Bool = false) throws -> TreeFile {
    let walk = try TreeWalk(root: tree.root, followsLinks: followsLinks)
    while let finding = walk.next() {
      if case .file(let file) = finding, file.path == Array(name.utf8) { return file }
    }
    throw SystemError(name, ENOENT)
  }

  @Test("Between the walk and the opening a file may vanish or become something else")
  func opened() throws {
    let tree = try Tree(["sub/a", "sub/b", "sub/c"])
    let files = try ["sub/a", "sub/b", "sub/c"].map { try found($0, in: tree) }
    for name in ["a", "b", "c"] { unlink(tree.path("sub/" + name)) }
    try tree.link("sub/b", to: "/etc/passwd")
    #expect(mkfifo(tree.path("sub/c"), 0o600) == 0)
    for (file, code) in zip(files, [Failure.Code.sourceMissing, .sourceMissing, .sourceChanged]) {
      let failure = #expect(throws: Failure.self) { try SourceFile(file, followsLinks: false) }
      #expect(failure?.code == code && failure?.place.file == tree.full(file.path).text)
    }
  }

  private static let changes: [(word: String, make: @Sendable (String) throws -> Void)] = [
    ("shrank", { try resize($0, 99) }),
    ("grew", { try resize($0, 101) }),
    ("was rewritten", { try overwrite($0, [9]) }),
    ("was removed", { unlink($0) }),
    (
      "was replaced",
      {
        try Data(count: 100).write(to: URL(fileURLWithPath: $0 + ".new"))
        guard rename($0 + ".new", $0) == 0 else { throw SystemError("rename") }
      }
    ),
    (
      "was replaced",
      {
        guard rename($0, $0 + ".old") == 0, symlink($0 + ".old", $0) == 0 else { throw SystemError("symlink") }
      }
    ),
  ]

  @Test("A change of a file that a walk found is noticed", arguments: changes.indices)
  func changed(index: Int) throws {
    let tree = try Tree()
    try tree.make(Array("sub/file".utf8), size: 100)
    let path = tree.path("sub/file")
    try setModified(path, seconds: 1_000_000)
    let source = try SourceFile(found("sub/file", in: tree), followsLinks: false)
    try source.checkUnchanged()
    try Self.changes[index].make(path)
    let failure = #expect(throws: Failure.self) { try source.checkUnchanged() }
    #expect(failure?.code == .sourceChanged)
    #expect(failure?.message.contains(Self.changes[index].word) == true)
  }

  @Test("A folder above a file may be renamed while it is read")
  func renamed() throws {
    let tree = try Tree(["sub/file"])
    let source = try SourceFile(found("sub/file", in: tree), followsLinks: false)
    #expect(rename(tree.path("sub"), tree.path("other")) == 0)
    try source.checkUnchanged()
  }

  @Test("A link that is followed is its target, until it leads elsewhere")
  func followed() throws {
    let tree = try Tree(["a/file", "b/file"])
    try tree.link("link", to: "a/file")
    let source = try SourceFile(found("link", in: tree, followsLinks: true), followsLinks: true)
    try source.checkUnchanged()
    unlink(tree.path("link"))
    try tree.link("link", to: "b/file")
    #expect(throws: Failure.self) { try source.checkUnchanged() }
  }
}
