import CKernels
import Foundation
import Glibc
import MultipartCore
import Testing

private let page = Int(sysconf(Int32(_SC_PAGESIZE)))

@Suite struct GuardTests {
  @Test("what lies before the cut is read, what lies behind it answers an error")
  func cutInTheMiddle() throws {
    let bytes = pattern(8 * page)
    let file = try MappedFile(bytes)
    var into = [UInt8](repeating: 0, count: bytes.count)
    #expect(ck_guarded_read(&into, file.start, file.length) == 0)
    #expect(into == bytes)
    try file.cut(to: 3 * page)
    for _ in 0..<3 {
      #expect(ck_guarded_read(&into, file.start, 3 * page) == 0)
      #expect(ck_guarded_read(&into, file.start, 3 * page + 1) == -1)
      #expect(ck_guarded_read(&into, file.start + 5 * page, 1) == -1)
      #expect(ck_guarded_read(&into, file.start + 5 * page, 0) == 0)
    }
  }

  @Test("a guarded sum is the sum, and stays what it was when a page is gone")
  func guardedSums() throws {
    let bytes = pattern(4 * page)
    let file = try MappedFile(bytes)
    var (narrow, castagnoli, wide): (UInt32, UInt32, UInt64) = (0, 0, 0)
    #expect(ck_guarded_crc32(&narrow, file.start, file.length) == 0)
    #expect(ck_guarded_crc32c(&castagnoli, file.start, file.length) == 0)
    #expect(ck_guarded_crc64nvme(&wide, file.start, file.length) == 0)
    #expect(narrow == ck_crc32_portable(0, bytes, bytes.count))
    #expect(castagnoli == ck_crc32c_portable(0, bytes, bytes.count))
    #expect(wide == ck_crc64nvme_portable(0, bytes, bytes.count))
    try file.cut(to: 2 * page)
    let before = (narrow, castagnoli, wide)
    #expect(ck_guarded_crc32(&narrow, file.start, file.length) == -1)
    #expect(ck_guarded_crc32c(&castagnoli, file.start, file.length) == -1)
    #expect(ck_guarded_crc64nvme(&wide, file.start, file.length) == -1)
    #expect(before == (narrow, castagnoli, wide))
  }

  @Test("threads that fault and threads that read at the same time do not meet")
  func manyThreads() throws {
    let whole = try MappedFile(pattern(64 * page))
    let cut = try MappedFile(pattern(64 * page))
    try cut.cut(to: 32 * page)
    let wrong = Counter()
    onThreads(8) { thread in
      var into = [UInt8](repeating: 0, count: 64 * page)
      for _ in 0..<200 {
        let file = thread % 2 == 0 ? whole : cut
        let answer = ck_guarded_read(&into, file.start, file.length)
        if answer != (thread % 2 == 0 ? 0 : -1) { wrong.increase() }
      }
    }
    #expect(wrong.value == 0)
  }

  @Test("a thread that was started with every signal blocked is guarded too")
  func everySignalBlocked() throws {
    let file = try MappedFile(pattern(2 * page))
    try file.cut(to: page)
    let failed = Counter()
    onThreads(1) { _ in
      var all = sigset_t()
      sigfillset(&all)
      pthread_sigmask(SIG_BLOCK, &all, nil)
      var byte: UInt8 = 0
      if ck_guarded_read(&byte, file.start + page, 1) == -1 { failed.increase() }
    }
    #expect(failed.value == 1)
  }

  @Test("a fault leaves the thread's signal mask as it was")
  func maskStays() throws {
    let file = try MappedFile(pattern(2 * page))
    try file.cut(to: page)
    let held = Counter()
    onThreads(1) { _ in
      var byte: UInt8 = 0
      // The first guarded read unblocks SIGBUS.
      guard ck_guarded_read(&byte, file.start, 1) == 0 else { return }
      let before = blockedSignals()
      guard ck_guarded_read(&byte, file.start + page, 1) == -1 else { return }
      if blockedSignals() == before && !before.contains(SIGBUS) { held.increase() }
    }
    #expect(held.value == 1)
  }

  @Test("a fault outside a guarded read still kills the process")
  func unguardedFaultKills() async {
    await #expect(processExitsWith: .signal(SIGBUS)) {
      let file = try MappedFile(pattern(2 * page))
      try file.cut(to: page)
      signal(SIGBUS, SIG_DFL)
      var byte: UInt8 = 0
      guard ck_guarded_read(&byte, file.start + page, 1) == -1 else { return }
      exit(Int32(file.start.load(fromByteOffset: page, as: UInt8.self)))
    }
  }

  @Test("a SIGBUS that somebody sends still kills the process")
  func sentSignalKills() async {
    await #expect(processExitsWith: .signal(SIGBUS)) {
      signal(SIGBUS, SIG_DFL)
      let bytes: [UInt8] = [1]
      var byte: UInt8 = 0
      guard ck_guarded_read(&byte, bytes, 1) == 0 else { return }
      raise(SIGBUS)
    }
  }

  @Test("a handler that was there before gets the faults that are not ours")
  func earlierHandler() async {
    await #expect(processExitsWith: .exitCode(7)) {
      let file = try MappedFile(pattern(2 * page))
      try file.cut(to: page)
      signal(SIGBUS) { _ in _exit(7) }
      var byte: UInt8 = 0
      guard ck_guarded_read(&byte, file.start + page, 1) == -1 else { return }
      exit(Int32(file.start.load(fromByteOffset: page, as: UInt8.self)))
    }
  }
}

/// Counts from several threads under its lock.
private final class Counter: @unchecked Sendable {
  private let lock = NSLock()
  private var count = 0

  var value: Int { lock.withLock { count } }
  func increase() { lock.withLock { count += 1 } }
}

private func blockedSignals() -> [Int32] {
  var mask = sigset_t()
  pthread_sigmask(SIG_BLOCK, nil, &mask)
  return (1..<64).filter { sigismember(&mask, $0) == 1 }
}

private func onThreads(_ count: Int, _ work: @escaping @Sendable (Int) -> Void) {
  let group = DispatchGroup()
  for number in 0..<count {
    group.enter()
    Thread {
      work(number)
      group.leave()
    }.start()
  }
  group.wait()
}
