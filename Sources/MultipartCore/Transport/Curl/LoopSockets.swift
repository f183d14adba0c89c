internal import CCurl
internal import CKernels
import Glibc

/// The two ends of a connection in libcurl's notation.
struct ConnectionEnds: Equatable {
  var local: String
  var localPort: Int32
  var peer: String
  var peerPort: Int32
}

/// The totals of all connections, including closed ones.
private struct LineFlow {
  private var open: [Int32: ck_line] = [:]
  private var ended = ck_line()
  private var at: Duration?
  /// The estimated number of segments that were lost on their way here.
  private(set) var missed = 0.0

  /// A reused descriptor number is a different connection.
  mutating func begins(_ socket: Int32) {
    if let last = open.removeValue(forKey: socket) { ended.add(last) }
  }

  mutating func take(_ seen: [Int32: ck_line], at now: Duration) -> ck_line {
    let passed = now - (at ?? now)
    at = now
    for (socket, line) in seen { missed += line.missed(since: open[socket] ?? ck_line(), in: passed) }
    open.merge(seen) { $1 }
    return open.values.reduce(into: ended) { $0.add($1) }
  }
}

extension ck_line {
  /// Reads `TCP_INFO`; nil if there is none.
  static func read(_ socket: Int32) -> ck_line? {
    var line = ck_line()
    return ck_line_read(socket, &line) == 0 ? line : nil
  }

  /// An estimate of the segments that were lost on their way here. A receiver is not told of losses, but until the lost
  /// segment arrives, a round trip later, all others are out of order: so as many were lost as there were round trips
  /// with segments out of order.
  func missed(since last: ck_line, in time: Duration) -> Double {
    guard incoming > last.incoming, out_of_order > last.out_of_order, round_trip > 0 else { return 0 }
    let share = Double(out_of_order - last.out_of_order) / Double(incoming - last.incoming)
    return min(1, share) * (time / .microseconds(Int64(round_trip)))
  }

  fileprivate mutating func add(_ other: ck_line) {
    sent += other.sent
    sent_again += other.sent_again
    acknowledged += other.acknowledged
    received += other.received
    incoming += other.incoming
    held += other.held
  }
}

/// Bytes in the socket's buffer that were not sent, or not acknowledged (`SIOCOUTQ`). Nil if it is not a socket.
func unacknowledged(_ socket: Int32) -> Int32? {
  var waiting: Int32 = 0
  return ioctl(socket, UInt(TIOCOUTQ), &waiting) == 0 ? waiting : nil
}

/// The sockets that a loop has opened. libcurl 7.88 reveals which one a transfer uses only at its end
/// (`CURLINFO_ACTIVESOCKET`), but before each request it reveals the two ends of the connection
/// (`CURLOPT_PREREQFUNCTION`).
final class LoopSockets {
  /// The sockets by descriptor; the inode shows whether a number is still the same socket.
  private var opened: [Int32: ino_t] = [:]
  /// Sockets that hold back little.
  private var bounded: Set<Int32> = []
  private var line: LineWatch
  private var flow = LineFlow()
  private let ledger: LineLedger
  private let entry: Int
  private let note: @Sendable (Wording) -> Void
  private let read: (Int32) -> ck_line?
  /// Bytes of bodies that were written to the sockets, and bytes that were read from them into sinks.
  private var written: Int64 = 0
  private var taken: Int64 = 0
  private var delivered: Int64 = 0

  /// On a long line most of a part would fit into a buffer of 4 MiB, and be sent even if its connection is closed
  /// because a copy on another one has arrived.
  static let mostUnsent: Int32 = 512 << 10
  /// In microseconds.
  private let longTrip: UInt32

  init(
    _ options: TransportOptions, ledger: LineLedger, longTrip: UInt32 = 5000,
    read: @escaping (Int32) -> ck_line? = ck_line.read
  ) {
    self.longTrip = longTrip
    self.read = read
    line = LineWatch(options.congestion)
    note = options.note
    self.ledger = ledger
    entry = ledger.join()
  }

  func add(_ socket: Int32) {
    // Close-on-exec, which libcurl 7.88 does not set: a command that is started must not keep the connection open.
    _ = fcntl(socket, F_SETFD, FD_CLOEXEC)
    opened[socket] = Self.inode(of: socket)
    bounded.remove(socket)
    flow.begins(socket)
    if let problem = line.prepare(socket) { note(problem) }
  }

