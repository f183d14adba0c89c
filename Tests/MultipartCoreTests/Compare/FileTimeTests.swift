import Testing

@testable import MultipartCore

@Suite struct FileTimeTests {
  @Test(
    "a time that is written can be read back",
    arguments: [
      (0, 0, "0"), (1_700_000_000, 0, "1700000000"), (1_700_000_000, 500_000_000, "1700000000.5"),
      (1_700_000_000, 1, "1700000000.000000001"), (1, 123_456_789, "1.123456789"), (-1, 0, "-1"),
      (-2, 500_000_000, "-1.5"), (-1, 500_000_000, "-0.5"), (-1, 999_999_999, "-0.000000001"),
    ] as [(Int64, Int64, String)])
  func both(seconds: Int64, nanoseconds: Int64, text: String) throws {
    var identity = FileIdentity.none
    (identity.modifiedSeconds, identity.modifiedNanoseconds) = (seconds, nanoseconds)
    #expect(FileTime(identity).text == text)
    #expect(FileTime(text) == FileTime(identity))
  }

  @Test("trailing zeros do not matter, and text that is not a number is not a time")
  func odd() throws {
    #expect(FileTime("1700000000.500000000") == FileTime("1700000000.5"))
    #expect(FileTime("-0") == FileTime("0"))
    for text in [
      "", "-", ".5", "1.", "1.0000000000", "1e3", " 1", "+1", "--1", "1.5.5", "1,5", "\u{0661}",
      String(repeating: "9", count: 19),
    ] {
      #expect(FileTime(text) == nil, "\(text)")
    }
    #expect(FileTime(String(repeating: "9", count: 18)) != nil)
  }
}
