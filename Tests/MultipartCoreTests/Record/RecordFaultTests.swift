import Foundation
import Support
import Testing

@testable import MultipartCore

/// A small file system, mounted for one test (root only).
private struct SmallDisk {
  let path: String

  /// Mounts it while `body` runs, and unmounts it however that ends.
  static func with(_ path: String, _ body: (SmallDisk) async throws -> Void) async throws {
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    guard await run("mount", ["-t", "tmpfs", "-o", "size=64k", "none", path]) else { throw SystemError("mount", EPERM) }
    do {
      try await body(SmallDisk(path: path))
    } catch {
      _ = await run("umount", ["--lazy", path])
      throw error
    }
    _ = await run("umount", ["--lazy", path])
  }

  func makeReadOnly() async -> Bool { await Self.run("mount", ["-o", "remount,ro", path]) }

  /// Takes all the remaining space; removing the file frees it.
  func fill(_ name: String) {
    let file = open(path + "/" + name, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
    defer { close(file) }
    for size in [4096, 1] {
      let block = [UInt8](repeating: 0x78, count: size)
      while write(file, block, size) == size {}
    }
  }

  static func possible() async -> Bool {
    guard geteuid() == 0, let directory = try? TemporaryDirectory() else { return false }
    let done: Void? = try? await with(directory.path("disk")) { _ in }
    return done != nil
  }

  private static func run(_ program: String, _ arguments: [String]) async -> Bool {
    let environment = Programs.environment(home: "/nonexistent")
    return (try? await ChildProcess(Programs.find(program), arguments, environment: environment).wait().status) == 0
  }
}

@Suite(.timeLimit(.minutes(15))) struct RecordFaultTests {
  private let shelf: RecordShelf
  private let header = RecordSamples.header()
  private let target = RecordSamples.target

  init() throws { shelf = try RecordShelf() }

  private var book: RecordBook { shelf.book }

  @Test(
    "On a full disk a part is not recorded, earlier ones stay, and the next is recorded when there is space",
    .enabled("needs a mount", { await SmallDisk.possible() }))
  func fullDisk() async throws {
    try await SmallDisk.with(shelf.directory.path("state")) { try fill($0) }
  }

  private func fill(_ disk: SmallDisk) throws {
    let writer = try book.begin(header)
    var (number, failure): (Int, Failure?) = (0, nil)
    disk.fill("filler")
    while failure == nil, number < 1000 {
      number += 1
      do throws(Failure) {
        try writer.append(RecordSamples.part(number), now: .zero)
      } catch {
        failure = error
      }
    }
    #expect(failure?.code == .local)
    #expect(failure?.message.contains("No space left") == true)
    #expect(failure?.place.file?.hasSuffix(".record") == true)
    #expect(number > 1)
    #expect(try book.load(target) == RecordSamples.record(parts: number - 1))
    #expect(try shelf.bytes().last == 0x0A)
    #expect(throws: Failure.self) { try writer.append(RecordSamples.part(number), now: .zero) }
    #expect(throws: Failure.self) { try book.begin(RecordSamples.header(id: "no room")) }
    #expect(try book.load(target) == RecordSamples.record(parts: number - 1))
    #expect(try shelf.names() == [target.name() + ".record"])
    #expect(unlink(disk.path + "/filler") == 0)
    try writer.append(RecordSamples.part(number), now: .zero)
    #expect(try book.load(target) == RecordSamples.record(parts: number))
  }

  @Test(
    "In a read-only folder records can be read, and writing is a local failure",
    .enabled("needs a mount", { await SmallDisk.possible() }))
  func readOnly() async throws {
    try await SmallDisk.with(shelf.directory.path("state")) { try await onlyRead($0) }
  }

  private func onlyRead(_ disk: SmallDisk) async throws {
    // A file that is open for writing prevents remounting read-only.
    do { try book.begin(header).append(RecordSamples.part(1), now: .zero) }
    #expect(await disk.makeReadOnly())
    #expect(try book.load(target) == RecordSamples.record(parts: 1))
    #expect(try book.all().count == 1)
    let attempts: [() throws -> Void] = [
      { _ = try book.lock(target) }, { _ = try book.begin(header) },
      { _ = try book.resume(RecordSamples.record(parts: 1)) }, { try book.remove(target) },
      { _ = try RecordBook(folder: disk.path + "/below").begin(header) },
    ]
    for attempt in attempts {
      let failure = #expect(throws: Failure.self, performing: attempt)
      #expect(failure?.code == .local)
      #expect(failure?.message.contains("Read-only file system") == true)
    }
  }

  @Test("If an incomplete line cannot be cut off, nothing more is written after it")
  func broken() throws {
    _ = try book.begin(header)
    let folder = try #require(try RecordFolder.open(shelf.folder))
    // Every write to it is ENOSPC, and it cannot be truncated.
    let full = RecordFile(descriptor: open("/dev/full", O_WRONLY | O_CLOEXEC), path: "full")
    let writer = RecordWriter(folder, "full", full, length: 0, seed: 0)
    for _ in 0..<2 {
      let failure = #expect(throws: Failure.self) { try writer.append(RecordSamples.part(1), now: .zero) }
      #expect(failure?.code == .local)
      #expect(failure?.message.contains("No space left") == true)
    }
  }

  @Test("An impossible folder is a local failure, and nothing is written elsewhere")
  func noFolder() throws {
    try shelf.directory.write("x", to: "file")
    for folder in [shelf.directory.path("file"), shelf.directory.path("file/below"), "/proc/nothing/here", ""] {
      let book = RecordBook(folder: folder)
      for attempt in [{ _ = try book.lock(target) }, { _ = try book.begin(header) }] as [() throws -> Void] {
        let failure = #expect(throws: Failure.self, performing: attempt)
        #expect(failure?.code == .local)
      }
      #expect(book.lockHolder(target) == nil)
    }
    #expect(try shelf.directory.read("file") == Array("x".utf8))
    #expect(access("/uploads", F_OK) != 0)
  }

  @Test("A link, a pipe or a folder in place of a record or a lock is neither followed nor waited for")
  func planted() throws {
    let (bytes, _) = try RecordSamples.text(RecordSamples.record(parts: 1))
    let elsewhere = try shelf.directory.write(bytes, to: "elsewhere")
    chmod(elsewhere, 0o600)
    try FileManager.default.createDirectory(atPath: shelf.folder, withIntermediateDirectories: true)
    let plants: [(String) -> Bool] = [
      { symlink(elsewhere, $0) == 0 }, { mkfifo($0, 0o600) == 0 }, { mkdir($0, 0o700) == 0 },
    ]
    for (index, plant) in plants.enumerated() {
      for suffix in [".record", ".lock"] { #expect(plant(try shelf.path(suffix))) }
      for attempt in [{ _ = try book.load(target) }, { _ = try book.lock(target) }] as [() throws -> Void] {
        let failure = #expect(throws: Failure.self, performing: attempt)
        #expect(failure?.code == .configuration, "\(index)")
        #expect(failure?.message.contains("not a plain file") == true)
      }
      #expect(book.lockHolder(target) == nil)
      #expect(try book.listing().unusable.count == 1)
      for suffix in [".record", ".lock"] { #expect(remove(try shelf.path(suffix)) == 0) }
    }
    #expect(try shelf.directory.read("elsewhere") == bytes)
  }

  @Test("A link in place of a record is replaced by a new record, and its target stays")
  func linkReplaced() throws {
    let elsewhere = try shelf.directory.write("mine", to: "elsewhere")
    try FileManager.default.createDirectory(atPath: shelf.folder, withIntermediateDirectories: true)
    #expect(symlink(elsewhere, try shelf.path(".record")) == 0)
    _ = try book.begin(header)
    #expect(try book.load(target)?.header == header)
    #expect(try shelf.directory.read("elsewhere") == Array("mine".utf8))
  }

  @Test("A file that others can read is made private; one that they can write is not trusted")
  func tooOpen() throws {
    _ = try book.begin(header)
    let path = try shelf.path(".record")
    #expect(chmod(path, 0o644) == 0)
    #expect(try book.load(target)?.header == header)
    #expect(RecordShelf.mode(path) == 0o600)
    for mode in [0o620, 0o602] as [mode_t] {
      #expect(chmod(path, mode) == 0)
      let failure = #expect(throws: Failure.self) { try book.load(target) }
      #expect(failure?.code == .configuration)
      #expect(failure?.remedy != nil)
    }
    #expect(chmod(path, 0o600) == 0)
    #expect(chmod(shelf.folder, 0o755) == 0)
    #expect(try book.load(target)?.header == header)
    #expect(RecordShelf.mode(shelf.folder) == 0o755)
    for mode in [0o777, 0o775, 0o1777] as [mode_t] {
      #expect(chmod(shelf.folder, mode) == 0)
      let failure = #expect(throws: Failure.self) { try book.load(target) }
      #expect(failure?.code == .configuration && failure?.remedy?.settings == [.stateFolder])
      #expect(RecordShelf.mode(shelf.folder) == mode)
    }
  }

  @Test("A file or a folder of another user is not trusted", .enabled(if: geteuid() == 0, "needs root"))
  func foreign() throws {
    _ = try book.begin(header)
    for path in [try shelf.path(".record"), shelf.folder] {
      #expect(chown(path, 1, 1) == 0)
      let failure = #expect(throws: Failure.self) { try book.load(target) }
      #expect(failure?.code == .configuration)
      #expect(failure?.message.contains("another user") == true)
      #expect(chown(path, 0, 0) == 0)
    }
    #expect(try book.load(target)?.header == header)
  }

  @Test("Of a huge file only the length of the longest record is read")
  func huge() throws {
    let (bytes, _) = try RecordSamples.text(RecordSamples.record(parts: 2))
    try shelf.directory.write("", to: "state/uploads/x")
    let name = try target.name()
    let path = try shelf.directory.sparseFile(
      "state/uploads/\(name).record", size: 1 << 40, patches: [(0, bytes)])
    #expect(try book.load(target) == RecordSamples.record(parts: 2))
    #expect(try book.resume(RecordSamples.record(parts: 2)) as RecordWriter? != nil)
    #expect(RecordShelf.status(path)?.st_size == off_t(bytes.count))
  }
}
