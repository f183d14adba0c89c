import MultipartBasics

extension Timestamp {
  /// Parses a date in the forms that people write: `2031-01-31`, `2031-01-31T10:00:00Z`, `2031-01-31T12:00:00+02:00`;
  /// nil if it is not valid. A day alone means midnight UTC.
  public init?(date text: String) {
    guard let time = DateText.parse(text) else { return nil }
    self = time
  }

  /// The time in the format of HTTP headers: `Fri, 31 Jan 2031 10:00:00 GMT`.
  public var httpDate: String { DateText.http(self) }
}

private enum DateText {
  static func parse(_ text: String) -> Timestamp? {
    var rest = Array(text.utf8)[...]
    guard let year = number(&rest, 4), take(&rest, "-"), let month = number(&rest, 2), take(&rest, "-"),
      let day = number(&rest, 2), (1970...9999).contains(year), (1...12).contains(month),
      (1...days(in: month, of: year)).contains(day)
    else { return nil }
    let midnight = daysSince1970(year, month, day) * 86_400
    if rest.isEmpty { return Timestamp(seconds: midnight) }
    guard take(&rest, "T"), let hour = number(&rest, 2), take(&rest, ":"), let minute = number(&rest, 2),
      take(&rest, ":"), let second = number(&rest, 2), hour < 24, minute < 60, second < 60
    else { return nil }
    skipFraction(&rest)
    guard let offset = zone(&rest), rest.isEmpty else { return nil }
    let moment = midnight + hour * 3600 + minute * 60 + second - offset
    return years.contains(moment) ? Timestamp(seconds: moment) : nil
  }

  /// 1970 to 9999: a zone may lead out of this range, and no written format has room for more digits.
  private static let years: Range<Int64> = 0..<253_402_300_800

  static func http(_ time: Timestamp) -> String {
    let names = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
    let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
    let iso = Array(time.iso8601.utf8)
    func part(_ range: Range<Int>) -> String { String(decoding: iso[range], as: UTF8.self) }
    let day = names[Int(time.seconds / 86_400 % 7)]
    let month = months[(Int(part(5..<7)) ?? 1) - 1]
    return "\(day), \(part(8..<10)) \(month) \(part(0..<4)) \(part(11..<19)) GMT"
  }

  private static func number(_ rest: inout ArraySlice<UInt8>, _ width: Int) -> Int64? {
    let digits = rest.prefix(width)
    guard digits.count == width, let number = Int64(digits, in: 0...9999) else { return nil }
    rest = rest.dropFirst(width)
    return number
  }

  private static func take(_ rest: inout ArraySlice<UInt8>, _ letter: Unicode.Scalar) -> Bool {
    guard rest.first == UInt8(ascii: letter) else { return false }
    rest = rest.dropFirst()
    return true
  }

  private static func skipFraction(_ rest: inout ArraySlice<UInt8>) {
    guard rest.first == UInt8(ascii: ".") else { return }
    let fraction = rest.dropFirst().prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    if !fraction.isEmpty { rest = rest.dropFirst(1 + fraction.count) }
  }

  /// The offset in seconds east of UTC.
  private static func zone(_ rest: inout ArraySlice<UInt8>) -> Int64? {
    if take(&rest, "Z") { return 0 }
    let sign: Int64
    if take(&rest, "+") { sign = 1 } else if take(&rest, "-") { sign = -1 } else { return nil }
    guard let hours = number(&rest, 2), take(&rest, ":"), let minutes = number(&rest, 2), hours < 24, minutes < 60
    else { return nil }
    return sign * (hours * 3600 + minutes * 60)
  }

  private static func days(in month: Int64, of year: Int64) -> Int64 {
    switch month {
    case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
    case 4, 6, 9, 11: 30
    default: 31
    }
  }

  /// Days of the Gregorian calendar: years begin in March, so that the leap day is the last day of its year.
  private static func daysSince1970(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
    let y = month > 2 ? year : year - 1
    let m = month > 2 ? month - 3 : month + 9
    let dayOfYear = (153 * m + 2) / 5 + day - 1
    return y * 365 + y / 4 - y / 100 + y / 400 + dayOfYear - 719_468
  }
}
