@testable import MultipartCore
import Support
import Testing

@testable import s3up

private func parse(_ line: String..., environment: [String: String] = [:]) throws -> Invocation {
  try Parser.parse(line.map { Argument($0) }, environment: environment)
}

private func refusal(_ words: [String], environment: [String: String] = [:]) -> Failure? {
  do {
    _ = try Parser.parse(words.map { Argument($0) }, environment: environment)
    return nil
  } catch {
    return error
  }
}

@Suite(.timeLimit(.minutes(15))) struct ParserTests {
  @Test func aValueFollowsOrIsJoinedByAnEqualsSign() throws {
    let a = try parse("put", "--part-size", "8M", "f", "s3://bkt/k")
    let b = try parse("put", "--part-size=8M", "f", "s3://bkt/k")
    #expect(a.last(.partSize)?.value == "8M")
    #expect(b.last(.partSize)?.value == "8M")
    #expect(a.positionals == ["f", "s3://bkt/k"])
    #expect(b.positionals == ["f", "s3://bkt/k"])
    #expect(try parse("put", "--metadata=k=v=w").last(.metadata)?.value == "k=v=w")
  }

  @Test func optionsStandBeforeTheCommandAndBetweenArguments() throws {
    let result = try parse("--region", "eu-west-1", "put", "f", "--verify", "s3://bkt/k", "-q")
    #expect(result.command == .put)
    #expect(result.last(.region)?.value == "eu-west-1")
    #expect(result.toggle(.verify) == true)
    #expect(result.toggle(.quiet) == true)
    #expect(result.positionals == ["f", "s3://bkt/k"])
  }

  @Test func shortOptionsAreBundledAndCounted() throws {
    let result = try parse("put", "-qvv", "-v")
    #expect(result.toggle(.quiet) == true)
    #expect(result.all(.verbose).count == 3)
  }

  @Test func twoDashesEndTheOptionsAndOneDashIsAnArgument() throws {
    let result = try parse("put", "-", "--", "-q", "--verify", "--")
    #expect(result.positionals == ["-", "-q", "--verify", "--"])
    #expect(!result.has(.quiet))
  }

  @Test func theLastOfASingleValueWinsAndListsKeepAll() throws {
    let result = try parse("put", "--region", "a", "--region=b", "--tag", "x=1", "--tag=y=2")
    #expect(result.last(.region)?.value == "b")
    #expect(result.all(.tag).map(\.value) == ["x=1", "y=2"])
  }

  @Test func bytesThatAreNotUTF8AreKept() throws {
    let name = Argument(bytes: [0x66, 0xff, 0x2e])
    let key = Argument(bytes: Array("--sse-c-key-file=".utf8) + [0xfe])
    let result = try Parser.parse(["put", key, name], environment: [:])
    #expect(result.positionals == [name])
    #expect(result.last(.sseCKeyFile)?.value.bytes == [0xfe])
    #expect(name.cString == [0x66, -1, 0x2e, 0])
  }

  @Test func anOptionalValueNeedsTheEqualsSign() throws {
    #expect(try parse("put", "--json", "all").positionals == ["all"])
    #expect(try parse("put", "--json=all").last(.json)?.value == "all")
  }

  @Test(
    "an option of another tool is refused with s3up's name for it",
    arguments: [
      ("--no-verify-ssl", "--insecure"), ("--sse-c-key", "--sse-c-key-file"), ("--no-progress", "--progress none"),
      ("--only-show-errors", "--quiet"), ("--endpoint", "--endpoint-url"), ("--numworkers", "--concurrency"),
      ("--transfers", "--concurrency"), ("--no-check-certificate", "--insecure"), ("--bwlimit", "--limit-rate"),
      ("--multipart-chunk-size-mb", "--part-size"), ("--access_key", "AWS_ACCESS_KEY_ID"), ("-k", "--insecure"),
      ("--limit-upload", "--limit-rate"), ("-T", "first argument"), ("-c", "--concurrency"), ("--s3-acl", "--acl"),
    ])
  func otherTools(_ theirs: String, _ ours: String) {
    let found = refusal(["put", "f", "s3://bkt/k", theirs])
    #expect(
      found?.code == .usage && found?.message.hasPrefix("unknown option \(theirs): ") == true,
      "\(String(describing: found))"
    )
    #expect(found?.message.contains(ours) == true, "\(String(describing: found))")
    // The value is joined to the option, and may be a secret; there is no command.
    let joined = refusal([theirs + "=hUsh", "put"])
    #expect(
      joined?.message.contains("hUsh") != true && (theirs.utf8.count == 2 || joined?.message.contains(ours) == true))
  }

  @Test(
    "no option in the table of other tools is one of put's, none is listed twice, and each leads to an existing option"
  )
  func tableOfOtherTools() {
    let names = OtherTools.table.flatMap { $0.theirs.split(separator: " ").map(String.init) }
    #expect(Set(names).count == names.count)
    for name in names {
      #expect(FlagName(rawValue: name).map { FlagList.commands(with: $0).contains(.put) } != true, "\(name)")
      if name.hasPrefix("no-") { #expect(Parser.flag(named: String(name.dropFirst(3)), for: nil)?.negatable != true) }
    }
    for (ours, _) in OtherTools.table {
      if case .option(let name, _) = ours { #expect(FlagList.find(name, for: .put) != nil, "\(name)") }
    }
  }

  @Test func aNegationTakesBackWhatTheEnvironmentSwitchedOn() throws {
    #expect(try parse("put", environment: ["S3UP_VERIFY": "yes"]).toggle(.verify) == true)
    #expect(try parse("put", "--no-verify", environment: ["S3UP_VERIFY": "yes"]).toggle(.verify) == false)
    #expect(try parse("put", "--no-bucket-key").toggle(.bucketKey) == false)
    #expect(try parse("put", "--no-sign-request").toggle(.noSignRequest) == true)
    #expect(refusal(["put", "--no-quiet"]) != nil)
  }

  @Test(arguments: [
    (["put", "--partsize", "8M"], "did you mean --part-size?"),
    (["put", "--if-none-macth"], "did you mean --if-none-match?"),
    (["put", "--bucket-owner", "1"], "did you mean --expected-bucket-owner?"),
    (["put", "-region", "x"], "did you mean --region?"),
    (["put", "--payload"], "did you mean --payload-signing?"),
    (["putt"], "did you mean 'put'?"),
    (["presing"], "did you mean 'presign'?"),
    (["cp", "a", "b"], "there is no command 'cp'"),
    (["put", "--offset", "1"], "'part'"),
    (["get", "--ignore-existing"], "never replaces a file without --overwrite"),
    (["get", "--skip-existing"], "never replaces a file without --overwrite"),
    (["get", "--force"], "s3up calls it --overwrite"),
    (["get", "--update"], "s3up calls it --if-newer"),
    (["get", "--mime-type", "x"], "it is --content-type TYPE of 'put'"),
    (["get", "-L"], "'get' has no such option"),
    (["get", "--transfers", "4"], "s3up calls it --concurrency N"),
    (["abort", "--tag", "a=b"], "'put', 'create'"),
    (["put", "--if-none-match=false"], "takes no value"),
    (["put", "--region"], "needs a value"),
    (["put", "--region", "--verify"], "needs a value"),
    (["put", "--region="], "empty value"),
    (["put", "-x"], "unknown option -x"),
    (["put", "--" + "é"], "unknown option"),
    (["--verify"], "no command"),
  ])
  func nonsenseIsAUsageErrorThatNamesTheWayOut(_ words: [String], _ text: String) throws {
    let failure = try #require(refusal(words))
    #expect(failure.code == .usage)
    #expect(failure.message.contains(text), "\(String(describing: failure))")
    #expect(failure.remedy?.isEmpty == false)
  }

  @Test func nothingNearMeansNoSuggestion() throws {
    let option = try #require(refusal(["put", "--qqqqqqqqqqqq"]))
    #expect(!option.message.contains("did you mean"))
    let long = try #require(refusal([String(repeating: "x", count: 100_000)]))
    #expect(!long.message.contains("did you mean"))
  }

  @Test func helpAndVersionWinOverWhatIsMissing() throws {
    let help = try parse("put", "--help")
    #expect(help.command == .help)
    #expect(help.positionals == ["put"])
    #expect(try parse("-h").positionals.isEmpty)
    #expect(try parse("put", "f", "-h").positionals == ["put"])
    #expect(try parse("--version").has(.version))
    #expect(try parse("put", "--", "--help").command == .put)
  }

  @Test func argumentsAreCounted() throws {
    #expect(try parse("put", "f", "s3://bkt/k").arguments("FILE", "s3://BUCKET/KEY") == ["f", "s3://bkt/k"])
    let missing = #expect(throws: Failure.self) { try parse("put", "f").arguments("FILE", "s3://BUCKET/KEY") }
    #expect(missing?.message == "put: s3://BUCKET/KEY is missing")
    let extra = #expect(throws: Failure.self) { try parse("put", "a", "b", "c").arguments("A", "B") }
    #expect(extra?.message.contains("'c'") == true)
  }
}

@Suite(.timeLimit(.minutes(15))) struct EnvironmentTests {
  @Test func theCommandLineIsOverOurVariableAndOursOverTheOthers() throws {
    let all = ["S3UP_REGION": "one", "AWS_REGION": "two", "AWS_DEFAULT_REGION": "three"]
    #expect(try parse("put", "--region", "zero", environment: all).last(.region)?.value == "zero")
    let own = try parse("put", environment: all)
    #expect(own.last(.region)?.value == "one")
    #expect(own.last(.region)?.origin == .environment("S3UP_REGION"))
    var less = all
    less["S3UP_REGION"] = ""
    #expect(try parse("put", environment: less).last(.region)?.value == "two")
    less["AWS_REGION"] = nil
    #expect(try parse("put", environment: less).last(.region)?.value == "three")
  }

  @Test func listsTakeALineEachAndTheCommandLineReplacesThem() throws {
    let environment = ["S3UP_TAG": "a=1\nb=2 3\n"]
    #expect(try parse("put", environment: environment).all(.tag).map(\.value) == ["a=1", "b=2 3"])
    #expect(try parse("put", "--tag", "c=4", environment: environment).all(.tag).map(\.value) == ["c=4"])
  }

  @Test(arguments: [("1", true), ("true", true), ("YES", true), ("0", false), ("False", false), ("no", false)])
  func switchesTakeYesAndNo(_ word: String, _ on: Bool) throws {
    #expect(try parse("put", environment: ["S3UP_INSECURE": word]).toggle(.insecure) == on)
  }

  @Test func aWrongWordNamesItsVariable() throws {
    let failure = try #require(refusal(["put"], environment: ["S3UP_INSECURE": "maybe"]))
    #expect(failure.message.contains("S3UP_INSECURE"))
    let invocation = try parse("put", environment: ["AWS_MAX_ATTEMPTS": "many"])
    let value = #expect(throws: Failure.self) { try StoreOptions(invocation) }
    #expect(value?.message.contains("AWS_MAX_ATTEMPTS: 'many'") == true)
  }

  @Test func countsAndOptionalValuesHaveTheirOwnWords() throws {
    #expect(try parse("put", environment: ["S3UP_VERBOSE": "2"]).all(.verbose).count == 2)
    #expect(try parse("put", environment: ["S3UP_VERBOSE": "0"]).all(.verbose).isEmpty)
    #expect(try parse("put", environment: ["S3UP_JSON": "1"]).last(.json)?.value == "")
    #expect(try parse("put", environment: ["S3UP_JSON": "all"]).last(.json)?.value == "all")
    #expect(try !parse("put", environment: ["S3UP_JSON": "0"]).has(.json))
  }

  @Test func theWordsOfAWSAreTranslated() throws {
    for (word, choice) in [("WHEN_REQUIRED", ChecksumForm.md5), ("when_supported", nil), ("sha1", .algorithm(.sha1))]
      as [(String, ChecksumForm?)]
    {
      let invocation = try parse("put", environment: ["AWS_REQUEST_CHECKSUM_CALCULATION": word])
      #expect(try UploadOptions(invocation).checksum == choice)
    }
  }

  @Test func aVariableOfAnotherCommandsOptionIsNotRead() throws {
    #expect(try !parse("abort", environment: ["S3UP_PART_SIZE": "nonsense"]).has(.partSize))
    #expect(try !parse("put", environment: ["S3UP_HELP": "1", "S3UP_VERSION": "1"]).has(.help))
  }
}
