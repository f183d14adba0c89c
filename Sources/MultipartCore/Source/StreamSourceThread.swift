import Glibc

/// A thread with a body that runs once. `pthread_create`, `pthread_join`, `pthread_detach`: one of the last two is
/// called, once.
struct StreamThread: Sendable {
  private let handle: pthread_t

  /// The thread takes over the one reference to its body.
  static func start(_ body: @escaping @Sendable () -> Void) throws(Failure) -> StreamThread {
    let box = Unmanaged.passRetained(ThreadBody(body))
    var handle = pthread_t()
    // Signals belong to the process's other threads, but for those that are about this one: faults, and SIGTTIN, which
    // stops a job in the background that reads the terminal; blocked, it would turn into a read error.
    var blocked = sigset_t()
    var before = sigset_t()
    sigfillset(&blocked)
    for signal in [SIGBUS, SIGSEGV, SIGILL, SIGFPE, SIGTTIN] { sigdelset(&blocked, signal) }
    pthread_sigmask(SIG_SETMASK, &blocked, &before)
    defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
    let status = pthread_create(
      &handle, nil,
      { context in
        guard let context else { return nil }
        Unmanaged<ThreadBody>.fromOpaque(context).takeRetainedValue().run()
        return nil
      }, box.toOpaque())
    guard status == 0 else {
      box.release()
      throw Failure(.local, "no thread could be started: " + String(cString: strerror(status)))
    }
    return StreamThread(handle: handle)
  }

  func join() { pthread_join(handle, nil) }
  func detach() { pthread_detach(handle) }
}

private final class ThreadBody {
  let run: @Sendable () -> Void
  init(_ run: @escaping @Sendable () -> Void) { self.run = run }
}

/// A pipe of one thread's own, in which a byte from any other thread ends its `poll`. Owns both ends.
///
/// Sendable, because the ends never change and live as long as whoever can call.
final class StreamBell: Sendable {
  let reading: Int32
  private let writing: Int32

  init() throws(Failure) {
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else {
      throw Failure(.local, "no pipe could be made: " + String(cString: strerror(errno)))
    }
    for end in ends {
      _ = fcntl(end, F_SETFD, FD_CLOEXEC)
      _ = fcntl(end, F_SETFL, O_NONBLOCK)
    }
    (reading, writing) = (ends[0], ends[1])
  }

  deinit {
    close(reading)
    close(writing)
  }

  /// A full pipe refuses the byte, and rings all the same.
  func ring() {
    var byte: UInt8 = 1
    _ = write(writing, &byte, 1)
  }

  func silence() {
    var bytes: UInt64 = 0
    while read(reading, &bytes, 8) > 0 {}
  }
}
