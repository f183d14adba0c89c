import Foundation
@testable import MultipartCore
import Testing

@Suite(.timeLimit(.minutes(15))) struct TimestampTests {
  @Test("Every day from 1970 to 2400, and days far away, have the date that another calendar computes")
  func days() {
    let formatter = DateFormatter()
    formatter.locale = Locale(identifier: "en_US_POSIX")
    formatter.timeZone = TimeZone(secondsFromGMT: 0)
    formatter.dateFormat = "yyyy-MM-dd'T'HH:mm:ss'Z'"
    let moments = stride(from: Int64(0), to: 13_569_465_600, by: 86_400 * 3 + 12_345)
    for seconds in Array(moments) + [951_782_399, 951_782_400, 4_107_542_399, 4_107_542_400, -1, -86_400, -86_401] {
      let wanted = formatter.string(from: Date(timeIntervalSince1970: TimeInterval(seconds)))
      #expect(Timestamp(seconds: seconds).iso8601 == wanted)
    }
    #expect(Timestamp(seconds: 1_369_353_600).amzTime == "20130524T000000Z")
    #expect(Timestamp(seconds: 1_369_353_600).amzDay == "20130524")
  }
}
