import Glibc
import MultipartBasics

/// The write end of a stream that this process produces: a socket pair, whose other end is read like any stream. A
/// writer that is faster than the upload has to wait, so memory stays bounded.
final class StreamFeed: Sendable {
  private let writing: Int32
  private let world: World

  /// Creates the pair (`socketpair`); the caller owns the read end.
  static func open(_ world: World) throws(Failure) -> (feed: StreamFeed, reading: Int32) {
    var ends: [Int32] = [-1, -1]
    guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0, &ends) == 0 else {
      throw Failure.system(.local, errno, "no socket pair could be created")
    }
    return (StreamFeed(ends[1], world), ends[0])
  }

  private init(_ writing: Int32, _ world: World) {
    self.writing = writing
    self.world = world
  }

  deinit { close(writing) }

  /// Returns once everything is in the socket's buffer. Waiting for space blocks no thread, because tasks have only a few.
  func write(_ bytes: [UInt8]) async throws(Failure) {
    var sent = 0
    var pause = Duration.milliseconds(1)
    while sent < bytes.count {
      let count = bytes.withUnsafeBytes { all in
        // MSG_NOSIGNAL: if the reader is gone, this is an error instead of SIGPIPE.
        send(writing, all.baseAddress?.advanced(by: sent), all.count - sent, Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL))
      }
      if count > 0 {
        sent += count
        pause = .milliseconds(1)
        continue
      }
      let error = errno
      if error == EINTR { continue }
      guard error == EAGAIN else { throw Failure(.interrupted, "the upload no longer reads its stream") }
      do {
        try await world.sleep(pause)
      } catch {
        throw Failure.interrupted
      }
      pause = min(pause * 2, .milliseconds(20))
    }
  }
}

/// Runs the code that produces a stream within this process. When it returns or throws, the stream ends; only then is
/// it known whether it may be published.
final class StreamFeeder: Sendable {
  private let work: Task<Failure?, Never>

  init(_ feed: consuming StreamFeed, _ fill: @escaping @Sendable (StreamFeed) async throws -> Void) {
    let held = Locked<StreamFeed?>(feed)
    work = Task {
      let feed = held.withLock { held in
        defer { held = nil }
        return held
      }
      guard let feed else { return nil }
      do {
        try await fill(feed)
        return nil
      } catch let failure as Failure {
        return failure
      } catch {
        return Failure(.sourceMissing, "the stream ended with an error: \(type(of: error))")
      }
    }
  }

  func wait() async -> Failure? { await work.value }

  func stop() { work.cancel() }
}
