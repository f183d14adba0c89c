internal import CKernels
import Glibc

/// The TCP congestion control of a connection.
public enum CongestionControl: Sendable, Equatable {
  /// The system's default, and BBR on a line that loses packets.
  case auto
  /// The system's default.
  case system
  /// The control of this name in `/proc/sys/net/ipv4/tcp_available_congestion_control`.
  case named(String)
}

/// Detects whether the line loses packets, and adapts its connections.
///
/// The usual congestion control (CUBIC, Reno) takes each loss for a full queue and halves its rate: at 50 ms and 0.5 %
/// of loss a connection gets 0.4 MiB per second on any line. BBR uses the rate at which data arrives. It is used only
/// if the kernel lets this user choose it, and only on a line that has shown losses.
struct LineWatch {
  /// How many segments a verdict needs, and how many lost ones per thousand make the line count as lossy, whatever the
  /// reason. A queue that overflows once at the start of a connection loses fewer; of those, only random losses count.
  private static let fewest: UInt64 = 400
  private static let losses: UInt64 = 2
  /// In microseconds. On a shorter path a loss is repaired before it costs anything. And a store that does not answer
  /// is not a lossy line, although the kernel repeats segments then and its smoothed round trips grow.
  private static let shortest: UInt32 = 1000

  private static let hardy = "bbr"

  /// The congestion control of new connections; nil: the default.
  private(set) var chosen: String?
  private var isOver: Bool
  private var evidence = LossEvidence()

  init(_ control: CongestionControl) {
    if case .named(let name) = control { chosen = name }
    isOver = control != .auto
  }

  /// Prepares a socket before it connects. If the kernel refuses, that is reported once.
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
    /// In microseconds.
    var shortestTrip: UInt32 = .max
    /// The shortest smoothed round trip.
    var roundTrip: UInt32 = .max

    var isLossy: Bool {
      sent >= LineWatch.fewest && again * 1000 >= sent * LineWatch.losses && shortestTrip != .max
        && shortestTrip >= LineWatch.shortest
    }
  }

  /// The connections use a congestion control that tolerates losses.
  var isHardy: Bool { chosen?.utf8.elementsEqual(Self.hardy.utf8) == true }

  /// Returns a message if the line has proven lossy and these connections were changed.
  mutating func judge(_ sum: Sum, _ sample: LineSample, on sockets: some Sequence<Int32>) -> Wording? {
    guard !isOver, let share = lossy(sum, sample) else { return nil }
    isOver = true
    var changed = false
    for socket in sockets where ck_line_control(socket, Self.hardy) == 0 { changed = true }
    guard changed else { return nil }
    chosen = Self.hardy
    return "the line loses \(Pace.percent(share)) of the packets: its connections use BBR from now on"
  }

  private mutating func lossy(_ sum: Sum, _ sample: LineSample) -> Double? {
    if case .random(let share) = evidence.take(sample) { return share }
    return sum.isLossy ? Double(sum.again) / Double(sum.sent) : nil
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
