import Foundation
import MultipartBasics
import Support
import Testing

@testable import MultipartCore

@Suite(.timeLimit(.minutes(15))) struct FileListTests {
  private let folder: TemporaryDirectory

  init() throws { folder = try TemporaryDirectory() }

  private func list(_ bytes: [UInt8], endsWithZero: Bool = false) throws -> FileList {
    try FileList(FilePath(try folder.write(bytes, to: "list")), endsWithZero: endsWithZero)
  }

  private func names(_ list: FileList) throws -> [String] {
    var names: [String] = []
    while let file = try list.next() { names.append(String(decoding: file.name, as: UTF8.self)) }
    return names
  }

  @Test(
    "A name begins after the last /./, otherwise after a leading ./ or /",
    arguments: [
      ("a", "a"), ("a/b", "a/b"), ("./a", "a"), ("././a", "a"), ("/a/b", "a/b"), ("//a//b", "a/b"), ("/x/./a/b", "a/b"),
      ("x/./y/./a", "a"), ("../x/./a", "a"), ("x/.//a", "a"), ("/./a", "a"), (".a", ".a"), ("a/.b", "a/.b"),
      ("a/..b", "a/..b"), ("-a \t\"'", "-a \t\"'"), ("x/././a", "a"), ("a\r", "a\r"),
    ])
  func name(_ line: String, _ name: String) throws {
    #expect(try names(list(Array((line + "\n").utf8))) == [name])
    #expect(try names(list(Array((line + "\0").utf8), endsWithZero: true)) == [name])
    #expect(try names(list(Array(line.utf8))) == [name])
  }

  @Test(
    "A line that names no file is refused with its number",
    arguments: ["", ".", "./", "/", "a/", "../a", "a/../b", "x/./../a", "x/./", "a/.", "x/./a/..", "..", "a\0b"])
  func refused(_ line: String) throws {
    let list = try list(Array(("good\n" + line + "\nmore\n").utf8))
    #expect(try list.next()?.line == 1)
    let failure = #expect(throws: Failure.self) { try list.next() }
    #expect(failure?.code == .usage && failure?.place.file == folder.path("list"))
    #expect(failure?.message.contains("line 2 of the list") == true)
  }

  @Test("A path may have up to 4,096 bytes; whether its name fits into a key is not up to the list")
  func long() throws {
    let name = String(repeating: "n", count: 1025)
    #expect(try names(list(Array((name + "\n").utf8))) == [name])
    for line in [String(repeating: "d/", count: 2047) + "./xyz", String(repeating: "x", count: 200_000)] {
      let failure = #expect(throws: Failure.self) { try names(list(Array(("a\n" + line + "\n").utf8))) }
      #expect(failure?.message.contains("line 2 of the list") == true)
    }
  }

  @Test("Names that end in zero bytes may have line breaks and need not be UTF-8")
  func zeros() throws {
    let list = try list(Array("a\nb\0".utf8) + [0xFF, 0], endsWithZero: true)
    #expect(try list.next()?.name == Array("a\nb".utf8))
    #expect(try list.next()?.name == [0xFF])
    #expect(try list.next() == nil)
  }

  @Test("A list in the form of another system, or with other ends of names, is refused with the way to read it")
  func forms() throws {
    let windows = try list(Array("gone\r\n".utf8))
    let listed = try #require(try windows.next())
    let failure = #expect(throws: Failure.self) { try windows.find(listed) }
    #expect(failure?.remedy?.description.contains("carriage return") == true)
    // The second one is longer than a path may be.
    for text in ["a\0b\0", String(repeating: "a\0", count: 4000)] {
      let list = try list(Array(text.utf8))
      let failure = #expect(throws: Failure.self) { try list.next() }
      #expect(failure?.remedy?.settings == [.endsWithZero])
    }
  }

  @Test("A list is read while it is written")
  func streams() throws {
    var ends: [Int32] = [-1, -1]
    try #require(pipe(&ends) == 0)
    defer { close(ends[0]) }
    let list = try FileList(FilePath("/dev/fd/\(ends[0])"))
    var lines = 0
    for text in ["a\nbc", "d\n", "e"] {
      #expect(write(ends[1], text, text.utf8.count) == text.utf8.count)
      if text.contains("\n") {
        lines += 1
        #expect(try list.next()?.line == lines)
      }
    }
    close(ends[1])
    #expect(try list.next()?.name == Array("e".utf8))
    #expect(try list.next() == nil)
  }

  @Test("A long list is read completely")
  func many() throws {
    let wanted = (0..<50_000).map { "folder/name-\($0)" }
    #expect(try names(list(Array(wanted.joined(separator: "\n").utf8))) == wanted)
  }

  @Test("A listed file is opened by its path, a link as its target; what is not a file is refused with its line")
  func finds() throws {
    let tree = try Tree(["sub/a", "sub/b", "folder/", "top"])
    try tree.link("link", to: "sub/b")
    #expect(mkfifo(tree.path("pipe"), 0o600) == 0)
    let root = tree.directory.path
    let lines = ["sub/a", "./sub/b", "link", "folder", "pipe", "gone", "sub/gone", "nowhere/x"].map {
      "\(root)/./\($0)"
    }
    let list = try list(Array(lines.joined(separator: "\n").utf8))
    var told: [String] = []
    while let listed = try list.next() {
      do throws(Failure) {
        let file = try list.find(listed)
        let source = try SourceFile(file, followsLinks: true)
        try source.checkUnchanged()
        told.append("\(String(decoding: file.path, as: UTF8.self)) \(source.size)")
      } catch {
        #expect(error.message.contains("line \(listed.line) of the list"))
        told.append("\(error.code)")
      }
    }
    #expect(
      told == [
        "sub/a 1", "sub/b 1", "link 1", "usage", "usage", "sourceMissing", "sourceMissing", "sourceMissing",
      ])
  }

  @Test("A list that is missing, or is a folder, is a missing source")
  func noList() throws {
    #expect(#expect(throws: Failure.self) { try FileList(FilePath(folder.path("none"))) }?.code == .sourceMissing)
    let list = try FileList(FilePath(folder.path))
    #expect(#expect(throws: Failure.self) { try list.next() }?.code == .sourceMissing)
  }
}

