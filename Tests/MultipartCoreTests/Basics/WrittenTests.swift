import MultipartBasics
import Support
import Testing

@testable import MultipartCore

/// Numbers from outside: each is read within its bounds, and no arithmetic on one ends the process.
@Suite(.timeLimit(.minutes(15))) struct WrittenTests {
  private static let numbers = [
    "9223372036854775807", "-9223372036854775808", "18446744073709551615", "9223372036854775808", "0", "-1",
    "1000000000000000000000000000000", "1e308", "nan", "",
  ]

  @Test("a number is digits within its bounds, and a minus only where the bounds allow one")
  func reading() {
    #expect(Int("0042", in: 0...42) == 42 && Int("43", in: 0...42) == nil && Int("-1", in: 0...42) == nil)
    #expect(Int64("-9223372036854775808", in: .min ... .max) == .min)
    #expect(Int64("9223372036854775807", in: .min ... .max) == .max)
    #expect(UInt64("18446744073709551615", in: 0 ... .max) == .max)
    #expect(UInt8("255", in: 0 ... .max) == 255 && UInt8("256", in: 0 ... .max) == nil)
    for text in [
      "", "-", "+1", " 1", "1 ", "1.0", "1e3", "0x1", "--1", "٣", "1\u{301}", "9223372036854775808",
      "-9223372036854775809",
    ] {
      #expect(Int64(text, in: .min ... .max) == nil, "\(text)")
    }
    #expect(Int64.max.plus(1) == .max && Int64.min.plus(-1) == .min && Int64.max.plus(.min) == -1)
  }

  @Test("a switch reads the same everywhere")
  func switches() throws {
    for (text, wanted) in [
      ("true", true), ("TRUE", true), ("1", true), ("Yes", true), ("false", false), ("False", false), ("0", false),
      ("no", false), ("on", nil), ("2", nil), ("", nil), ("truе", nil),
    ] as [(String, Bool?)] {
      #expect(Bool(word: text) == wanted, "\(text)")
    }
    for text in ["1", "True", "0", "FALSE"] {
      let environment = ["AWS_USE_FIPS_ENDPOINT": text, "AWS_USE_DUALSTACK_ENDPOINT": text]
      let options = try StoreOptions().filled(from: environment)
      #expect(options.fips == Bool(word: text) && options.dualstack == Bool(word: text))
      let sts = try ServiceAddresses(environment: environment).address(of: .sts, region: "us-east-2")
      #expect(sts.origin.host.hasPrefix("sts-fips.") == Bool(word: text))
    }
    #expect(throws: Failure.self) {
      try ServiceAddresses(environment: ["AWS_USE_FIPS_ENDPOINT": "perhaps"]).address(of: .sts, region: "us-east-2")
    }
    #expect(try InstanceMetadataSettings(environment: ["AWS_EC2_METADATA_DISABLED": "1"], profile: nil).isDisabled)
  }

  @Test("times from anywhere can be compared and written", arguments: [Int64.min, .min + 1, -1, 0, 1, .max - 1, .max])
  func times(_ seconds: Int64) {
    let time = Timestamp(seconds: seconds)
    for other in [Int64.min, 0, .max] {
      let distance = time.seconds - Timestamp(seconds: other).seconds
      #expect((distance < 0) == (time < Timestamp(seconds: other)))
    }
    #expect(time.iso8601.hasSuffix("Z") && !time.amzTime.isEmpty && (0..<1440).contains(time.localMinute))
    #expect(Timestamp(seconds: 1_369_353_600).seconds == 1_369_353_600)
  }

  @Test("a library's caller may name the longest durations and the largest counts")
  func options() async throws {
    let longest = Duration(secondsComponent: .max, attosecondsComponent: 0) * 4
    var options = StoreOptions()
    (options.stallTimeout, options.connectTimeout, options.connections) = (longest, longest, .fixed(.max))
    let transfer = TransferSettings(options)
    #expect(transfer.stallTimeout == .longest && transfer.connectTimeout == .longest && transfer.concurrency == 1000)
    options.connections = .fixed(.min)
    #expect(TransferSettings(options).concurrency == 1)
    #expect(longest.milliseconds == Duration.longest.milliseconds)
    #expect((.zero - longest).milliseconds == -Duration.longest.milliseconds)
    let sleep = Task { try await World.sleep(longest) }
    sleep.cancel()
    await #expect(throws: CancellationError.self) { try await sleep.value }
    #expect(RateLimit.Change(hour: .max, minute: .max, bytesPerSecond: .max).minute == 1439)
    #expect(RateLimit.Change(hour: .min, minute: .min, bytesPerSecond: .min).minute == 0)
    #expect(RetryPolicy(tries: .max).wait(after: Failure(.server, "x"), attempt: .max - 1, dice: 0.5) != nil)
  }

  @Test("numbers in a store's documents are bounded, and those out of bounds do not count", arguments: numbers)
  func documents(_ number: String) throws {
    let list = ListParts(ObjectAddress("b", "k"), uploadID: "u")
    let page = try list.output(
      from: S3Answers.ok(
        """
        <ListPartsResult><UploadId>u</UploadId><NextPartNumberMarker>\(number)</NextPartNumberMarker>
        <IsTruncated>true</IsTruncated>
        <Part><PartNumber>1</PartNumber><Size>\(number)</Size><ETag>e</ETag></Part>
        <Part><PartNumber>2</PartNumber><Size>562949953421312</Size><ETag>e</ETag></Part>
        <Part><PartNumber>\(number)</PartNumber><Size>1</Size><ETag>e</ETag></Part></ListPartsResult>
        """))
    var pages = ListParts.Pages()
    _ = pages.add(page)
    #expect(pages.parts.allSatisfy { S3Limits.partNumbers.contains($0.number) && $0.size >= 0 })
    #expect(pages.parts.contains { $0.number == 2 })
    _ = pages.parts.reduce(0) { $0 + $1.size }
    let objects = try ListObjects(BucketAddress("b")).output(
      from: S3Answers.ok(
        "<ListBucketResult><Contents><Key>k</Key><Size>\(number)</Size></Contents></ListBucketResult>"))
    #expect(objects.objects.count == 1 && objects.objects.allSatisfy { $0.size ?? 0 >= 0 })
    let rules = try GetBucketLifecycle(BucketAddress("b")).output(
      from: S3Answers.ok(
        "<LifecycleConfiguration><Rule><Status>Enabled</Status><AbortIncompleteMultipartUpload><DaysAfterInitiation>"
          + "\(number)</DaysAfterInitiation></AbortIncompleteMultipartUpload></Rule></LifecycleConfiguration>"))
    #expect(rules.isEmpty)
  }

  @Test("numbers in a store's headers are bounded too", arguments: numbers)
  func headers(_ number: String) {
    let answer = S3Answers.ok(
      "",
      [
        "Content-Length": number, "Retry-After": number, "Date": number, "Last-Modified": number,
        "x-amz-mp-parts-count": number, "x-amz-tagging-count": number, "Content-Range": "bytes 0-0/\(number)",
        "ETag": "\"d41d8cd98f00b204e9800998ecf8427e-\(number)\"",
      ], status: 503)
    let failure = Failure(answer: answer, operation: HeadObject.name, place: Place())
    #expect((.zero ... .seconds(86_400)).contains(failure.retryAfter ?? .zero))
    for status in [200, 206] {
      var whole = answer
      whole.status = status
      let object = ObjectInfo(whole)
      #expect((object.size ?? 0) >= 0 && (object.partsCount ?? 0) >= 0 && object.lastModified == nil)
      #expect(object.etag.flatMap(ETag.init)?.form == .opaque)
    }
    let clock = ClockOffset()
    clock.measure(answer, now: Timestamp(seconds: .min))
    #expect(clock.note == nil)
    var head = MultipartCore.Answer()
    let line = Array("HTTP/1.1 \(number) x\r\n".utf8)
    #expect(line.withUnsafeBytes { head.take(header: $0) } == nil)
    #expect(head.status == 0)
  }

  @Test("a clock may be at the end of the year 9999, or before 1970")
  func clocks() {
    for date in ["Fri, 31 Dec 9999 23:59:60 GMT", "Sat, 01 Jan 0000 00:00:00 GMT"] {
      let answer = S3Answers.ok(S3Answers.error("RequestTimeTooSkewed"), ["Date": date], status: 403)
      for now in [Int64.min, 0, .max] {
        let clock = ClockOffset()
        clock.measure(answer, now: Timestamp(seconds: now))
        #expect(clock.note != nil && clock.learn(from: answer, now: Timestamp(seconds: now)))
        _ = clock.corrected(Timestamp(seconds: now))
      }
    }
  }
}
