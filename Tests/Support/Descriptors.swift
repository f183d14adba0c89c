import Foundation

/// Makes `socket` close at exec and never block.
func tame(_ descriptor: Int32) {
  _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
  _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
}

/// Accepts a connection that closes at exec from the beginning (`accept4`, which Glibc's module lacks): a command that
/// another test starts at that moment must not keep it open.
package func accepted(on listener: Int32) -> Int32 {
  typealias Accept =
    @convention(c) (Int32, UnsafeMutablePointer<sockaddr>?, UnsafeMutablePointer<socklen_t>?, Int32) -> Int32
  guard let found = dlsym(nil, "accept4") else { return -1 }
  return unsafeBitCast(found, to: Accept.self)(listener, nil, nil, Int32(SOCK_CLOEXEC.rawValue))
}

/// Makes a pipe whose ends close at exec.
func makePipe() throws -> (read: Int32, write: Int32) {
  var ends: [Int32] = [-1, -1]
  guard pipe(&ends) == 0 else { throw SystemError("pipe") }
  for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
  return (ends[0], ends[1])
}
