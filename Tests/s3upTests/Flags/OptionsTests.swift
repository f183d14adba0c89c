import MultipartBasics
@testable import MultipartCore
import Testing

@testable import s3up

private func line(_ words: String...) throws -> Invocation {
  try Parser.parse(words.map { Argument($0) }, environment: [:])
}

private func message(_ body: () throws -> Void) -> String {
  do {
    try body()
    return ""
  } catch let failure as Failure {
    return failure.code == .usage && failure.remedy != nil
      ? failure.message.description : "not a usage error with a hint"
  } catch {
    return "not a failure"
  }
}

@Suite(.timeLimit(.minutes(15))) struct OptionsTests {
  @Test func withoutOptionsTheDefaultsHold() throws {
    let put = try line("put")
    #expect(try TransferSettings(StoreOptions(put)) == TransferSettings())
    #expect(try "\(UploadOptions(put))" == "\(UploadOptions())")
    #expect(try "\(StoreOptions(put))" == "\(StoreOptions())")
    #expect(try StoreOptions(put).origins.isEmpty)
    #expect(try OutputOptions(put, environment: [:]) == OutputOptions())
    #expect(TransferSettings().concurrency == 8)
    #expect(TransferSettings().tries == 10)
  }

  @Test func transferValuesAreTyped() throws {
    let line = try line(
      "put", "--part-size=16M", "--concurrency=32", "--limit-rate=2M", "--retries=3", "--stall-timeout=1m",
      "--connect-timeout=500ms", "--hedge=off")
    #expect(try UploadOptions(line).hedges == false)
    #expect(try UploadOptions(line).partSize == 16 << 20)
    let options = try TransferSettings(StoreOptions(line))
    #expect(options.connections == .fixed(32))
    #expect(options.limitRate == .bytesPerSecond(2 << 20))
    #expect(options.tries == 3)
    #expect(options.stallTimeout == .seconds(60))
    #expect(options.connectTimeout == .milliseconds(500))
  }

  @Test(
    "--limit-rate takes a rate for each time of day",
    arguments: [
      ("08:00=2M,19:00=off", [(480, 2 << 20), (1140, nil)]),
      ("19:00=off,8:00=500K/s", [(480, 500 << 10), (1140, nil)]),
      ("00:00=1M", [(0, 1 << 20)]), ("23:59=1M,0:00=2M", [(0, 2 << 20), (1439, 1 << 20)]),
    ] as [(String, [(Int, Int64?)])])
  func timetable(_ words: String, _ changes: [(Int, Int64?)]) throws {
    let limit = try #require(try StoreOptions(line("put", "--limit-rate", words)).limitRate)
    #expect(limit.changes.map(\.minute) == changes.map(\.0))
    #expect(limit.changes.map(\.bytesPerSecond) == changes.map(\.1))
  }

  @Test func aTimetableThatNeverLimitsIsNoLimit() throws {
    #expect(try StoreOptions(line("put", "--limit-rate", "08:00=off,19:00=off")).limitRate == nil)
  }

  @Test(arguments: [
    "08:00=", "=2M", "08:00", "08:00=2M,", ",08:00=2M", "24:00=2M", "08:60=2M", "8=2M", "08:0=2M", "008:00=2M",
    "-1:00=2M",
    "08:00=2M,08:00=3M", "08:00=2M,8:00=off", "08:00=0", "08:00=2M 19:00=off", "08:00=2M;19:00=off", "08:00=a",
    "٠٨:٠٠=2M",
    "08:00=2M=3M",
  ])
  func wrongTimetables(_ words: String) {
    let text = message { _ = try StoreOptions(line("put", "--limit-rate", words)) }
    #expect(text.hasPrefix("--limit-rate: '"), "\(text)")
  }

  @Test func anExplicitDefaultCountsAsGiven() throws {
    let standards = try line("put", "--part-size=auto", "--limit-rate=off", "--hedge=auto", "--concurrency=auto")
    #expect(try UploadOptions(standards).partSize == nil && UploadOptions(standards).hedges)
    let options = try StoreOptions(standards)
    #expect(TransferSettings(options) == TransferSettings())
    #expect(Set(options.origins.keys) == [.partSize, .limitRate, .concurrency])
  }

  @Test(arguments: [
    "--part-size=4M", "--part-size=6G", "--part-size=big", "--concurrency=0", "--concurrency=1001", "--concurrency=+4",
    "--retries=0", "--limit-rate=0", "--stall-timeout=30", "--connect-timeout=0s",
  ])
  func wrongTransferValuesNameTheirOption(_ word: String) {
    let text = message {
      let line = try line("put", word)
      _ = (try StoreOptions(line), try UploadOptions(line))
    }
    #expect(text.hasPrefix(word.prefix { $0 != "=" } + ": '"), "\(text)")
  }

  @Test func integrityValuesAreTyped() throws {
    let digest = String(repeating: "aB", count: 32)
    let invocation = try line(
      "put", "--checksum=SHA256", "--payload-signing=never", "--verify", "--expect-size=1K", "--expect-sha256=\(digest)"
    )
    #expect(try StoreOptions(invocation).payloadSigning == .never)
    let options = try UploadOptions(invocation)
    #expect(options.checksum == .algorithm(.sha256))
    #expect(options.verifies)
    #expect(options.expectedSize == 1024)
    #expect(options.expectedSHA256 == digest.lowercased())
    #expect(message { _ = try UploadOptions(line("put", "--checksum=crc64")) }.contains("crc64nvme"))
    #expect(message { _ = try UploadOptions(line("put", "--expect-sha256=abc")) } != "")
  }

  @Test func objectValuesAreTyped() throws {
    let options = try ObjectHeaders(
      line(
        "put", "--content-type=a/b", "--expires-header=2013-05-24", "--metadata=K=v", "--metadata", "l=", "--tag=a=b",
        "--grant=read=uri=http://x/?a=b", "--object-lock-mode=governance", "--retain-until=2031-01-31",
        "--legal-hold=on", "--header", "X-A:  b c "))
    #expect(options.contentType == "a/b")
    #expect(options.expires == "Fri, 24 May 2013 00:00:00 GMT")
    #expect(options.metadata == [NamedValue("K", "v"), NamedValue("l", "")])
    #expect(options.tags == [NamedValue("a", "b")])
    #expect(options.grants == [.init(.read, "uri=\"http://x/?a=b\"")])
    #expect(options.lockMode == .governance)
    #expect(options.retainUntil == Timestamp(seconds: 1_927_584_000))
    #expect(options.legalHold == true)
    #expect(options.extra == [NamedValue("X-A", "b c")])
  }

  @Test(arguments: [
    ["--metadata=a b=c"], ["--metadata=k"], ["--metadata=a=1", "--metadata=A=2"], ["--tag=a=1", "--tag=a=2"],
    ["--tag=\(String(repeating: "x", count: 129))=1"], ["--grant=own=id=1"], ["--grant=read=id"],
    ["--grant=read=id=\"1\""],
    ["--acl=private", "--grant=read=id=1"], ["--object-lock-mode=GOVERNANCE"], ["--retain-until=2031-01-31"],
    ["--object-lock-mode=x", "--retain-until=2031-01-31"], ["--content-type=a\r\nX-Evil: 1"], ["--header=nothing"],
    ["--header=Authorization: x"], ["--header=content-length: 1"], ["--header=a: b\nc: d"], ["--header=a b: c"],
    ["--header=x-amz-checksum-crc32: x"], ["--sse-kms-key-id=k"], ["--sse=AES256", "--bucket-key"],
    ["--sse=AES256", "--sse-c-key-file=f"], ["--sse=aws:kms", "--sse-kms-context={"], ["--sse=rot13"],
    ["--header=Cache-Control: x", "--cache-control=y"], ["--header=X-Amz-Meta-K: 1", "--metadata=k=2"],
    ["--header=x-amz-tagging: a=b", "--tag=a=b"], ["--header=x-amz-acl: private", "--acl=public-read"],
    ["--header=x-amz-server-side-encryption: AES256", "--sse=aws:kms"],
  ])
  func objectsThatCannotBeAreRefused(_ words: [String]) {
    let text = message { _ = try UploadOptions(Parser.parse((["put"] + words).map { Argument($0) }, environment: [:])) }
    #expect(text.hasPrefix("--"), "\(text)")
  }

  @Test func noMoreThanTenTags() throws {
    let tags = (0..<11).map { Argument("--tag=t\($0)=1") }
    #expect(try UploadOptions(Parser.parse(["put"] + tags.dropLast(), environment: [:])).object.tags.count == 10)
    #expect(throws: Failure.self) { try UploadOptions(Parser.parse(["put"] + tags, environment: [:])) }
  }

  @Test func aCustomerKeyIsNotTakenFromTheCommandLineNorShown() {
    let text = message {
      _ = try UploadOptions(line("put", "--header=x-amz-server-side-encryption-customer-key: c2VjcmV0"))
    }
    #expect(text.contains("list of processes"))
    #expect(!text.contains("c2VjcmV0"))
  }

  @Test func encryptionContextsAreJSON() throws {
    let pairs = try ServerSideEncryption(
      line("put", "--sse=aws:kms", "--sse-kms-context=a=b", "--sse-kms-context=c=\"d\""))
    #expect(pairs?.contextJSON == "{\"a\":\"b\",\"c\":\"\\\"d\\\"\"}")
    let text = try ServerSideEncryption(
      line("put", "--sse=aws:kms:dsse", "--sse-kms-context={\"a\":\"b\"}", "--no-bucket-key"))
    #expect(text?.contextJSON == "{\"a\":\"b\"}")
    #expect(text?.bucketKey == false)
    #expect(try ServerSideEncryption(line("put", "--sse=aws:kms"))?.bucketKey == nil)
  }

  @Test func connectionOptionsAreChecked() throws {
    let options = try StoreOptions(
      line("parts", "--endpoint-url=http://127.0.0.1:9000", "--region=eu", "--addressing=path", "--request-payer"))
    #expect(options.endpoint == "http://127.0.0.1:9000")
    #expect(options.addressing == .path)
    #expect(options.requestPayer)
    for word in ["localhost:9000", "ftp://x", "https://", "https:///b", "http://h/?q=1", "http://h ost", "http://:80"] {
      #expect(message { _ = try StoreOptions(line("parts", "--endpoint-url", word)) } != "", "\(word)")
    }
  }

  @Test func passwordsInAddressesAreNotShown() {
    for option in ["--endpoint-url=https://u:hunter2@h", "--proxy=http://u:hunter2@h x"] {
      let text = message { _ = try StoreOptions(line("parts", option)) }
      #expect(text != "" && !text.contains("hunter2"), "\(text)")
    }
    let url = message { _ = try StepOptions(line("part", "f", "--url=x-amz-signature=hunter2")) }
    #expect(url != "" && !url.contains("hunter2"))
  }

  @Test func conditionsExcludeEachOther() {
    #expect(message { _ = try UploadOptions(line("put", "--if-none-match", "--if-match=x")) } != "")
  }

  @Test func outputFollowsItsOptionsAndNoColor() throws {
    let options = try OutputOptions(line("put", "-qvvv", "--json=all", "--explain"), environment: ["NO_COLOR": "1"])
    #expect(options.progress == .none)
    #expect(options.verbosity == 2)
    #expect(options.json == .all)
    #expect(options.explain)
    #expect(options.color == .never)
    #expect(try OutputOptions(line("put", "--color=always"), environment: ["NO_COLOR": "1"]).color == .always)
    #expect(try OutputOptions(line("put"), environment: ["NO_COLOR": ""]).color == .auto)
    #expect(message { _ = try OutputOptions(line("put", "--json=some"), environment: [:]) } != "")
    #expect(message { _ = try OutputOptions(line("put", "-q", "--progress=bar"), environment: [:]) } != "")
  }

  @Test func quietWinsOverABarInTheEnvironment() throws {
    let invocation = try Parser.parse(["put", "-q"], environment: ["S3UP_PROGRESS": "bar"])
    #expect(try OutputOptions(invocation, environment: [:]).progress == .none)
  }

  @Test func theStateFolderHasItsPlaces() throws {
    func folder(_ words: [Argument], _ environment: [String: String]) throws -> String? {
      try StoreOptions(Parser.parse(["put"] + words, environment: environment)).stateFolder(environment)
    }
    #expect(try folder(["--state-dir=/s"], ["HOME": "/h"]) == "/s")
    #expect(try folder([], ["HOME": "/h", "XDG_STATE_HOME": "/x"]) == "/x/s3up")
    #expect(try folder([], ["HOME": "/h", "XDG_STATE_HOME": "relative"]) == "/h/.local/state/s3up")
    #expect(try folder([], [:]) == nil)
  }
}

