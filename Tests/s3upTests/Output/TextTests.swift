import Foundation
import MultipartBasics
@testable import MultipartCore
import Testing

@testable import s3up

@Suite(.timeLimit(.minutes(15))) struct HumanTests {
  private static let sizes: [(Int64, String)] = [
    (0, "0 B"), (-5, "0 B"), (1, "1 B"), (1023, "1023 B"), (1024, "1.0 KiB"), (1536, "1.5 KiB"),
    (10 << 10, "10 KiB"),
    (8 << 20, "8.0 MiB"), (87_031_808, "83 MiB"), (1023 << 20, "1.0 GiB"), (1 << 30, "1.0 GiB"),
    (1_610_612_736, "1.5 GiB"),
    (Int64.max, "8.0 EiB"),
  ]

  @Test(arguments: sizes)
  func sizesAreShort(_ bytes: Int64, _ text: String) {
    #expect(Human.size(bytes) == text)
  }

  @Test func ratesAreSizesASecond() {
    #expect(Human.rate(87_031_808) == "83 MiB/s")
    for odd in [0, -1, Double.nan, -Double.infinity] { #expect(Human.rate(odd) == "0 B/s") }
    #expect(Human.rate(1e300).hasSuffix("/s"))
  }

  @Test(arguments: [
    (Duration.milliseconds(40), "0.0 s"), (.milliseconds(420), "0.4 s"), (.milliseconds(12_340), "12.3 s"),
    (.milliseconds(59_960), "1m00s"), (.seconds(65), "1m05s"), (.seconds(7380), "2h03m"), (.seconds(273_600), "3d04h"),
    (.seconds(-1), "0.0 s"),
  ])
  func durationsAreShort(_ duration: Duration, _ text: String) {
    #expect(Human.duration(duration) == text)
  }
}

@Suite(.timeLimit(.minutes(15))) struct EventTests {
  private let subject = Event.Subject(source: "f", bucket: "b", key: "k")

  @Test func completedHasTheKeysOfTheContractInTheirOrder() {
    let object = UploadedObject(
      .completed, size: 9, parts: 2, ReportedObject(etag: "\"e\"", requestID: "R"),
      checksum: ObjectChecksum(.crc64nvme, .fullObject, "abc="), evidence: "x", bytesSent: 9, bytesResumed: 1,
      retries: 3)
    #expect(
      Event.ended(subject, object, took: .milliseconds(1500)).json == """
        {"event":"completed","source":"f","bucket":"b","key":"k","size":9,"etag":"\\"e\\"","version_id":null,\
        "checksum":{"algorithm":"CRC64NVME","type":"FULL_OBJECT","value":"abc="},"parts":2,"bytes_sent":9,\
        "bytes_resumed":1,"retries":3,"seconds":1.5,"request_id":"R","evidence":"x"}
        """)
  }

  @Test func failedCarriesCodeMessageAndExit() {
    let failure = Failure(.credentials, "refused", status: 403, s3Code: "SignatureDoesNotMatch", requestID: "R")
    #expect(
      Event.failed(subject, failure, resumable: false).json.hasPrefix(
        """
        {"event":"failed","source":"f","bucket":"b","key":"k","code":"credentials","message":"refused",\
        "s3_code":"SignatureDoesNotMatch","exit":77,"resumable":false,
        """))
  }

  @Test func everyEventIsAnObjectOfJSON() {
    let outcomes: [UploadedObject.Outcome] = [.completed, .unchanged, .skipped, .shared(missingParts: 2), .planned]
    let failure = Failure(.network, "x")
    let ends = outcomes.map { outcome in
      Event.ended(subject, UploadedObject(outcome, size: 0, parts: 0, evidence: ""), took: .zero)
    }
    #expect(ends.map(\.name) == [.completed, .unchanged, .skipped, .shared, .planned])
    let events: [Event] = [
      .failed(subject, failure, resumable: true),
      .started(subject, size: 1, parts: 1, partSize: 1, uploadID: "u"),
      .part(subject, number: 1, size: 1, etag: "e", seconds: 0.5),
      .progress(subject, ProgressState(name: "f", total: 1)),
      .retry(subject, part: 1, attempt: 2, wait: .seconds(1), because: failure),
    ]
    for event in events + ends {
      #expect(throws: Never.self) { try JSONSerialization.jsonObject(with: Data(event.json.utf8)) }
    }
  }
}

