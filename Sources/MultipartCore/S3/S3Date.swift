import MultipartBasics

/// The two date formats of stores.
enum S3Date {
  private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

  /// Parses `2010-11-10T20:48:33.000Z`, as in XML; the fraction is dropped.
  static func iso8601(_ text: String) -> Timestamp? {
    let b = Array(text.utf8)
    guard b.count >= 20, b.count <= 40, b[4] == 0x2D, b[7] == 0x2D, b[10] == 0x54, b[13] == 0x3A, b[16] == 0x3A else {
      return nil
    }
    let rest = b[19...]
    let tail = rest.first == 0x2E ? rest.dropFirst().drop(while: ASCII.isDigit) : rest
    guard Array(tail) == [0x5A] || Array(tail) == Array("+00:00".utf8) else { return nil }
    return moment(
      number(b[0..<4]), number(b[5..<7]), number(b[8..<10]), number(b[11..<13]), number(b[14..<16]),
      number(b[17..<19]))
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

  private static func number(_ digits: some Collection<UInt8>) -> Int? {
    (1...4).contains(digits.count) ? Int(digits, in: 0...9999) : nil
  }

  private static func moment(_ y: Int?, _ m: Int?, _ d: Int?, _ h: Int?, _ min: Int?, _ s: Int?) -> Timestamp? {
    guard let y, let m, let d, let h, let min, let s else { return nil }
    guard (1...12).contains(m), (1...31).contains(d), (0...23).contains(h), (0...59).contains(min), (0...60).contains(s)
    else { return nil }
    // Days since 1970 in the proleptic Gregorian calendar, with years that begin in March.
    let year = m > 2 ? y : y - 1
    let day = (153 * (m > 2 ? m - 3 : m + 9) + 2) / 5 + d - 1
    let days = 365 * year + year / 4 - year / 100 + year / 400 + day - 719_468
    return Timestamp(seconds: Int64(days * 86_400 + h * 3600 + min * 60 + s))
  }
}