@Suite(.timeLimit(.minutes(15))) struct StepOptionsTests {
  @Test func aPartNeedsItsUploadAndNumberOrAURL() throws {
    let options = try StepOptions(line("part", "f", "u", "--upload-id=i", "--part=3", "--offset=1M", "--length=5"))
    #expect(options.uploadID == "i")
    #expect(options.part == 3)
    #expect(options.offset == 1 << 20)
    #expect(options.length == 5)
    let url = "https://h/k?partNumber=1&uploadId=i"
    #expect(try StepOptions(line("part", "f", "--url=\(url)")).url == url)
    for words in [
      ["part", "f"], ["part", "f", "--upload-id=i"], ["part", "f", "--part=1"], ["parts"],
      ["part", "--upload-id=i", "--part=0"],
      ["part", "--upload-id=i", "--part=10001"], ["part", "f", "--url=https://h", "--part=1"],
      ["part", "f", "--url=file:///x"], ["part", "f", "--url=https://h/k?x=y"],
    ] {
      let text = message { _ = try StepOptions(Parser.parse(words.map { Argument($0) }, environment: [:])) }
      #expect(text != "", "\(words)")
    }
  }

  @Test func aPresignedURLHasItsLimits() throws {
    let standard = try PresignChoices(line("presign", "u"))
    #expect(standard.method == .get)
    #expect(standard.expires == 900)
    #expect(try PresignChoices(line("presign", "--expires=7d")).expires == 604_800)
    #expect(try PresignChoices(line("presign", "--expires=1s")).expires == 1)
    for word in ["8d", "999ms", "169h", "604801s", "0s", "90"] {
      #expect(message { _ = try PresignChoices(line("presign", "--expires", word)) } != "", "\(word)")
    }
  }

  @Test func partsArePresignedOneByOneOrInARange() throws {
    let one = try PresignChoices(line("presign", "--upload-id=i", "--part=3"))
    #expect(one.parts == 3...3)
    #expect(one.method == .put)
    #expect(try PresignChoices(line("presign", "--upload-id=i", "--part=1-40")).parts == 1...40)
    for word in ["0", "4-1", "1-10001", "a", "1-2-3", "-1", "1-", ""] {
      #expect(message { _ = try PresignChoices(line("presign", "--upload-id=i", "--part=\(word)")) } != "", "\(word)")
    }
    #expect(message { _ = try PresignChoices(line("presign", "--part=1")) } != "")
    #expect(message { _ = try PresignChoices(line("presign", "--upload-id=i")) } != "")
    #expect(message { _ = try PresignChoices(line("presign", "--upload-id=i", "--part=1", "--method=GET")) } != "")
  }

  @Test func whatIsSignedFitsTheMethod() throws {
    let put = try PresignChoices(
      line("presign", "--method=put", "--content-type=a/b", "--content-md5=1B2M2Y8AsgTpgAmY7PhCfg=="))
    #expect(put.method == .put)
    #expect(put.contentMD5 == "1B2M2Y8AsgTpgAmY7PhCfg==")
    let get = try PresignChoices(line("presign", "--response-content-type=a/b", "--response-expires=2013-05-24"))
    #expect(
      get.overrides == [
        NamedValue("response-content-type", "a/b"),
        NamedValue("response-expires", "Fri, 24 May 2013 00:00:00 GMT"),
      ])
    for words in [
      ["--content-type=a/b"], ["--method=PUT", "--content-md5=xyz"], ["--method=HEAD", "--response-content-type=x"],
      ["--method=PUT", "--version-id=1"], ["--method=PATCH"],
    ] {
      let text = message {
        _ = try PresignChoices(Parser.parse((["presign"] + words).map { Argument($0) }, environment: [:]))
      }
      #expect(text != "", "\(words)")
    }
  }
}