  func wrote(_ bytes: Int64) { written += bytes }

  func took(_ bytes: Int) { taken += Int64(bytes) }

  func lookAtLine(at now: Duration) {
    var seen: [Int32: ck_line] = [:]
    for (socket, inode) in opened {
      guard Self.inode(of: socket) == inode else {
        opened[socket] = nil
        continue
      }
      guard let state = read(socket) else { continue }
      seen[socket] = state
      if state.shortest >= longTrip, bounded.insert(socket).inserted {
        _ = ck_line_unsent(socket, Self.mostUnsent)
      }
    }
    let sum = LineWatch.Sum(seen.values)
    let flown = flow.take(seen, at: now)
    if flown.acknowledged > 0 {
      delivered = Int64(clamping: flown.acknowledged) + Int64(clamping: flown.received)
    } else {
      // Kernels before 4.1 and some sandboxes, such as gVisor's, do not count acknowledged bytes.
      let waiting = opened.keys.reduce(0) { $0 + Int64(unacknowledged($1) ?? 0) }
      delivered = max(delivered, written - waiting + taken)
    }
    var entry = LineLedger.Entry(
      at: now, delivered: delivered, segments: Int64(clamping: flown.sent),
      lost: Int64(clamping: flown.sent_again), held: .microseconds(Int64(clamping: flown.held)),
      roundTrip: sum.roundTrip == .max ? nil : .microseconds(Int64(sum.roundTrip)),
      leastTrip: sum.shortestTrip == .max ? nil : .microseconds(Int64(sum.shortestTrip)))
    if let found = line.judge(sum, LineSample([entry]), on: seen.keys) { note(found) }
    // BBR is not slowed by losses.
    if line.isHardy { entry.lost = 0 }
    // The connections of a download are slowed by what is lost on its way here.
    entry.segments += Int64(clamping: flown.incoming)
    entry.lost += Int64(flow.missed)
    ledger.write(entry, of: self.entry)
  }

  /// Whether the number still belongs to the socket that was opened with it.
  func isOpen(_ socket: Int32) -> Bool { opened[socket].map { Self.inode(of: socket) == $0 } ?? false }

  /// Finds the socket by its ends (`getsockname`, `getpeername`), which a closed or reused number does not have.
  func socket(with ends: ConnectionEnds) -> Int32? {
    for socket in opened.keys {
      guard let found = Self.ends(of: socket) else {
        opened[socket] = nil
        continue
      }
      if found == ends { return socket }
    }
    return nil
  }

  /// The inode (`fstat`); nil if the number is not open.
  private static func inode(of socket: Int32) -> ino_t? {
    var state = stat()
    return fstat(socket, &state) == 0 ? state.st_ino : nil
  }

  private static func ends(of socket: Int32) -> ConnectionEnds? {
    guard let local = name(socket, getsockname), let peer = name(socket, getpeername) else { return nil }
    return ConnectionEnds(local: local.address, localPort: local.port, peer: peer.address, peerPort: peer.port)
  }

  private static func name(
    _ socket: Int32, _ ask: (Int32, UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<socklen_t>) -> Int32
  ) -> (address: String, port: Int32)? {
    var storage = sockaddr_storage()
    var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
    return withUnsafeMutablePointer(to: &storage) { storage in
      let status = storage.withMemoryRebound(to: sockaddr.self, capacity: 1) { ask(socket, $0, &length) }
      guard status == 0 else { return nil }
      var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
      let port: in_port_t
      switch Int32(storage.pointee.ss_family) {
      case AF_INET:
        port = storage.withMemoryRebound(to: sockaddr_in.self, capacity: 1) { address in
          inet_ntop(AF_INET, &address.pointee.sin_addr, &text, socklen_t(text.count))
          return address.pointee.sin_port
        }
      case AF_INET6:
        port = storage.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) { address in
          inet_ntop(AF_INET6, &address.pointee.sin6_addr, &text, socklen_t(text.count))
          return address.pointee.sin6_port
        }
      default: return nil
      }
      return (
        text.withUnsafeBufferPointer { $0.baseAddress.map { String(cString: $0) } ?? "" },
        Int32(in_port_t(bigEndian: port))
      )
    }
  }
}
