import Foundation
import MultipartBasics
import Support
import Testing

@testable import MultipartCore

@Suite(.timeLimit(.minutes(15))) struct RecordLockTests {
  private let shelf: RecordShelf
  private let target = RecordSamples.target

  init() throws { shelf = try RecordShelf() }

  private var book: RecordBook { shelf.book }

  @Test("While one run holds a destination's lock, no other gets it")
  func exclusive() throws {
    let lock = try #require(try book.lock(target))
    #expect(try book.lock(target) == nil)
    #expect(book.lockHolder(target) == getpid())
    let other = try #require(try book.lock(RecordTarget(origin: "https://a", bucket: "b", key: "k")))
    lock.release()
    let again = try #require(try book.lock(target))
    // Only the holder can release it.
    lock.release()
    #expect(try book.lock(target) == nil)
    again.release()
    other.release()
    #expect(try shelf.names() == [])
  }

  @Test("Whether a destination is locked is not told by the noted process, and asking locks no run out")
  func asked() async throws {
    #expect(!book.isLocked(target))
    try shelf.directory.write("\(getpid())\n", to: "state/uploads/\(target.name()).lock")
    chmod(try shelf.path(".lock"), 0o600)
    #expect(book.lockHolder(target) == getpid() && !book.isLocked(target))
    let isDone = Locked(false)
    async let asking: Void = Self.ask(book, target, isDone)
    for _ in 0..<200 {
      let lock = try #require(try book.lock(target))
      #expect(book.isLocked(target))
      lock.release()
    }
    isDone.withLock { $0 = true }
    await asking
  }

  @Test("A run waits for one that only asks, and for no other")
  func waits() throws {
    try shelf.directory.write("", to: "state/uploads/\(target.name()).lock")
    chmod(try shelf.path(".lock"), 0o600)
    let asking = open(try shelf.path(".lock"), O_RDONLY | O_CLOEXEC)
    #expect(flock(asking, LOCK_SH | LOCK_NB) == 0)
    // A thread of its own: tasks of other tests may keep this one waiting.
    let end = try PosixThread.start {
      usleep(20_000)
      close(asking)
    }
    defer { end.join() }
    let lock = try #require(try book.lock(target))
    #expect(book.isLocked(target))
    #expect(try book.lock(target) == nil)
    lock.release()
  }

  private static func ask(_ book: RecordBook, _ target: RecordTarget, _ isDone: Locked<Bool>) async {
    while !isDone.withLock({ $0 }) {
      _ = book.isLocked(target)
      await Task.yield()
    }
  }

  @Test("A lock without a reference is released")
  func forgotten() throws {
    do {
      let lock = try book.lock(target)
      #expect(lock != nil)
    }
    let lock = try book.lock(target)
    #expect(lock != nil)
    lock?.release()
  }

  @Test("Another process does not get the lock while this one has it")
  func acrossProcesses() async throws {
    let lock = try #require(try book.lock(target))
    let path = try shelf.path(".lock")
    let arguments = ["--nonblock", "--conflict-exit-code", "7", path, "true"]
    let environment = Programs.environment(home: shelf.directory.path)
    let flock = try Programs.find("flock")
    #expect(try await ChildProcess(flock, arguments, environment: environment).wait().status == 7)
    lock.release()
    #expect(try await ChildProcess(flock, arguments, environment: environment).wait().status == 0)
  }

  @Test("The lock of a killed process is free at once, and no holder is reported")
  func killed() async throws {
    let environment = Programs.environment(home: shelf.directory.path)
    let path = try shelf.directory.write("", to: "state/uploads/\(target.name()).lock")
    chmod(path, 0o600)
    let child = try ChildProcess(
      Programs.find("flock"), ["--no-fork", path, "sh", "-c", "echo $$ >\"$0\"; echo; exec cat", path],
      environment: environment, input: .open)
    // Its first output means that it has the lock.
    try await until("flock has the lock") { !child.stdout.isEmpty || child.ended }
    #expect(try book.lock(target) == nil)
    #expect(book.lockHolder(target) == child.pid)
    child.signal(SIGKILL)
    #expect(await child.wait().signal == SIGKILL)
    #expect(book.lockHolder(target) == nil)
    let lock = try #require(try book.lock(target))
    lock.release()
  }

  @Test("A lock whose file was deleted locks nobody out, and releasing it deletes no other file")
  func unlinked() throws {
    let first = try #require(try book.lock(target))
    #expect(unlink(try shelf.path(".lock")) == 0)
    let second = try #require(try book.lock(target))
    first.release()
    #expect(try book.lock(target) == nil)
    second.release()
  }

  @Test("A lock file that is deleted between our open and flock does not count as the lock")
  func lostName() throws {
    let first = try #require(try book.lock(target))
    let folder = try #require(try RecordFolder.open(shelf.folder))
    let name = try target.name() + ".lock"
    let opened = try #require(try folder.file(name, O_RDWR))
    #expect(try RecordLock.claim(opened, folder, name) == .busy)
    first.release()
    #expect(try RecordLock.claim(opened, folder, name) == .nameless)
    let next = try #require(try book.lock(target))
    #expect(try RecordLock.claim(opened, folder, name) == .nameless)
    next.release()
  }

  @Test("However many take and release it at once, there is never more than one holder")
  func crowd() async throws {
    let (book, target) = (book, target)
    let holders = Locked(0)
    let times = Locked(0)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<8 {
        group.addTask {
          for _ in 0..<300 {
            guard let lock = try book.lock(target) else { continue }
            times.withLock { $0 += 1 }
            #expect(
              holders.withLock { holders in
                holders += 1
                return holders
              } == 1)
            sched_yield()
            holders.withLock { $0 -= 1 }
            lock.release()
          }
        }
      }
      try await group.waitForAll()
    }
    #expect(times.withLock { $0 } > 0)
    #expect(try shelf.names() == [])
  }

  @Test("A process id in a lock file counts only if that process exists")
  func nobody() throws {
    #expect(book.lockHolder(target) == nil)
    for text in ["", "12", "-1\n", "0\n", "x\n", "99999999999999\n", "2147483647\n"] {
      let path = try shelf.directory.write(text, to: "state/uploads/\(target.name()).lock")
      chmod(path, 0o600)
      #expect(book.lockHolder(target) == nil, "\(text)")
    }
  }
}
