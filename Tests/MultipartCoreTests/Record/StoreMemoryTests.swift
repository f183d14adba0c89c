import Foundation
import MultipartBasics
@testable import MultipartCore
import Support
import Testing

@Suite(.timeLimit(.minutes(15))) struct StoreMemoryTests {
  private let directory: TemporaryDirectory
  private let memory: StoreMemory
  private let now = Timestamp(seconds: 1_800_000_000)
  private let month: Int64 = 30 * 86_400

  init() throws {
    directory = try TemporaryDirectory()
    memory = StoreMemory(folder: directory.path("a/state"))
  }

  private var folder: String { directory.path("a/state") }

  private func mode(_ path: String) -> mode_t? {
    var status = stat()
    return lstat(path, &status) == 0 ? status.st_mode & 0o7777 : nil
  }

  @Test("A lesson of any kind is found by the next run")
  func remembers() throws {
    let forms: [ChecksumForm] =
      [.md5, .nothing] + ChecksumAlgorithm.allCases.filter { $0 != .md5 }.map { .algorithm($0) }
    for (index, form) in forms.enumerated() {
      try memory.remember(.verifies(form), of: "https://store\(index):9000", now: now)
    }
    for (index, form) in forms.enumerated() {
      #expect(StoreMemory(folder: folder).lessons(of: "https://store\(index):9000", now: now).form == form)
    }
    #expect(memory.lessons(of: "https://other", now: now).form == nil)
  }

  @Test("A later lesson replaces the earlier one of its store and touches no other")
  func replaces() throws {
    try memory.remember(.verifies(.md5), of: "https://a", now: now)
    try memory.remember(.verifies(.md5), of: "https://b", now: now)
    try memory.remember(.verifies(.nothing), of: "https://a", now: now)
    #expect(memory.lessons(of: "https://a", now: now).form == ChecksumForm.nothing)
    #expect(memory.lessons(of: "https://b", now: now).form == .md5)
    #expect(try lines().count == 3)
  }

  @Test("After thirty days a store is asked again, and its entry is removed with the next lesson")
  func expires() throws {
    try memory.remember(.verifies(.md5), of: "https://old", now: now)
    #expect(memory.lessons(of: "https://old", now: Timestamp(seconds: now.seconds + month - 1)).form == .md5)
    let later = Timestamp(seconds: now.seconds + month)
    #expect(memory.lessons(of: "https://old", now: later).form == nil)
    try memory.remember(.verifies(.md5), of: "https://new", now: later)
    #expect(try lines() == ["s3up stores 1", "https://new md5 \(later.seconds)"])
  }

  @Test("Files of killed runs, however many, do not prevent learning")
  func abandoned() throws {
    let left = (0..<16).map { "a/state/stores.new\($0)" }
    for (index, name) in left.enumerated() {
      let path = try directory.write("s3up st", to: name)
      let age = index == 0 ? 60.0 : 7200
      try FileManager.default.setAttributes([.modificationDate: Date(timeIntervalSinceNow: -age)], ofItemAtPath: path)
    }
    try memory.remember(.verifies(.md5), of: "https://a", now: now)
    #expect(memory.lessons(of: "https://a", now: now).form == .md5)
    // The first file may be one that another run is writing now.
    #expect(FileManager.default.fileExists(atPath: directory.path(left[0])))
    #expect(!FileManager.default.fileExists(atPath: directory.path(left[1])))
  }

  @Test("What is known of a line that loses packets, or that buffers, is forgotten after a day")
  func lineOfNetwork() throws {
    try memory.remember(.line(.lossy), of: "https://a", now: now)
    try memory.remember(.line(.buffered), of: "https://c", now: now)
    try memory.remember(.line(.usual), of: "https://b", now: now)
    func line(_ origin: String, after seconds: Int64) -> LineClass? {
      memory.lessons(of: origin, now: Timestamp(seconds: now.seconds + seconds)).line
    }
    #expect(line("https://a", after: 86_000) == .lossy && line("https://a", after: 86_401) == nil)
    #expect(line("https://c", after: 86_000) == .buffered && line("https://c", after: 86_401) == nil)
    #expect(line("https://b", after: 86_401) == .usual)
  }

  @Test("A lesson from the future does not count")
  func future() throws {
    for ahead in [2 * 86_400, month, Int64.max - now.seconds] as [Int64] {
      try directory.write("s3up stores 1\nhttps://a none \(now.seconds + ahead)\n", to: "a/state/stores")
      #expect(memory.lessons(of: "https://a", now: now).form == nil)
    }
    // A clock that was put back an hour.
    try memory.remember(.verifies(.md5), of: "https://a", now: Timestamp(seconds: now.seconds + 3600))
    #expect(memory.lessons(of: "https://a", now: now).form == .md5)
  }

  @Test(
    "A file that others can write is not trusted, and the next lesson replaces it",
    arguments: [0o622, 0o606] as [mode_t])
  func tooOpen(_ bits: mode_t) throws {
    let file = try directory.write("s3up stores 1\nhttps://a none \(now.seconds)\n", to: "a/state/stores")
    #expect(memory.lessons(of: "https://a", now: now).form == ChecksumForm.nothing)
    #expect(chmod(file, bits) == 0)
    let lessons = memory.lessons(of: "https://a", now: now)
    #expect(lessons.form == nil && lessons.refusal?.place.file == file && lessons.refusal?.remedy != nil)
    try memory.remember(.verifies(.md5), of: "https://b", now: now)
    #expect(try lines() == ["s3up stores 1", "https://b md5 \(now.seconds)"])
    #expect(mode(file) == 0o600)
  }

  @Test("A file or a folder of another user is not trusted", .enabled(if: geteuid() == 0, "needs root"))
  func foreign() throws {
    let file = try directory.write("s3up stores 1\nhttps://a none \(now.seconds)\n", to: "a/state/stores")
    #expect(chown(file, 65_534, 65_534) == 0)
    #expect(memory.lessons(of: "https://a", now: now).form == nil)
    #expect(memory.lessons(of: "https://a", now: now).refusal?.message.contains("another user") == true)
    #expect(chown(file, 0, 0) == 0 && chown(folder, 65_534, 65_534) == 0)
    #expect(memory.lessons(of: "https://a", now: now).form == nil)
    // Our file is in our own folder below it.
    try memory.remember(.verifies(.md5), of: "https://a", now: now)
    #expect(memory.lessons(of: "https://a", now: now).form == .md5)
    #expect(try String(decoding: directory.read("a/state/stores"), as: UTF8.self).contains("none"))
    #expect(chown(folder + "/uploads", 65_534, 65_534) == 0)
    #expect(memory.lessons(of: "https://a", now: now).form == nil)
    #expect(memory.lessons(of: "https://a", now: now).refusal?.place.file == folder + "/uploads")
    #expect(throws: Failure.self) { try memory.remember(.verifies(.md5), of: "https://a", now: now) }
  }

  @Test(
    "In a folder that others can write, lessons are in a subfolder of our own", arguments: [0o777, 0o1777] as [mode_t])
  func shared(_ bits: mode_t) throws {
    try directory.write("s3up stores 1\nhttps://a none \(now.seconds)\n", to: "a/state/stores")
    #expect(chmod(folder, bits) == 0)
    #expect(memory.lessons(of: "https://a", now: now).form == nil)
    try memory.remember(.verifies(.md5), of: "https://a", now: now)
    #expect(memory.lessons(of: "https://a", now: now).form == .md5)
    #expect(mode(folder) == bits && mode(folder + "/uploads") == 0o700 && mode(folder + "/uploads/stores") == 0o600)
  }

  @Test("A store does not get the lessons of another one with a longer address")
  func prefixes() throws {
    for longer in ["https://a:9000", "https://ab", "https://a/b"] {
      try memory.remember(.verifies(.md5), of: longer, now: now)
      #expect(memory.lessons(of: longer, now: now).form == .md5)
    }
    #expect(memory.lessons(of: "https://a", now: now).form == nil)
    #expect(memory.lessons(of: "", now: now).form == nil)
  }

  @Test("Origins are compared by their bytes, not as Unicode does")
  func bytes() throws {
    try memory.remember(.verifies(.md5), of: "https://e\u{301}", now: now)
    #expect(memory.lessons(of: "https://\u{E9}", now: now).form == nil)
    #expect(memory.lessons(of: "https://e\u{301}", now: now).form == .md5)
  }

  private static let broken: [String] = [
    "", "\n", "s3up stores 2\nhttps://a md5 1800000000\n", "https://a md5 1800000000\n", "s3up stores 1\nhttps://a md5",
    "s3up stores 1\nhttps://a sha999 1800000000", "s3up stores 1\nhttps://a md5 soon", "s3up stores 1\nhttps://a",
    "s3up stores 1\nhttps://a md5 99999999999999999999999", "\0\0\0", String(repeating: "x", count: 2 << 20),
    "s3up stores 1\nhttps://a md5 -9223372036854775808",
  ]

  @Test(
    "An incomplete, foreign or hostile file counts as none, and the next lesson replaces it",
    arguments: 0..<broken.count)
  func garbage(index: Int) throws {
    try directory.write(Self.broken[index], to: "a/state/stores")
    #expect(memory.lessons(of: "https://a", now: now).form == nil)
    try memory.remember(.verifies(.nothing), of: "https://a", now: now)
    #expect(memory.lessons(of: "https://a", now: now).form == ChecksumForm.nothing)
  }

  @Test("A file that is not text counts as none")
  func binary() throws {
    try directory.write(randomBytes(5000, seed: 9), to: "a/state/stores")
    #expect(memory.lessons(of: "https://a", now: now).form == nil)
  }

  @Test("The valid lines of a file with an incomplete end still count")
  func tornEnd() throws {
    try directory.write("s3up stores 1\nhttps://a md5 \(now.seconds)\nhttps://b md", to: "a/state/stores")
    #expect(memory.lessons(of: "https://a", now: now).form == .md5)
    #expect(memory.lessons(of: "https://b", now: now).form == nil)
  }

  @Test("An origin that would make another line of the file is not written")
  func injection() throws {
    try memory.remember(.verifies(.md5), of: "https://a none 1\nhttps://b", now: now)
    #expect(mode(folder + "/stores") == nil)
  }

  @Test("The file and the folders created for it are private to the owner")
  func modes() throws {
    try memory.remember(.verifies(.md5), of: "https://a", now: now)
    #expect(mode(folder + "/stores") == 0o600)
    #expect(mode(folder) == 0o700)
    #expect(mode(directory.path("a")) == 0o700)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["stores"])
  }

  @Test("An impossible folder is a local failure, and no file is left behind")
  func noFolder() throws {
    try directory.write("x", to: "file")
    for folder in [directory.path("file"), directory.path("file/below"), "/proc/nothing/here", ""] {
      let memory = StoreMemory(folder: folder)
      #expect(memory.lessons(of: "https://a", now: now).form == nil)
      let failure = #expect(throws: Failure.self) { try memory.remember(.verifies(.md5), of: "https://a", now: now) }
      #expect(failure?.code == .local)
      #expect(failure?.place.file != nil)
    }
    #expect(try directory.read("file") == Array("x".utf8))
  }

  @Test("If the file cannot be replaced, no temporary file is left")
  func notReplaceable() throws {
    try FileManager.default.createDirectory(atPath: folder + "/stores/in", withIntermediateDirectories: true)
    let failure = #expect(throws: Failure.self) { try memory.remember(.verifies(.md5), of: "https://a", now: now) }
    #expect(failure?.code == .local)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["stores"])
  }

  @Test("A link in the file's place is not followed, neither to read nor to write")
  func link() throws {
    let text = "s3up stores 1\nhttps://a md5 \(now.seconds)\n"
    let target = try directory.write(text, to: "elsewhere")
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    try FileManager.default.createSymbolicLink(atPath: folder + "/stores", withDestinationPath: target)
    #expect(memory.lessons(of: "https://a", now: now).form == nil)
    #expect(memory.lessons(of: "https://a", now: now).refusal?.place.file == folder + "/stores")
    try memory.remember(.verifies(.nothing), of: "https://a", now: now)
    #expect(try directory.read("elsewhere") == Array(text.utf8))
    #expect(memory.lessons(of: "https://a", now: now).form == ChecksumForm.nothing)
    #expect(mode(folder + "/stores") == 0o600)
  }

  @Test("A pipe in the file's place does not block a run")
  func pipe() throws {
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    #expect(mkfifo(folder + "/stores", 0o600) == 0)
    #expect(memory.lessons(of: "https://a", now: now).form == nil)
  }

  @Test("Concurrent writers leave a complete file")
  func together() async throws {
    let (memory, now) = (memory, now)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for index in 0..<16 {
        group.addTask { try memory.remember(.verifies(.md5), of: "https://store\(index)", now: now) }
      }
      try await group.waitForAll()
    }
    let found = try lines()
    #expect(found.first == "s3up stores 1")
    #expect(found.count > 1)
    #expect(found.dropFirst().allSatisfy { $0.hasSuffix(" md5 \(now.seconds)") })
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["stores"])
  }

  private func lines() throws -> [String] {
    String(decoding: try directory.read("a/state/stores"), as: UTF8.self).split(separator: "\n").map(String.init)
  }
}
