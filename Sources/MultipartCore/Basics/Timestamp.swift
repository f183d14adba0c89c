import Glibc
import MultipartBasics

/// A time of the wall clock in whole seconds.
public struct Timestamp: Sendable, Hashable, Comparable {
  /// Seconds since 1970, in UTC: at most 30 million years, so that times from anywhere can be compared by their
  /// difference.
  public let seconds: Int64

  private static let furthest: Int64 = 1_000_000_000_000_000

  /// The time this many seconds after the beginning of 1970, in UTC, or the furthest possible one.
  public init(seconds: Int64) {
    self.seconds = min(max(seconds, -Self.furthest), Self.furthest)
  }

  /// Whether `a` is earlier.
  public static func < (a: Timestamp, b: Timestamp) -> Bool { a.seconds < b.seconds }

  /// Year, month, day, hour, minute and second in UTC. Not computed by `gmtime_r`, whose `tm` belongs to whichever C
  /// module the compiler reads first.
  private var fields: (year: Int, month: Int, day: Int, hour: Int, minute: Int, second: Int) {
    let days = Int((seconds - (seconds >= 0 ? 0 : 86_399)) / 86_400)
    let rest = Int(seconds) - days * 86_400
    // Days since 1 March of the year 0 of the proleptic Gregorian calendar; 146,097 of them are 400 years.
    let shifted = days + 719_468
    let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
    let dayOfEra = shifted - era * 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let shiftedMonth = (5 * dayOfYear + 2) / 153
    let day = dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
    let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
    return (
      yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day, rest / 3600, rest / 60 % 60, rest % 60
    )
  }

  /// Minutes since midnight by the local clock (`localtime_r`).
  var localMinute: Int {
    var (seconds, fields) = (time_t(seconds), tm())
    guard localtime_r(&seconds, &fields) != nil else { return 0 }
    return Int(fields.tm_hour) * 60 + Int(fields.tm_min)
  }

  /// The day, such as `20130524`.
  var amzDay: String { written(dash: "", colon: nil) }

  /// The time, such as `20130524T000000Z`.
  var amzTime: String { written(dash: "", colon: "") }

  /// Parses `20130524T000000Z`; nil for anything else.
  init?(amzTime text: String) {
    let bytes = Array(text.utf8)
    guard bytes.count == 16, bytes[8] == UInt8(ascii: "T"), bytes[15] == UInt8(ascii: "Z") else { return nil }
    func iso(_ range: Range<Int>) -> String { String(decoding: bytes[range], as: UTF8.self) }
    let day = "\(iso(0..<4))-\(iso(4..<6))-\(iso(6..<8))"
    guard let time = DateText.iso8601("\(day)T\(iso(9..<11)):\(iso(11..<13)):\(iso(13..<15))Z") else { return nil }
    self = time
  }

  /// The time in ISO 8601, such as `2013-05-24T00:00:00Z`.
  public var iso8601: String { written(dash: "-", colon: ":") }

  /// Without `colon`, only the day.
  private func written(dash: String, colon: String?) -> String {
    let f = fields
    var text = TextBuffer(reserving: 24)
    text.add(f.year, width: 4)
    text.add(dash)
    text.add(f.month, width: 2)
    text.add(dash)
    text.add(f.day, width: 2)
    if let colon {
      text.add("T")
      text.add(f.hour, width: 2)
      text.add(colon)
      text.add(f.minute, width: 2)
      text.add(colon)
      text.add(f.second, width: 2)
      text.add("Z")
    }
    return text.text
  }
}
