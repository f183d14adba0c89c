import Foundation
import Support
import Testing

@testable import MultipartCore

@Suite(.timeLimit(.minutes(15))) struct TreeWalkTests {
  private func walk(
    _ tree: Tree, _ patterns: [GlobRules.Rule] = [], followsLinks: Bool = false,
    tellsExcluded: Bool = false, depth: TreeWalk.Depth = .sizes
  ) throws -> TreeWalk {
    try TreeWalk(
      root: tree.root, rules: GlobRules(patterns), followsLinks: followsLinks, tellsExcluded: tellsExcluded,
      depth: depth)
  }

  @Test("Files come in the order of their keys' bytes, whatever folders they are in", arguments: 1...20)
  func order(seed: Int) throws {
    let tree = try Tree()
    var random = SeededRandom(seed: UInt64(seed))
    let letters = ["a", "b", "-", ".", "0", "A", "%", "é", "\u{1}", " "].map { Array($0.utf8) } + [[0xFF], [0xC3]]
    var taken: Set<[UInt8]> = [[0x2E], [0x2E, 0x2E]]
    var made: Set<[UInt8]> = []
    var folders: [[UInt8]] = [[]]
    for _ in 0..<120 {
      let name = (0..<Int.random(in: 1...3, using: &random)).flatMap { _ in letters.randomElement(using: &random) ?? []
      }
      let path = (folders.randomElement(using: &random) ?? []) + name
      guard name != [0x2E], name != [0x2E, 0x2E], taken.insert(path).inserted else { continue }
      if Int.random(in: 0..<3, using: &random) == 0 {
        try tree.make(path + [0x2F])
        folders.append(path + [0x2F])
      } else {
        try tree.make(path)
        made.insert(path)
      }
    }
    let walk = try walk(tree)
    var keys: [String] = []
    var found: Set<[UInt8]> = []
    while let finding = walk.next() {
      switch finding {
      case .file(let file):
        found.insert(file.path)
        keys.append(try KeyName(prefix: "").key(of: file.path, file.display))
      case .failed(let failed): Issue.record(failed.failure)
      case .skipped(let skip): #expect(skip.reason == .emptyFolder)
      }
    }
    #expect(keys == keys.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) })
    #expect(found == made)
  }

  @Test("A folder's files are sorted as if its name ended in a slash, as S3 lists them")
  func slashes() throws {
    let tree = try Tree(["a/x", "a.b", "a0", "a-", "ab/x", "A", "a/b/c", "a/b.c"])
    #expect(try walk(tree).tell() == ["A", "a-", "a.b", "a/b.c", "a/b/c", "a/x", "a0", "ab/x"])
    #expect(try walk(tree, depth: .names).tell() == ["A", "a-", "a.b", "a/b.c", "a/b/c", "a/x", "a0", "ab/x"])
  }

  @Test("Any name that a file can have is found, and its file opens")
  func oddNames() throws {
    let tree = try Tree()
    let names: [[UInt8]] = [
      Array("new\nline".utf8), Array("tab\t".utf8), Array("quotes\"'`".utf8), Array("-dash".utf8), Array("..x".utf8),
      Array(repeating: UInt8(ascii: "n"), count: 255), Array(repeating: 0xFF, count: 255), [0xC3, 0x28],
      Array("Case".utf8),
      Array("case".utf8), Array("%41".utf8), [0x25, 0xFE], Array("-/--".utf8), [0xED, 0xA0, 0x80, 0x2F, 0x7F],
    ]
    for (size, name) in names.enumerated() { try tree.make(name, size: size) }
    let walk = try walk(tree)
    var found: Set<[UInt8]> = []
    while let finding = walk.next() {
      guard case .file(let file) = finding else {
        Issue.record("\(finding)")
        continue
      }
      found.insert(file.path)
      #expect(names.firstIndex(of: file.path).map(Int64.init) == file.size)
      let source = try SourceFile(file, followsLinks: false)
      #expect(source.size == file.size && source.path == tree.full(file.path))
      try source.checkUnchanged()
    }
    #expect(found == Set(names))
  }

  @Test("What is not a file is skipped with its reason; an empty folder is reported")
  func kinds() throws {
    let tree = try Tree(["file", "folder/empty/", "folder/file"])
    #expect(mkfifo(tree.path("pipe"), 0o600) == 0)
    if getuid() == 0 { #expect(mknod(tree.path("device"), S_IFCHR | 0o600, 0x103) == 0) }
    // The path of a socket has at most 107 bytes.
    let socket = try ListeningSocket(in: tree)
    defer { socket.end() }
    try tree.link("etc", to: "/etc")
    try tree.link("nowhere", to: "nothing")
    let told = try walk(tree).tell().filter { !$0.hasPrefix("device") || $0 != "device: device" }
    #expect(
      told == [
        "etc: link", "file", "folder/empty: emptyFolder", "folder/file", "nowhere: link", "pipe: pipe",
        "socket: socket",
      ])
    if getuid() == 0 { #expect(try walk(tree).tell().first == "device: device") }
    #expect(try walk(Tree()).tell() == [": emptyFolder"])
  }

  @Test("Links are followed on request; those that lead nowhere or in a circle are reported")
  func links() throws {
    let other = try Tree(["sub/one", "two"])
    let tree = try Tree(["a/b/file", "folder/x"])
    try tree.link("to-file", to: other.path("two"))
    try tree.link("to-folder", to: other.path("sub"))
    try tree.link("nowhere", to: "nothing")
    try tree.link("self", to: "self")
    try tree.link("a/b/up", to: "../..")
    try tree.link("a/b/here", to: ".")
    // The same folder is reached twice, but not within itself.
    try tree.link("z", to: "folder")
    #expect(
      try walk(tree, followsLinks: true).tell() == [
        "a/b/file", "a/b/here: loop", "a/b/up: loop", "folder/x", "sourceMissing: \(tree.path("nowhere"))",
        "sourceMissing: \(tree.path("self"))", "to-file", "to-folder/one", "z/x",
      ])
    #expect(
      try walk(tree).tell() == [
        "a/b/file", "a/b/here: link", "a/b/up: link", "folder/x", "nowhere: link", "self: link", "to-file: link",
        "to-folder: link", "z: link",
      ])
  }

  @Test("The root may be a link; a file, and a missing path, are refused")
  func root() throws {
    let tree = try Tree(["folder/x", "file"])
    try tree.link("link", to: "folder")
    #expect(try TreeWalk(root: FilePath(tree.path("link"))).tell() == ["x"])
    #expect(try TreeWalk(root: FilePath(tree.path("folder/"))).tell() == ["x"])
    for (name, code) in [("file", Failure.Code.usage), ("none", .sourceMissing)] {
      let failure = #expect(throws: Failure.self) { try TreeWalk(root: FilePath(tree.path(name))) }
      #expect(failure?.code == code && failure?.place.file == tree.path(name))
    }
  }

  @Test("A folder that may not be read is a failure with its name, and the walk continues")
  func permission() async throws {
    let tree = try Tree(["a/x", "b/x", "c/x"])
    for name in ["", "a", "c"] { chmod(tree.path(name), 0o755) }
    chmod(tree.path("b"), 0)
    let told = try await aside {
      // The walk is made first, because other users may not be allowed to reach this folder.
      let walk = try TreeWalk(root: tree.root)
      try dropPrivileges()
      return walk.tell()
    }
    #expect(told == ["a/x", "sourceMissing: \(tree.path("b"))", "c/x"])
    chmod(tree.path("b"), 0o700)
  }

  @Test("A tree deeper than the longest key is a failure that names the folder, and the walk continues")
  func deep() throws {
    let tree = try Tree(["z"])
    let folder = String(repeating: "d", count: 200) + "/"
    try tree.make(
      Array((String(repeating: folder, count: 5) + "deep/" + String(repeating: "e", count: 20) + "/x").utf8))
    let told = try walk(tree).tell()
    #expect(told.count == 2 && told.last == "z")
    #expect(told.first?.hasPrefix("usage: \(tree.path(""))ddd") == true)
    #expect(told.first?.hasSuffix("/deep/" + String(repeating: "e", count: 20)) == true)
  }

  @Test("The shares of a tree together have each of its files once, in order")
  func shares() throws {
    let tree = try Tree((0..<100).map { "\($0 % 7)/\($0)" })
    try tree.link("link", to: "0")
    let told = try (0..<4).map { index in
      try TreeWalk(root: tree.root, shard: Shard(index: index, count: 4)).tell()
    }
    #expect(told.allSatisfy { !$0.isEmpty && $0 == $0.sorted() })
    #expect(try told.joined().sorted() == walk(tree).tell())
  }

  @Test("Two names that become one key are a failure")
  func doubles() throws {
    let tree = try Tree()
    try tree.make(Array("a%FF".utf8))
    try tree.make([UInt8(ascii: "a"), 0xFF])
    try tree.make(Array("b".utf8))
    let told = try walk(tree).tell()
    #expect(told.count == 3 && told[1].hasPrefix("usage: ") && told.last == "b")
  }

  @Test("Only the folders on the path to the current file are open")
  func openFolders() throws {
    let tree = try Tree((0..<200).map { "\($0 / 20)/\($0 % 20)/x" })
    let before = Folder.openCount
    let walk = try walk(tree)
    var most = 0
    var held: [TreeFile] = []
    while case .file(let file)? = walk.next() {
      most = max(most, Folder.openCount - before)
      if held.count < 2 { held.append(file) }
    }
    // Other suites walk at the same time, so there may be more.
    #expect(most >= 3)
    #expect(try held.map { try SourceFile($0, followsLinks: false).size } == [1, 1])
  }
}

/// Drops, for this thread until it ends, what root may do to files of others (`setfsuid`, which Glibc's module lacks).
func dropPrivileges() throws {
  guard let found = dlsym(nil, "setfsuid") else { throw SystemError("setfsuid") }
  _ = unsafeBitCast(found, to: (@convention(c) (uid_t) -> Int32).self)(65534)
}

/// A socket with a name in a tree.
private struct ListeningSocket {
  private let descriptor: Int32

  init(in tree: Tree) throws {
    descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: tree.path("socket").utf8.prefix(107)) }
    let bound = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    guard bound == 0 else { throw SystemError("bind") }
  }

  func end() { close(descriptor) }
}
