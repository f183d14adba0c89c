import CDispatch
import Foundation

/// A separate network for a test, with a loopback and the requested addresses: there 169.254.169.254 belongs to the test.
/// Code on a thread inside, and the sockets and programs that this thread creates, belong to it permanently.
///
///     let net = try NetworkNamespace(addresses: ["169.254.169.254/32"])
///     let imds = try net.run { try MetadataServer(script, address: "169.254.169.254", port: 80) }
package final class NetworkNamespace: Sendable {
  private let descriptor: Int32

  /// Calls `unshare`, then `ip` for the loopback.
  package init(addresses: [String] = []) throws {
    descriptor = try Self.onThread {
      let unshare: @convention(c) (Int32) -> Int32 = try Self.symbol("unshare")
      guard unshare(Self.newNetwork) == 0 else { throw SystemError("unshare") }
      let made = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC)
      guard made >= 0 else { throw SystemError("open /proc/thread-self/ns/net") }
      for words in [["link", "set", "lo", "up"]] + addresses.map({ ["addr", "add", $0, "dev", "lo"] }) {
        guard try Self.ip(words) else {
          close(made)
          throw SystemError("ip " + words.joined(separator: " "), EPERM)
        }
      }
      return made
    }
  }

  deinit { close(descriptor) }

  /// Runs `body` on a thread inside, to its end.
  package func run<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) throws -> Value {
    let descriptor = descriptor
    return try Self.onThread {
      let setns: @convention(c) (Int32, Int32) -> Int32 = try Self.symbol("setns")
      guard setns(descriptor, Self.newNetwork) == 0 else { throw SystemError("setns") }
      return try body()
    }
  }

  /// An address at which packets vanish: a listener with a full queue drops new connections. Keep a reference to it.
  package func hole(_ address: String, port: UInt16) throws -> Hole {
    try run { try Hole(address, port) }
  }

  package final class Hole: Sendable {
    private let sockets: [Int32]

    fileprivate init(_ address: String, _ port: UInt16) throws {
      var place = sockaddr_in()
      place.sin_family = sa_family_t(AF_INET)
      place.sin_port = port.bigEndian
      inet_pton(AF_INET, address, &place.sin_addr)
      let size = socklen_t(MemoryLayout<sockaddr_in>.size)
      let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
      // The listener, and as many clients as fill a queue of length 0.
      let sockets = (0..<4).map { _ in socket(AF_INET, type, 0) }
      self.sockets = sockets
      let ready = withUnsafePointer(to: &place) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
          guard bind(sockets[0], generic, size) == 0, listen(sockets[0], 0) == 0 else { return false }
          for client in sockets.dropFirst() { _ = connect(client, generic, size) }
          return true
        }
      }
      guard ready else { throw SystemError("bind \(address)") }
    }

    deinit { for socket in sockets { close(socket) } }
  }

  /// Why no namespace is possible here; nil if it is.
  package static let obstacle: String? = {
    do {
      _ = try NetworkNamespace(addresses: ["169.254.169.254/32"])
      return nil
    } catch {
      return "no network namespace can be made here: \(error)"
    }
  }()

  private static let newNetwork: Int32 = 0x4000_0000

  private static func ip(_ words: [String]) throws -> Bool {
    let pid = try Spawn.run(
      try Programs.find("ip"), words, environment: Programs.environment(home: "/nonexistent"), directory: nil,
      streams: [])
    var status: Int32 = 0
    while waitpid(pid, &status, 0) < 0, errno == EINTR {}
    return status == 0
  }

  private static func onThread<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) throws -> Value {
    let result = Guarded<Result<Value, any Error>?>(nil)
    try PosixThread.start {
      let made = Result { try body() }
      result.with { $0 = made }
    }.join()
    guard let made = result.with({ $0 }) else { throw SystemError("pthread_create") }
    return try made.get()
  }

  private static func symbol<Function>(_ name: String) throws -> Function {
    guard let found = dlsym(nil, name) else { throw SystemError(name, ENOSYS) }
    return unsafeBitCast(found, to: Function.self)
  }
}
