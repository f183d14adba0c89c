import CDispatch
import Foundation

/// A thread that can be joined. Signals are blocked in it: a write to a closed pipe or socket answers EPIPE there instead
/// of ending the test process, and the process's signals go to the threads that wait for them. Faults are not: threads of
/// Swift's pool that it happens to start inherit its mask, and a SIGBUS that is blocked ends the process at once.
///
/// Sendable because `handle` is written once, before `start` returns.
package final class PosixThread: @unchecked Sendable {
  private let handle: pthread_t

  private init(handle: pthread_t) {
    self.handle = handle
  }

  package static func start(_ body: @escaping @Sendable () -> Void) throws -> PosixThread {
    var attributes = pthread_attr_t()
    pthread_attr_init(&attributes)
    defer { pthread_attr_destroy(&attributes) }
    pthread_attr_setstacksize(&attributes, 1 << 20)
    let box = Unmanaged.passRetained(Body(body))
    var handle = pthread_t()
    let code = pthread_create(
      &handle, &attributes,
      { argument in
        var blocked = sigset_t()
        sigfillset(&blocked)
        for signal in [SIGBUS, SIGSEGV, SIGILL, SIGFPE] { sigdelset(&blocked, signal) }
        pthread_sigmask(SIG_SETMASK, &blocked, nil)
        if let argument { Unmanaged<Body>.fromOpaque(argument).takeRetainedValue().run() }
        return nil
      }, box.toOpaque())
    guard code == 0 else {
      box.release()
      throw SystemError("pthread_create", code)
    }
    return PosixThread(handle: handle)
  }

  /// Waits for the thread's end; either this or `detach` is called, once.
  package func join() {
    pthread_join(handle, nil)
  }

  /// Lets the thread run without a wait for it; the system frees it at its end.
  package func detach() {
    pthread_detach(handle)
  }

  private final class Body {
    let run: @Sendable () -> Void
    init(_ run: @escaping @Sendable () -> Void) { self.run = run }
  }
}

/// A system call that failed in the tests' own tools.
package struct SystemError: Error, CustomStringConvertible {
  package let call: String
  package let code: Int32

  package init(_ call: String, _ code: Int32 = errno) {
    self.call = call
    self.code = code
  }

  package var description: String { "\(call): \(String(cString: strerror(code)))" }
}