@Suite(.timeLimit(.minutes(15))) struct ErrorTextTests {
  @Test func anErrorSaysWhatWhereAndTheRemedy() {
    let failure = Failure(
      .refused, "the bucket does not exist", status: 404, s3Code: "NoSuchBucket", requestID: "R1", remedy: "Create it.")
    let lines = ErrorText.lines(for: failure.at(Place(file: "a.bin", bucket: "bkt", key: "k", part: 3)))
    #expect(
      lines == [
        "s3up: the bucket does not exist (a.bin, s3://bkt/k, part 3, HTTP 404 NoSuchBucket, request id R1)",
        "Create it",
      ])
    let twoSentences = Failure(.refused, "the bucket does not exist", remedy: "Create it. Then go on.")
    #expect(ErrorText.lines(for: twoSentences)[1] == "Create it. Then go on.")
    // An address keeps its letters.
    let address = Failure(.network, "x", remedy: "http://127.0.0.1:1 was asked")
    #expect(ErrorText.lines(for: address)[1] == "http://127.0.0.1:1 was asked")
  }

  @Test func whatTheMessageSaysIsNotRepeated() {
    let failure = Failure(.sourceMissing, "a.bin: no such file").at(Place(file: "a.bin"))
    #expect(ErrorText.lines(for: failure)[0] == "s3up: a.bin: no such file")
  }

  @Test(arguments: Failure.Code.allCases)
  func everyErrorHasTwoLinesAndAnExitCodeOfTheTable(_ code: Failure.Code) {
    let lines = ErrorText.lines(for: Failure(code, "x"))
    #expect(lines.count == 2 && !lines[1].isEmpty)
    let status = s3up.ExitStatus(code)
    #expect(status != .success)
    #expect(
      s3up.ExitStatus.table.contains { $0.codes.components(separatedBy: " / ").contains(String(status.rawValue)) })
  }

  @Test func whatAServerSaysCannotMoveTheCursorOrAddALine() {
    let evil = "no\u{1b}[2J\u{9b}31m\r\n\nyes\u{202e}\u{7}\u{0}\u{2028}"
    let failure = Failure(.server, evil, s3Code: evil, requestID: evil, remedy: Wording(evil)).at(
      Place(file: evil, bucket: evil, key: evil))
    for line in ErrorText.lines(for: failure) {
      #expect(
        line.unicodeScalars.allSatisfy {
          $0.value >= 0x20 && !(0x7f..<0xa0).contains($0.value) && $0.value != 0x202e && $0.value != 0x2028
        })
    }
  }

  @Test func longTextsAreCut() {
    let long = String(repeating: "x", count: 1_000_000)
    let failure = Failure(.server, long, s3Code: long, requestID: long, remedy: Wording(long)).at(
      Place(file: long, bucket: "b", key: long))
    for line in ErrorText.lines(for: failure) { #expect(line.count < 2000) }
  }

  @Test(arguments: [
    (Failure.Code.usage, s3up.ExitStatus.usage), (.configuration, .configuration), (.sourceMissing, .sourceMissing),
    (.sourceChanged, .data), (.dataMismatch, .data), (.refused, .unavailable), (.precondition, .precondition),
    (.uploadGone, .unavailable), (.checksumUnsupported, .unavailable), (.credentials, .credentials),
    (.credentialsExpired, .credentials), (.clockSkew, .credentials), (.network, .temporary), (.tls, .unavailable),
    (.stalled, .temporary), (.throttled, .temporary), (.server, .temporary), (.interrupted, .interrupted),
    (.local, .temporary),
  ])
  func eachFailureHasItsExitCode(_ code: Failure.Code, _ status: s3up.ExitStatus) {
    #expect(s3up.ExitStatus(code) == status)
  }
}

