internal import CKernels
import Glibc

/// How the kernel decides how fast a connection sends.
public enum CongestionControl: Sendable, Equatable {
  /// The system's, and BBR on a line that loses packets.
  case auto
  /// The system's.
  case system
  /// By its name in `/proc/sys/net/ipv4/tcp_available_congestion_control`.
  case named(String)
}

/// Looks whether the line loses packets, and makes its connections bear it.
///
/// The usual congestion control (CUBIC, Reno) takes each loss for a queue that is full and halves its rate: at 50 ms and
/// 0.5 % of loss a connection gets 0.4 MiB a second of any line. BBR goes by the rate that arrives. It is taken only
/// where the kernel lets this user choose it, and only on a line that has shown its losses.
struct LineWatch {
  /// Segments before it is judged, and lost ones in a thousand from which on it counts as lossy. A queue that is full
  /// once at the start of a connection loses less.
  private static let fewest: UInt64 = 400
  private static let losses: UInt64 = 2
  /// Microseconds. On a shorter way a loss is mended before it costs anything; and a store that stands still is not a line
  /// that loses, though the kernel sends again meanwhile and its smoothed round trips grow.
  private static let shortest: UInt32 = 1000

  private static let hardy = "bbr"

  /// What new connections are given; nil leaves them as they are.
  private(set) var chosen: String?
  private var isOver: Bool

  init(_ control: CongestionControl) {
    if case .named(let name) = control { chosen = name }
    isOver = control != .auto
  }

  /// A new connection, before it is made. What the kernel does not let be is told, once.
  mutating func prepare(_ socket: Int32) -> Wording? {
    guard let name = chosen else { return nil }
    let problem = ck_line_control(socket, name)
    guard problem != 0 else { return nil }
    chosen = nil
    return "the congestion control \(name) cannot be used here: \(String(cString: strerror(problem)))"
  }

  struct Sum: Equatable {
    var sent: UInt64 = 0
    var again: UInt64 = 0
    /// Microseconds.
    var shortestTrip: UInt32 = .max
    /// The shortest of the smoothed ones.
    var roundTrip: UInt32 = .max

    var isLossy: Bool {
      sent >= LineWatch.fewest && again * 1000 >= sent * LineWatch.losses && shortestTrip != .max
        && shortestTrip >= LineWatch.shortest
    }
  }

  /// The connections go by the rate that arrives, and bear losses.
  var isHardy: Bool { chosen?.utf8.elementsEqual(Self.hardy.utf8) == true }

  /// A sentence when the line has turned out to be lossy, and these connections have been changed.
  mutating func judge(_ sum: Sum, on sockets: some Sequence<Int32>) -> Wording? {
    guard !isOver, sum.isLossy else { return nil }
    isOver = true
    var changed = false
    for socket in sockets where ck_line_control(socket, Self.hardy) == 0 { changed = true }
    guard changed else { return nil }
    chosen = Self.hardy
    let thousandth = sum.again * 1000 / sum.sent
    return "the line loses \(thousandth / 10).\(thousandth % 10) % of the packets: its connections use BBR from here on"
  }
}

extension LineWatch.Sum {
  init(_ lines: some Sequence<ck_line>) {
    self.init()
    for line in lines where line.sent > 0 {
      sent += UInt64(line.sent)
      again += UInt64(line.sent_again)
      shortestTrip = min(shortestTrip, line.shortest)
      roundTrip = min(roundTrip, line.round_trip)
    }
  }
}
