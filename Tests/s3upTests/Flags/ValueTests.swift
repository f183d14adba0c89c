import MultipartBasics
@testable import MultipartCore
import Support
import Testing

@testable import s3up

@Suite(.timeLimit(.minutes(15))) struct ValueTests {
  @Test(arguments: [
    ("0", 0), ("1", 1), ("8388608", 8_388_608), ("8M", 8_388_608), ("8MiB", 8_388_608), ("8mb", 8_388_608),
    ("5k", 5120), ("5kib", 5120), ("1KIB", 1024), ("3B", 3), ("2G", 2_147_483_648), ("1T", 1_099_511_627_776),
    ("8388607T", 9_223_370_937_343_148_032),
    ("9223372036854775807", Int64.max),
  ])
  func aSizeIsAWholeNumberAndAUnitOf1024(_ text: String, _ bytes: Int64) {
    #expect(SizeValue.parse(text) == bytes)
  }

  @Test(arguments: [
    "", "M", "-1", "+1", "1.5G", "8 M", "8X", "8MM", "9223372036854775808", "8388608T", "٣M", "0x10", "1e3", " 1",
    "8Mb", "8kB", "8mB", "8Kb", "8Kib", "8b", "8M\u{301}",
  ])
  func anInvalidOrTooLargeSizeIsRefused(_ text: String) {
    #expect(SizeValue.parse(text) == nil)
  }

  @Test func aRateIsASizeASecondOrOff() {
    #expect(RateValue.parse("off") == .off)
    #expect(RateValue.parse("2M") == .limit(.bytesPerSecond(2 << 20)))
    #expect(RateValue.parse("2M/s") == .limit(.bytesPerSecond(2 << 20)))
    for text in ["0", "", "/s", "2M/m", "-1", "none"] { #expect(RateValue.parse(text) == nil, "\(text)") }
  }

  @Test(arguments: [
    ("250ms", Duration.milliseconds(250)), ("90s", .seconds(90)), ("15m", .seconds(900)), ("36h", .seconds(129_600)),
    ("7d", .seconds(604_800)),
  ])
  func aDurationIsAWholeNumberWithItsUnit(_ text: String, _ duration: Duration) {
    #expect(DurationValue.parse(text) == duration)
  }

  @Test(arguments: [
    "", "90", "s", "0s", "-1s", "1.5h", "1w", "1h30m", "9223372036854775807d", "999999999999999999999s", "4000d",
  ])
  func anInvalidDurationIsRefused(_ text: String) {
    #expect(DurationValue.parse(text) == nil)
  }

  @Test func aPairIsSplitAtTheFirstEqualsSign() {
    #expect(NamedValue("a=b=c") == NamedValue("a", "b=c"))
    #expect(NamedValue("a=") == NamedValue("a", ""))
    #expect(NamedValue("=b") == nil)
    #expect(NamedValue("ab") == nil)
    // A combining mark after the sign must not hide it.
    #expect(NamedValue("a=\u{301}b")?.name == "a")
  }

  @Test(arguments: [
    ("1970-01-01", 0), ("2000-02-29T00:00:00Z", 951_782_400), ("2031-01-31T10:00:00Z", 1_927_620_000),
    ("2031-01-31T12:00:00+02:00", 1_927_620_000), ("2031-01-31T10:00:00.123Z", 1_927_620_000),
    ("9999-12-31T23:59:59Z", 253_402_300_799),
  ])
  func datesAreReadToTheSecond(_ text: String, _ seconds: Int64) {
    #expect(Timestamp(date: text) == Timestamp(seconds: seconds))
  }

  @Test(arguments: [
    "", "2031", "2031-13-01", "2031-02-29", "2100-02-29", "2031-1-31", "2031-01-31T25:00:00Z", "2031-01-31T10:00:00",
    "2031-01-31 10:00:00Z", "1969-12-31", "2031-01-31Zx", "2031-00-10", "2031-01-00",
    "9999-12-31T23:59:59-23:59", "1970-01-01T00:00:00+00:01",
  ])
  func anInvalidDateIsRefused(_ text: String) {
    #expect(Timestamp(date: text) == nil)
  }

  @Test func aDateBecomesOneOfHTTP() throws {
    let time = try #require(Timestamp(date: "2013-05-24T00:00:00Z"))
    #expect(time.httpDate == "Fri, 24 May 2013 00:00:00 GMT")
  }

  @Test func onlyAnObjectOfStringsIsAContext() {
    for good in ["{}", "{\"a\":\"b\"}", " { \"a\" : \"\\u00e9\\n\" , \"c\":\"\" } "] {
      #expect(JSON.parse(Array(good.utf8))?.isObjectOfStrings == true, "\(good)")
    }
    for bad in [
      "", "{", "[]", "{\"a\":1}", "{\"a\":\"b\",}", "{\"a\":\"b\"}x", "{\"a\":\"\\x\"}", "{\"a\":\"\\u12\"}",
      "{\"a\":{}}", "{\"a", "{\"a\":1,\"a\":\"b\"}",
    ] {
      #expect(JSON.parse(Array(bad.utf8))?.isObjectOfStrings != true, "\(bad)")
    }
  }
}

@Suite(.timeLimit(.minutes(15))) struct S3URLTests {
  @Test(arguments: [
    ("s3://bkt/key", "key"), ("s3://bkt//a", "/a"), ("s3://bkt/a//b/../c", "a//b/../c"),
    ("s3://bkt/a b?c#d%20", "a b?c#d%20"),
    ("s3://bkt/e\u{301}\u{1f600}", "e\u{301}\u{1f600}"), ("s3://bkt/\u{301}", "\u{301}"), ("s3://bkt/a/", "a/"),
    ("s3://bkt/.", "."),
  ])
  func theKeyIsWhatFollowsTheFirstSlash(_ text: String, _ key: String) throws {
    let url = try S3URL.object(Argument(text))
    #expect(url.bucket == "bkt")
    #expect(url.key.map { Array($0.utf8) } == Array(key.utf8))
  }

  @Test func spellingsOfAnAccentAreDifferentKeys() throws {
    #expect(try S3URL("s3://bkt/\u{e9}") != S3URL("s3://bkt/e\u{301}"))
  }

  @Test func aBucketAloneHasNoKey() throws {
    #expect(try S3URL("s3://bkt").key == nil)
    #expect(try S3URL("s3://bkt/").key == "")
    #expect(throws: Failure.self) { try S3URL.object("s3://bkt") }
    #expect(throws: Failure.self) { try S3URL.object("s3://bkt/") }
  }

  @Test func accessPointsPass() throws {
    let url = try S3URL.object("s3://arn:aws:s3:us-west-2:123456789012:accesspoint/point/a/b")
    #expect(url.bucket == "arn:aws:s3:us-west-2:123456789012:accesspoint/point")
    #expect(url.key == "a/b")
    #expect(try S3URL("s3://point-abc123-s3alias/k").bucket == "point-abc123-s3alias")
  }

  @Test(arguments: [
    ("S3://bkt/k", "lower case"), ("s3:/bkt/k", "begins with s3://"),
    ("https://bkt.s3.amazonaws.com/k", "web address"),
    ("bkt/k", "not an S3 URL"), ("s3://", "no bucket"), ("s3:///k", "no bucket"), ("s3://bkt@x/k", "a user"),
  ])
  func anInvalidS3URLIsRefusedWithAHint(_ text: String, _ why: String) {
    let failure = #expect(throws: Failure.self) { try S3URL(Argument(text)) }
    #expect(failure?.code == .usage)
    #expect(failure?.message.contains(why) == true, "\(String(describing: failure))")
    #expect(failure?.remedy != nil)
  }

  @Test func aKeyHasAtMost1024Bytes() throws {
    let fits = String(repeating: "é", count: 512)
    #expect(try S3URL.object(Argument("s3://bkt/" + fits)).key == fits)
    #expect(throws: Failure.self) { try S3URL.object(Argument("s3://bkt/" + fits + "x")) }
    #expect(throws: Failure.self) { try S3URL(Argument("s3://bkt/\(fits.dropLast(2))/")).destination(for: "abcd") }
  }

  @Test func aKeyMustBeUTF8() {
    #expect(throws: Failure.self) { try S3URL(Argument(bytes: Array("s3://bkt/".utf8) + [0xff])) }
  }

  @Test func underAPrefixTheFileKeepsItsName() throws {
    #expect(try S3URL("s3://bkt/p/").destination(for: "/tmp/a b").key == "p/a b")
    #expect(try S3URL("s3://bkt/").destination(for: "f").key == "f")
    #expect(try S3URL("s3://bkt/k").destination(for: "f").key == "k")
    #expect(throws: Failure.self) { try S3URL("s3://bkt").destination(for: "f") }
    #expect(throws: Failure.self) { try S3URL("s3://bkt/p/").destination(for: "-") }
    #expect(throws: Failure.self) { try S3URL("s3://bkt/p/").destination(for: "dir/") }
    let odd = Argument(bytes: Array("d/a%".utf8) + [0xff])
    #expect(try S3URL("s3://bkt/p/").destination(for: odd).key == "p/a%25%FF")
    #expect(throws: Failure.self) { try S3URL("s3://bkt/p/").destination(for: odd, .refuse) }
  }
}

@Suite(.timeLimit(.minutes(15))) struct NearestTests {
  @Test(arguments: [("", "", 0), ("ab", "", 2), ("kitten", "sitting", 3), ("ab", "ba", 1), ("part", "parts", 1)])
  func editsAreCounted(_ a: String, _ b: String, _ count: Int) {
    #expect(Nearest.edits(Array(a.utf8), Array(b.utf8)) == count)
  }
}