@Suite(.timeLimit(.minutes(15))) struct PaintTests {
  @Test func withoutColorNothingIsAdded() {
    #expect(Paint.off.error(["s3up: x", "y"]) == ["s3up: x", "y"])
    #expect(Paint.off.result("uploaded f") == "uploaded f")
    #expect(!TextPage.draw(.overview, width: 80).contains("\u{1b}"))
  }

  @Test func withColorTheWordsStayTheSame() {
    let paint = Paint(isOn: true)
    func plain(_ text: String) -> String {
      text.replacingOccurrences(of: "\u{1b}\\[[0-9;]*m", with: "", options: .regularExpression)
    }
    #expect(paint.error(["s3up: x", "y"])[0] == "\u{1b}[1;31ms3up:\u{1b}[0m x")
    #expect(plain(paint.result("uploaded f")) == "uploaded f")
    let page = TextPage.draw(.overview, width: 80, paint: paint)
    #expect(page.contains("\u{1b}[1mCommands:\u{1b}[0m"))
    #expect(plain(page) == TextPage.draw(.overview, width: 80))
  }
}

@Suite(.timeLimit(.minutes(15))) struct ResultLineTests {
  @Test(
    "What proves the object is said in one form, and what does not prove it is not said to",
    arguments: [
      ("ETag is the MD5 of the bytes", "proven by ETag, which is the MD5 of the bytes"),
      (
        "ETag matches the parts, each of whose ETags is the MD5 of its bytes",
        "proven by ETag, which matches the parts, each of whose ETags is the MD5 of its bytes"
      ),
      ("ETag \"ab-3\" matches the file in 3 parts", "proven by ETag \"ab-3\", which matches the file in 3 parts"),
      ("MD5 ab in the object's ETag matches the file", "proven by MD5 ab in the object's ETag, which matches the file"),
      (
        "ETag matches the parts; the store shows no checksum of them",
        "ETag matches the parts; the store shows no checksum of them"
      ),
      ("object size matches; the store shows no checksum", "object size matches; the store shows no checksum"),
    ])
  func proof(_ evidence: String, _ words: String) {
    #expect(Human.proof(evidence, nil) == "; " + words)
  }

  @Test func theResultNamesSizePartsTimeRateAndProof() {
    var object = UploadedObject(
      .completed, size: 1 << 30, parts: 128, evidence: "CRC64NVME abc= confirmed by the store", bytesSent: 1 << 30)
    func line(_ source: String, _ took: Duration = .milliseconds(12_300)) -> String {
      object.line(source: source, bucket: "b", key: "k", took: took)
    }
    #expect(
      line("f.bin")
        == "uploaded f.bin to s3://b/k (1.0 GiB in 128 parts, 12.3 s, 83 MiB/s; CRC64NVME abc= confirmed by the store)")
    object.checksum = ObjectChecksum(.crc64nvme, .fullObject, "abc=")
    #expect(
      line("-")
        == "uploaded standard input to s3://b/k (1.0 GiB in 128 parts, 12.3 s, 83 MiB/s; proven by CRC64NVME)")
    (object.retries, object.parts, object.size, object.evidence) = (2, 0, 5, "")
    #expect(line("f\n", .milliseconds(30)) == "uploaded f  to s3://b/k (5 B, 0.0 s, 2 retries)")
    object.outcome = .shared(missingParts: 1)
    object.parts = 12
    #expect(
      line("f", .milliseconds(30))
        == "sent 12 parts of f to s3://b/k (5 B in 12 parts, 0.0 s, 2 retries); 1 part of other shares is missing")
  }
}
