import Glibc

/// A moment of the wall clock, in whole seconds since 1970.
package struct Timestamp: Sendable, Hashable, Comparable {
  package var seconds: Int64

  package init(seconds: Int64) {
    self.seconds = seconds
  }

  package static func < (a: Timestamp, b: Timestamp) -> Bool { a.seconds < b.seconds }

  /// Calendar fields in UTC, from `gmtime_r`.
  private var fields: tm {
    var clock = time_t(seconds)
    var fields = tm()
    gmtime_r(&clock, &fields)
    return fields
  }

  /// `20130524`
  package var amzDay: String {
    let f = fields
    return digits(Int(f.tm_year) + 1900, 4) + digits(Int(f.tm_mon) + 1, 2) + digits(Int(f.tm_mday), 2)
  }

  /// `20130524T000000Z`
  package var amzTime: String {
    let f = fields
    return amzDay + "T" + digits(Int(f.tm_hour), 2) + digits(Int(f.tm_min), 2) + digits(Int(f.tm_sec), 2) + "Z"
  }

  /// `2013-05-24T00:00:00Z`
  package var iso8601: String {
    let f = fields
    return digits(Int(f.tm_year) + 1900, 4) + "-" + digits(Int(f.tm_mon) + 1, 2) + "-" + digits(Int(f.tm_mday), 2)
      + "T" + digits(Int(f.tm_hour), 2) + ":" + digits(Int(f.tm_min), 2) + ":" + digits(Int(f.tm_sec), 2) + "Z"
  }
}

private func digits(_ value: Int, _ width: Int) -> String {
  let text = String(value)
  return String(repeating: "0", count: max(0, width - text.utf8.count)) + text
}