@Suite(.timeLimit(.minutes(15))) struct BatchListTests {
  private let folder: TemporaryDirectory

  init() throws { folder = try TemporaryDirectory() }

  private func items(_ text: String) throws -> [BatchItem] {
    let list = try BatchList(FilePath(try folder.write(text, to: "batch")))
    var items: [BatchItem] = []
    while let item = try list.next() { items.append(item) }
    return items
  }

  @Test("Each line is an upload; blank ones are skipped and counted")
  func reads() throws {
    let text = """
      {"localUri":"/a b","bucket":"x","key":"k/é"}

       \t\r
      {"metadata":{"A":"1","b":""},"mimeType":"text/plain","region":"eu-west-1","key":"../k","bucket":"y","localUri":"file:///a%20b%FF"}\r
      {"localUri":"rel/x:y","bucket":"x","key":"k"}
      {"localUri":"FILE://localhost/%25","bucket":"x","key":"k"}
      """
    let items = try items(text)
    let lines = text.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).map(Array.init)
    #expect(items.map(\.line) == [lines[0], lines[3], lines[4], lines[5]])
    #expect(items[0] == BatchItem(line: lines[0], source: FilePath("/a b"), bucket: "x", key: "k/é"))
    #expect(
      items[1]
        == BatchItem(
          line: lines[3], source: FilePath(bytes: Array("/a b".utf8) + [0xFF]), bucket: "y", key: "../k",
          region: "eu-west-1", contentType: "text/plain", metadata: [NamedValue("A", "1"), NamedValue("b", "")]))
    #expect(items[2].source == FilePath("rel/x:y") && items[3].source == FilePath("/%"))
  }

  @Test("A line may have the members that lists of attributes name")
  func attributes() throws {
    let line = #"{"localUri":"a","bucket":"x","key":"k","cache-control":"no-store","tag.a":"1","meta.B":"2"}"#
    let item = try #require(try items(line).first)
    var headers = ObjectHeaders()
    headers.set(item.attributes)
    #expect(headers.cacheControl == "no-store" && headers.metadata == [NamedValue("b", "2")])
    #expect(headers.tags == [NamedValue("a", "1")])
  }

  private static let wrong: [(line: String, word: String)] = [
    (#"{"localUri":"a","bucket":"b","key":"k","cache-control":1}"#, "cache-control is not a text"),
    (#"{"localUri":"a","bucket":"b","key":"k","expires":""}"#, "expires is not a text, or empty"),
    (#"{"localUri":"a","bucket":"b","key":"k","tag.a":"x\u0001"}"#, "control characters"),
    (#"{"localUri":"a","bucket":"b","key":"k","meta.A":"1","meta.a":"2"}"#, "meta.a occurs twice"),
    ("{", "not JSON"), ("[]", "not a JSON object"), ("1", "not a JSON object"), ("{}", "localUri is missing"),
    (#"{"localUri":"a","key":"k"}"#, "bucket is missing"), (#"{"localUri":"a","bucket":"b"}"#, "key is missing"),
    (#"{"localUri":"a","bucket":"b","key":"k","size":1}"#, "no member size"),
    (#"{"localUri":"a","bucket":"b","key":"k","key":"k"}"#, "key occurs twice"),
    (#"{"localUri":1,"bucket":"b","key":"k"}"#, "localUri is not a text"),
    (#"{"localUri":"a","bucket":"","key":"k"}"#, "bucket is not a text, or empty"),
    (#"{"localUri":"a","bucket":"b","key":"k","region":null}"#, "region is not a text"),
    (#"{"localUri":"a","bucket":"b","key":"k","mimeType":[]}"#, "mimeType is not a text"),
    (#"{"localUri":"a","bucket":"b","key":"k","metadata":{"a":1}}"#, "metadata is not"),
    (#"{"localUri":"a","bucket":"b","key":"k","metadata":"a"}"#, "metadata is not"),
    (#"{"localUri":"a","bucket":"b","key":"k","metadata":{"a":"1","a":"2"}}"#, "a occurs twice"),
    (#"{"localUri":"https://h/a","bucket":"b","key":"k"}"#, "neither a path nor a file: URL"),
    (#"{"localUri":"file://host/a","bucket":"b","key":"k"}"#, "names the host"),
    (#"{"localUri":"file://","bucket":"b","key":"k"}"#, "not percent-encoded"),
    (#"{"localUri":"file:///a%2","bucket":"b","key":"k"}"#, "not percent-encoded"),
    (#"{"localUri":"file:///a?b","bucket":"b","key":"k"}"#, "not percent-encoded"),
    (#"{"localUri":"file:///a%00","bucket":"b","key":"k"}"#, "zero byte"),
    (#"{"localUri":"a\u0000","bucket":"b","key":"k"}"#, "zero byte"),
    (#"{"localUri":"a","bucket":"b","key":"\#(String(repeating: "k", count: 1025))"}"#, "1025 bytes"),
    (#"{"localUri":"\#(String(repeating: "a", count: 1 << 20))","bucket":"b","key":"k"}"#, "longer than 1048576"),
  ]

  @Test("A bad line is a failure that names the list and the line", arguments: wrong.indices)
  func refuses(index: Int) throws {
    let good = #"{"localUri":"a","bucket":"b","key":"k"}"#
    let failure = #expect(throws: Failure.self) { try items(good + "\n" + Self.wrong[index].line + "\n" + good) }
    #expect(failure?.code == .usage && failure?.place.file == folder.path("batch"))
    #expect(failure?.message.contains("line 2 of the list") == true)
    #expect(failure?.message.contains(Self.wrong[index].word) == true, "\(failure.map { "\($0)" } ?? "")")
  }
}
