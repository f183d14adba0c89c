import CKernels
import Foundation
import Support
import Testing

@testable import MultipartCore

/// Mapped ranges of files whose pages may be missing when they are read.
@Suite(.timeLimit(.minutes(10))) struct FileWindowTests {
  private static let page = 4096

  private let folder: TemporaryDirectory

  init() throws { folder = try TemporaryDirectory() }

  private func source(_ size: Int, seed: UInt64 = 1) throws -> (file: SourceFile, path: String, bytes: [UInt8]) {
    let bytes = randomBytes(size, seed: seed)
    let path = try folder.write(bytes, to: "file\(seed)")
    return (try SourceFile(FilePath(path)), path, bytes)
  }

  private static func code(_ body: () throws -> Void) -> Failure.Code? {
    do { try body() } catch { return (error as? Failure)?.code }
    return nil
  }

  @Test("A window has the file's bytes, wherever it begins", arguments: [0..<1, 1..<9000, 4095..<4097, 8192..<100_000])
  func holds(range: Range<Int>) throws {
    let (file, _, bytes) = try source(100_000)
    let window = try FileWindow(Int64(range.lowerBound)..<Int64(range.upperBound), of: file)
    #expect(Array(window.bytes(at: Int64(range.lowerBound), .max / 2)) == Array(bytes[range]))
    #expect(Array(window.bytes(at: Int64(range.upperBound) - 1, 5)) == [bytes[range.upperBound - 1]])
    try window.check()
  }

  @Test(
    "Pages that the file no longer has are zeros and an error; those before them stay as they are", arguments: [0, 3])
  func cut(pages: Int) throws {
    let (file, path, bytes) = try source(10 * Self.page)
    let window = try FileWindow(0..<file.size, of: file)
    let (other, _, others) = try source(10 * Self.page, seed: 2)
    let neighbour = try FileWindow(0..<other.size, of: other)
    try resize(path, pages * Self.page)
    let seen = Array(window.bytes(at: 0, Int(file.size)))
    #expect(seen[..<(pages * Self.page)] == bytes[..<(pages * Self.page)])
    #expect(seen[(pages * Self.page)...].allSatisfy { $0 == 0 })
    #expect(Self.code { try window.check() } == .sourceChanged)
    #expect(Array(neighbour.bytes(at: 0, Int(other.size))) == others)
    try neighbour.check()
    // The file has its length again, but these bytes were never seen.
    try resize(path, 10 * Self.page)
    #expect(Self.code { try window.check() } != nil)
    try FileWindow(0..<file.size, of: file).check()
  }

  @Test("If only the kernel reads a missing page, that leaves no trace until the page is checked")
  func onlyTheKernel() throws {
    let (file, path, _) = try source(4 * Self.page)
    let slice = PartSlice(file: file, offset: 0, length: file.size)
    let piece = try #require(try slice.lend(3 * Self.page, at: 0))
    try resize(path, Self.page)
    var ends: [Int32] = [-1, -1]
    try #require(pipe(&ends) == 0)
    defer { for end in ends { close(end) } }
    #expect(write(ends[1], piece.bytes.baseAddress?.advanced(by: Self.page), 10) == -1 && errno == EFAULT)
    try piece.window.check()
    #expect(Self.code { try piece.check() } == .sourceChanged)
  }

  @Test("Many threads that meet missing pages at once all continue")
  func atOnce() async throws {
    let (file, path, _) = try source(64 * Self.page)
    let windows = try (0..<16).map { _ in try FileWindow(0..<file.size, of: file) }
    try resize(path, 5)
    let codes = await withTaskGroup(of: Failure.Code?.self) { group in
      for window in windows + windows {
        group.addTask {
          var sum = 0
          for byte in window.bytes(at: 0, 64 * Self.page).reversed() { sum += Int(byte) }
          return sum >= 0 ? Self.code { try window.check() } : nil
        }
      }
      return await group.reduce(into: []) { $0.append($1) }
    }
    #expect(codes == Array(repeating: .sourceChanged, count: 32))
  }

  @Test("Windows that wait to be sent give up their pages to later ones")
  func oneBudget() throws {
    let mebi = Int64(1 << 20)
    let (file, path, _) = try source(Int(8 * mebi))
    func read() throws -> FileWindow {
      let window = try Self.read(FileWindow(0..<file.size, of: file))
      window.release(before: file.size - 1)
      return window
    }
    let waiting = try (0..<6).map { _ in try read() }
    #expect(try Self.resident(path) > 0)
    let later = try (0..<40).map { _ in try read() }
    let mapped = try Self.resident(path)
    #expect(mapped < 24 * mebi, "\(mapped / mebi) MiB")
    for window in waiting + later { try window.check() }
  }

  @Test("No access maps more than 512 KiB of a window that does not keep its pages")
  func divided() throws {
    let (file, path, bytes) = try source(8 << 20)
    let windows = try (0..<40).map { _ in try FileWindow(0..<file.size, of: file) }
    let sizes = try Self.mappings(path).map(\.size)
    #expect(sizes.allSatisfy { $0 <= 512 << 10 } && sizes.count == 40 * 16, "\(sizes.count)")
    let last = try #require(windows.last)
    #expect(Array(last.bytes(at: 0, .max / 2)) == bytes)
    for window in windows { try window.check() }
  }

  private static func read(_ window: FileWindow) -> FileWindow {
    var sum = 0
    let bytes = window.bytes(at: 0, .max / 2)
    for place in stride(from: 0, to: bytes.count, by: page) { sum += Int(bytes[place]) }
    precondition(sum >= 0)
    return window
  }

  private static func resident(_ path: String) throws -> Int64 { try mappings(path).map(\.resident).reduce(0, +) }

  /// This process's mappings of a file, and how much of each is in memory.
  private static func mappings(_ path: String) throws -> [(size: Int64, resident: Int64)] {
    var ofFile = false
    var all: [(size: Int64, resident: Int64)] = []
    // A file handle is used because whole-file reads take a file of /proc for shorter than it is.
    let table = try FileHandle(forReadingFrom: URL(fileURLWithPath: "/proc/self/smaps")).readToEnd() ?? Data()
    for line in String(decoding: table, as: UTF8.self).split(separator: "\n") {
      let words = line.split(separator: " ")
      if words[0].contains("-") { ofFile = line.hasSuffix(path) }
      guard ofFile, words.count > 1, let size = Int64(words[1]) else { continue }
      if words[0] == "Size:" { all.append((size << 10, 0)) }
      if words[0] == "Rss:" { all[all.count - 1].resident = size << 10 }
    }
    return all
  }

  @Test("If no more mappings can be guarded, the bytes are read instead")
  func noneLeft() async throws {
    await #expect(processExitsWith: .success) {
      let page = mmap(nil, Self.page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
      while ck_guard_begin(page, Self.page) >= 0 {}
      let folder = try TemporaryDirectory()
      let bytes = randomBytes(3_000_017, seed: 4)
      let path = try folder.write(bytes, to: "file")
      let slice = PartSlice(file: try SourceFile(FilePath(path)), offset: 3, length: 3_000_000)
      guard try slice.readAll(step: 70_000) == Array(bytes[3..<3_000_003]) else { exit(1) }
      guard try slice.checksums([.md5])[.md5]?.bytes == Digest.md5(Array(bytes[3..<3_000_003])) else { exit(2) }
      try resize(path, 100)
      let failure = #expect(throws: Failure.self) {
        try PartSlice(file: slice.file, offset: 0, length: 90_000).readAll(step: 9)
      }
      guard failure?.code == .sourceChanged else { exit(3) }
    }
  }

  @Test("A file that cannot be mapped is read", arguments: ["/sys/kernel/notes", "/sys/kernel/btf/vmlinux"])
  func unmappable(path: String) throws {
    guard let known = FileManager.default.contents(atPath: path), let file = try? SourceFile(FilePath(path)),
      !file.canBeMapped
    else { return }
    let slice = PartSlice(file: file, offset: 0, length: file.size)
    #expect(try slice.readAll(step: 100_000) == Array(known))
    #expect(try slice.checksums([.md5])[.md5]?.bytes == Digest.md5(Array(known)))
  }

  @Test("A thread that was started with all signals blocked continues after missing pages")
  func blocked() async {
    await #expect(processExitsWith: .success) {
      var all = sigset_t()
      sigfillset(&all)
      pthread_sigmask(SIG_SETMASK, &all, nil)
      let window = try Self.guarded()
      guard Self.code({ try window.check() }) == .sourceChanged else { exit(1) }
    }
  }

  @Test("A SIGBUS elsewhere still ends the process")
  func elsewhere() async {
    await #expect(processExitsWith: .signal(SIGBUS)) {
      _ = try Self.faultOutside()
    }
    await #expect(processExitsWith: .signal(SIGBUS)) {
      _ = try Self.guarded()
      kill(getpid(), SIGBUS)
      sleep(20)
    }
  }

  @Test("A handler of SIGBUS that was installed before gets the faults elsewhere, and none of ours")
  func handedOn() async {
    await #expect(processExitsWith: .exitCode(7)) {
      var handler = sigaction()
      handler.__sigaction_handler.sa_handler = { _ in _exit(7) }
      sigaction(SIGBUS, &handler, nil)
      _ = try Self.faultOutside()
    }
  }

  /// A window whose missing pages have been read.
  private static func guarded() throws -> FileWindow {
    let folder = try TemporaryDirectory()
    let path = try folder.write(randomBytes(3 * page, seed: 5), to: "file")
    let file = try SourceFile(FilePath(path))
    let window = try FileWindow(0..<file.size, of: file)
    try resize(path, 0)
    guard window.bytes(at: 0, 3 * page).allSatisfy({ $0 == 0 }) else { exit(9) }
    return window
  }

  private static func faultOutside() throws -> UInt8 {
    let window = try guarded()
    let folder = try TemporaryDirectory()
    let descriptor = open(try folder.write([], to: "empty"), O_RDONLY)
    let start = mmap(nil, page, PROT_READ, MAP_SHARED, descriptor, 0)
    defer { withExtendedLifetime(window) {} }
    return start?.load(as: UInt8.self) ?? 0
  }
}
