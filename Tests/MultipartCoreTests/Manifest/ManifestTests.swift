import Foundation
import MultipartBasics
import Support
import Testing

@testable import MultipartCore

@Suite(.timeLimit(.minutes(15))) struct ManifestTests {
  private let directory: TemporaryDirectory

  init() throws {
    directory = try TemporaryDirectory()
    try #require(mkdir(directory.path("tmp"), 0o700) == 0)
  }

  private func manifest(_ form: ManifestForm, bound: Int = 4 << 20) -> Manifest {
    Manifest(form, folder: directory.path("tmp"), bound: bound)
  }

  private func written(_ manifest: Manifest, _ name: String = "out") throws -> [UInt8] {
    try write(manifest, to: directory.path(name))
    return try directory.read(name)
  }

  private func write(_ manifest: Manifest, to path: String) throws {
    let file = try ReportFile(FilePath(path), of: .manifest, onlyLooks: false) { _ in true }
    try file.write { (put) throws(Failure) in try manifest.write(put) }
  }

  private static func entry(_ key: String, _ bytes: [UInt8] = []) throws -> ManifestEntry {
    ManifestEntry(
      key: key, size: Int64(bytes.count), sha256: Checksum(.sha256, bytes: try Digest.sha256(bytes)))
  }

  private func leftovers() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: directory.path("tmp"))
  }

  @Test("sha256sum accepts it, whatever the names contain")
  func sha256sum() async throws {
    let names = [
      "plain", "a b", "a\\b", "a\nb", "a\rb", "\\\n\r", "\\n", " leading", "trailing ", "*star", "e\u{301}", "\u{E9}",
      "-dash", "dir/file", "tab\t", "\"q'",
    ]
    let manifest = manifest(.sums)
    for (number, name) in names.enumerated() {
      let bytes = randomBytes(100, seed: UInt64(number))
      try directory.write(bytes, to: "files/" + name)
      try manifest.add(Self.entry(name, bytes))
    }
    try write(manifest, to: directory.path("SHA256SUMS"))
    let check = try await ChildProcess(
      Programs.find("sha256sum"), ["--check", "--strict", "--status", directory.path("SHA256SUMS")],
      environment: Programs.environment(home: directory.path), directory: directory.path("files")
    ).wait()
    #expect(check.status == 0)
    try directory.write("x", to: "files/a\nb")
    let other = try await ChildProcess(
      Programs.find("sha256sum"), ["--check", "--strict", "--status", directory.path("SHA256SUMS")],
      environment: Programs.environment(home: directory.path), directory: directory.path("files")
    ).wait()
    #expect(other.status == 1)
  }

  @Test("100,000 lines are sorted in little memory, the same for any order of arrival")
  func sorted() throws {
    let keys = (0..<100_000).map { "dir\($0 % 100)/\($0)" }
    let sum = Checksum(.sha256, bytes: [UInt8](repeating: 7, count: 32))
    var texts: [[UInt8]] = []
    for (order, bound) in [(keys, 64 << 10), (keys.reversed(), 1 << 20), (keys.shuffled(), .max)] {
      let manifest = manifest(.sums, bound: bound)
      for key in order { try manifest.add(ManifestEntry(key: key, size: 0, sha256: sum)) }
      texts.append(try written(manifest))
      #expect(try leftovers() == [])
    }
    var wanted: [UInt8] = []
    for key in keys.map({ Array($0.utf8) }).sorted(by: { $0.lexicographicallyPrecedes($1) }) {
      wanted += Array((String(repeating: "07", count: 32) + "  ").utf8) + key + [0x0A]
    }
    #expect(texts == [wanted, wanted, wanted])
  }

  @Test("names that begin alike, and one name twice, have a fixed order")
  func order() throws {
    let keys = ["a", "a/b", "a\n", "a\\", "ab", "", "a", "\u{E9}", "e\u{301}", "\u{1F4A9}", "\u{FF5E}"]
    var texts: Set<[UInt8]> = []
    for bound in [1, 150, .max] {
      for turn in keys.indices {
        let manifest = manifest(.json, bound: bound)
        for number in keys.indices {
          let place = (number + turn) % keys.count
          try manifest.add(ManifestEntry(key: keys[place], size: Int64(place)))
        }
        texts.insert(try written(manifest))
      }
    }
    #expect(texts.count == 1)
    let lines = try #require(texts.first).split(separator: 0x0A).map { JSON.parse(Array($0)) }
    let sorted = keys.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    #expect(lines.map { Array(($0?["key"]?.text ?? "-").utf8) } == sorted.map { Array($0.utf8) })
  }

  @Test("the sums do not affect the order of names that begin alike", arguments: [1, .max])
  func orderOfSums(_ bound: Int) throws {
    let manifest = manifest(.sums, bound: bound)
    let keys = (1...9).map { String(repeating: "a", count: $0) }
    for key in keys.reversed() { try manifest.add(Self.entry(key, Array(key.utf8))) }
    let lines = try written(manifest).split(separator: 0x0A)
    #expect(lines.map { String(decoding: $0.dropFirst(66), as: UTF8.self) } == keys)
  }

  @Test("lines written by many threads are all there")
  func threads() async throws {
    let manifest = manifest(.json, bound: 1000)
    await withTaskGroup(of: Void.self) { group in
      for part in 0..<8 {
        group.addTask {
          for number in stride(from: part, to: 800, by: 8) {
            try? manifest.add(ManifestEntry(key: "\(10_000 + number)", size: 0))
          }
        }
      }
    }
    let lines = try written(manifest).split(separator: 0x0A).map { JSON.parse(Array($0))?["key"]?.text }
    let all: [String?] = (10_000..<10_800).map { "\($0)" }
    #expect(lines == all)
  }

  @Test("a line of JSON has everything that is known, and null for the rest")
  func json() throws {
    let full = manifest(.json)
    try full.add(
      ManifestEntry(
        key: "k\"\n", size: 3, etag: "\"e\"", versionID: "v",
        checksum: ObjectChecksum(.sha1, .composite, "x-2"),
        sha256: Checksum(.sha256, bytes: [UInt8](repeating: 1, count: 32))))
    try full.add(ManifestEntry(key: "l", size: 0))
    let hex = String(repeating: "01", count: 32)
    #expect(
      String(decoding: try written(full), as: UTF8.self) == """
        {"key":"k\\"\\n","size":3,"etag":"\\"e\\"","version_id":"v","checksum":{"algorithm":"SHA1","type":"COMPOSITE",\
        "value":"x-2"},"sha256":"\(hex)"}
        {"key":"l","size":0,"etag":null,"version_id":null,"checksum":null,"sha256":null}

        """)
  }

  @Test(
    "a value that cannot be read spoils its line, because a weaker one would decide instead",
    arguments: [
      ("\"sha256\":null", true), ("\"sha256\":5", false), ("\"sha256\":\"5\"", false), ("\"etag\":5", false),
      ("\"version_id\":[]", false),
      ("\"checksum\":{\"algorithm\":\"CRC32\",\"type\":\"FULL_OBJECT\",\"value\":\"AAAAAA==\"}", true),
      ("\"checksum\":{\"algorithm\":\"CRC32\",\"type\":\"FULL_OBJECT\",\"value\":\"!!\"}", false),
      ("\"checksum\":{\"algorithm\":\"CRC32\",\"type\":\"FULL_OBJECT\",\"value\":\"AAAA\"}", false),
    ])
  func unreadable(_ member: String, _ isGood: Bool) {
    let line = Array("{\"key\":\"k\",\"size\":3,\(member)}".utf8)
    #expect((ManifestForm.json.entry(line[...]) != nil) == isGood)
  }

  @Test("without a SHA-256 there is no line for sha256sum")
  func noSum() throws {
    let manifest = manifest(.sums)
    #expect(throws: Failure.self) { try manifest.add(ManifestEntry(key: "k", size: 0)) }
    #expect(try written(manifest) == [])
  }

  @Test("the file is replaced once it is complete, and otherwise stays as it is")
  func replaced() throws {
    try directory.write("old", to: "out")
    let manifest = manifest(.sums)
    try manifest.add(Self.entry("k"))
    let text = try written(manifest)
    #expect(text.count == 64 + 4)
    #expect(try written(manifest) == text)
    let mask = umask(0)
    umask(mask)
    #expect(RecordShelf.mode(directory.path("out")) == 0o666 & ~mask)
    #expect(throws: Failure.self) { try write(manifest, to: directory.path("none/out")) }
    #expect(throws: Failure.self) { try write(manifest, to: directory.path("tmp")) }
    #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path).sorted() == ["out", "tmp"])
    // A device is not replaced.
    try write(manifest, to: "/dev/null")
    #expect(RecordShelf.status("/dev/null").map { $0.st_mode & S_IFMT } == S_IFCHR)
  }

  @Test("for an upload there is a temporary file that only this user can read")
  func temporary() throws {
    let manifest = manifest(.sums, bound: 1)
    for key in ["b", "a"] { try manifest.add(Self.entry(key)) }
    let path = try manifest.temporaryFile()
    #expect(RecordShelf.mode(path.text) == 0o600)
    #expect(try leftovers().map { directory.path("tmp/" + $0) } == [path.text])
    #expect(try directory.read("tmp/" + path.name) == written(manifest))
    let nowhere = Manifest(.sums, folder: directory.path("none"), bound: 1)
    #expect(throws: Failure.self) { try nowhere.add(Self.entry("k")) }
    #expect(throws: Failure.self) { try nowhere.temporaryFile() }
  }

  @Test("the target's name determines the form, and each share has its own name")
  func targets() {
    for (name, isJSON) in [
      ("a.json", true), ("s3://b/a.jsonl", true), ("SHA256SUMS", false), ("a.json.txt", false), ("json", false),
    ] {
      if case .json = ManifestForm(target: name) { #expect(isJSON) } else { #expect(!isJSON) }
    }
    #expect(ManifestForm.target("m.jsonl", share: 2, of: 16) == "m.jsonl.2-of-16")
  }
}
