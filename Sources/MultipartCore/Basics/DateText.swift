import MultipartBasics

/// Dates as text: in XML, JSON and headers, and as people write them.
enum DateText {
  private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
  private static let days = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]

  /// Parses `2010-11-10T20:48:33`, with or without a fraction, which is dropped, and with a zone: `Z`, an offset such as
  /// `+02:00`, `+0200` or `+02`, or `UTC`, which old versions of the AWS CLI write. Some programs write a space instead of
  /// the `T`.
  static func iso8601(_ text: String) -> Timestamp? {
    let b = Array(ASCII.trimmed(text).utf8)
    guard b.count >= 20, b.count <= 48, b[4] == 0x2D, b[7] == 0x2D, b[10] == 0x54 || b[10] == 0x20, b[13] == 0x3A,
      b[16] == 0x3A
    else { return nil }
    var zone = b[19...]
    if zone.first == 0x2E { zone = zone.dropFirst().drop(while: ASCII.isDigit) }
    guard let offset = offset(Array(zone)),
      let moment = moment(
        number(b[0..<4]), number(b[5..<7]), number(b[8..<10]), number(b[11..<13]), number(b[14..<16]),
        number(b[17..<19]))
    else { return nil }
    return Timestamp(seconds: moment.seconds - offset)
  }

  /// Parses `Wed, 28 Oct 2009 22:32:00 GMT`, as in headers.
  static func http(_ text: String) -> Timestamp? {
    let words = text.words(between: " ")
    guard words.count == 6, words[5] == "GMT", let month = months.firstIndex(where: { words[2] == $0 }) else {
      return nil
    }
    let clock = words[4].pieces(at: ":")
    guard clock.count == 3 else { return nil }
    return moment(
      number(words[3].utf8), month + 1, number(words[1].utf8), number(clock[0].utf8), number(clock[1].utf8),
      number(clock[2].utf8))
  }

  /// Writes `Wed, 28 Oct 2009 22:32:00 GMT`; a time before 1970 or after 9999 as the first or the last of that range.
  static func http(_ time: Timestamp) -> String {
    let time = Timestamp(seconds: min(max(Timestamp.years.lowerBound, time.seconds), Timestamp.years.upperBound - 1))
    let iso = Array(time.iso8601.utf8)
    func part(_ range: Range<Int>) -> String { String(decoding: iso[range], as: UTF8.self) }
    let day = days[Int(time.seconds / 86_400 % 7)]
    let month = months[(Int(part(5..<7)) ?? 1) - 1]
    return "\(day), \(part(8..<10)) \(month) \(part(0..<4)) \(part(11..<19)) GMT"
  }

  private static func number(_ digits: some Collection<UInt8>) -> Int? {
    (1...4).contains(digits.count) ? Int(digits, in: 0...9999) : nil
  }

  /// The offset from UTC in seconds.
  private static func offset(_ zone: [UInt8]) -> Int64? {
    if zone == Array("Z".utf8) || zone == Array("UTC".utf8) { return 0 }
    guard let sign = zone.first, sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-") else { return nil }
    let digits = zone.dropFirst().filter { $0 != UInt8(ascii: ":") }
    guard digits.count == 4 || digits.count == 2, digits.allSatisfy(ASCII.isDigit) else { return nil }
    let numbers = digits.map { Int64($0 - 0x30) }
    let hours = numbers[0] * 10 + numbers[1]
    let minutes = numbers.count == 4 ? numbers[2] * 10 + numbers[3] : 0
    guard hours < 24, minutes < 60 else { return nil }
    return (hours * 3600 + minutes * 60) * (sign == UInt8(ascii: "-") ? -1 : 1)
  }

  private static func moment(_ y: Int?, _ m: Int?, _ d: Int?, _ h: Int?, _ min: Int?, _ s: Int?) -> Timestamp? {
    guard let y, let m, let d, let h, let min, let s else { return nil }
    guard (1...12).contains(m), (1...length(ofMonth: m, y)).contains(d), (0...23).contains(h), (0...59).contains(min),
      (0...60).contains(s)
    else { return nil }
    // Days since 1970 in the proleptic Gregorian calendar, with years that begin in March.
    let year = m > 2 ? y : y - 1
    let day = (153 * (m > 2 ? m - 3 : m + 9) + 2) / 5 + d - 1
    let days = 365 * year + year / 4 - year / 100 + year / 400 + day - 719_468
    return Timestamp(seconds: Int64(days * 86_400 + h * 3600 + min * 60 + s))
  }

  private static func length(ofMonth month: Int, _ year: Int) -> Int {
    switch month {
    case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
    case 4, 6, 9, 11: 30
    default: 31
    }
  }
}

extension Timestamp {
  /// Parses a date in the forms that people write: `2031-01-31`, `2031-01-31T10:00:00Z`, `2031-01-31T12:00:00+02:00`;
  /// nil if it is not valid. A day alone means midnight UTC.
  public init?(date text: String) {
    let bytes = Array(text.utf8)
    let isDay = bytes.count == 10
    let isWhole = bytes.last == UInt8(ascii: "Z") || bytes.dropLast(2).last == UInt8(ascii: ":")
    guard isDay || bytes.dropFirst(10).first == UInt8(ascii: "T") && isWhole,
      let time = DateText.iso8601(isDay ? text + "T00:00:00Z" : text), Self.years.contains(time.seconds)
    else { return nil }
    self = time
  }

  /// 1970 to 9999: a zone may lead out of this range, and no written format has room for more digits.
  fileprivate static let years: Range<Int64> = 0..<253_402_300_800

  /// The time in the format of HTTP headers: `Fri, 31 Jan 2031 10:00:00 GMT`.
  public var httpDate: String { DateText.http(self) }
}
