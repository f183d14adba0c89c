@testable import MultipartCore
import Support
import Testing

@Suite("Grammar of the shared files", .timeLimit(.minutes(15)))
struct ConfigGrammarTests {
  /// The text of a config file, and the value of `region` of the profile dev in it.
  @Test(
    "a value is found in every layout of the file",
    arguments: [
      ("[profile dev]\nregion = eu-west-1\n", "eu-west-1"),
      ("[profile dev]\nregion=eu-west-1", "eu-west-1"),
      ("[profile dev]\r\nregion = eu-west-1\r\n", "eu-west-1"),
      ("\u{FEFF}[profile dev]\nregion = eu-west-1\n", "eu-west-1"),
      ("\n\n# c\n; c\n  # c\n[profile dev]\n# region = no\nregion = eu-west-1\n", "eu-west-1"),
      ("[profile dev] # c\nregion = eu-west-1 # c\n", "eu-west-1"),
      ("[profile dev];c\nregion = eu-west-1\t;c\n", "eu-west-1"),
      ("[profile dev]\nregion = a#b;c\n", "a#b;c"),
      ("[profile dev]\nregion = a=b:c\n", "a=b:c"),
      ("[profile dev]\nregion: eu-west-1\n", "eu-west-1"),
      ("[profile dev]\nREGION = eu-west-1\n", "eu-west-1"),
      ("[ profile \t dev ]\nregion = eu-west-1\n", "eu-west-1"),
      ("[profile \"dev\"]\nregion = eu-west-1\n", "eu-west-1"),
      ("[profile 'dev']\nregion = eu-west-1\n", "eu-west-1"),
      ("  [profile dev]\n  region = eu-west-1\n  output = json\n", "eu-west-1"),
      ("[profile dev]\n  output = json\n  region = eu-west-1\n", "eu-west-1"),
      ("[profile dev]\nregion = first\nregion = last\n", "last"),
      ("[profile dev]\nregion = first\n[profile x]\nregion = no\n[profile dev]\nregion = last\n", "last"),
      ("[profile dev]\nregion = one\n  two\n\n\tthree # c\noutput = x\n", "one\ntwo\nthree"),
      ("[profile dev]\nno such setting = x\nregion = eu-west-1\n", "eu-west-1"),
      ("[profile dev]\nregion = first\n# c\n  # c\n  second\n", "first\nsecond"),
      ("[profile dev]\nregion = %(x)s $HOME \"a\"\n", "%(x)s $HOME \"a\""),
      ("[preview]\nx = 1\n[plugins]\ny = 2\n[profile dev]\nregion = eu-west-1\n", "eu-west-1"),
      ("[profile dev]\nregion =\n", nil),
      ("[profile dev]\nregion = # nothing\n", nil),
      ("[profile dev]\n", nil),
    ] as [(String, String?)])
  func layouts(text: String, region: String?) throws {
    let home = try ConfigHome(config: text)
    #expect(try home.load().profile("dev")?["region"] == region)
    #expect(try home.load().profile("dev") != nil)
  }

  @Test("a block below an empty value has its own pairs, and ends with its indentation")
  func blocks() throws {
    let home = try ConfigHome(
      config: """
        [profile dev]
        s3 =
          max_concurrent_requests = 20
          # a comment

          Addressing_Style = path # another
        region = eu-west-1
        [services local]
        s3 =
          endpoint_url = http://localhost:9000
        [sso-session corp]
        sso_region = eu-west-1
        """)
    let config = try home.load()
    let profile = try #require(config.profile("dev"))
    #expect(profile.block("s3") == ["max_concurrent_requests": "20", "addressing_style": "path"])
    #expect(profile.block("ec2").isEmpty)
    #expect(profile["region"] == "eu-west-1")
    #expect(profile["s3"] == nil)
    #expect(config.section("services", "local")?.nested["s3"]?["endpoint_url"] == "http://localhost:9000")
    #expect(config.section("sso-session", "corp")?["sso_region"] == "eu-west-1")
    #expect(config.profileNames == ["dev"])
  }

  @Test(
    "a command keeps text that would be a comment elsewhere",
    arguments: [
      ("sh -c 'a ; b # c' # d", "sh -c 'a ; b # c' # d"), ("a\n  ; no\n  b ; c", "a\nb ; c"), ("# d", "# d"),
    ])
  func commands(text: String, command: String) throws {
    let home = try ConfigHome(config: "[profile dev]\nregion = x ; y\nCredential_Process = \(text)\nregion = x # y\n")
    #expect(try home.load().profile("dev")?["credential_process"] == command)
    #expect(try home.load().profile("dev")?["region"] == "x")
  }

  @Test("of two blocks with one name the last one counts entirely")
  func lastBlock() throws {
    let home = try ConfigHome(config: "[profile dev]\ns3 =\n a = 1\n b = 2\ns3 =\n a = 3\n")
    #expect(try home.load().profile("dev")?.block("s3") == ["a": "3"])
  }

  @Test(
    "an invalid file is reported with the line number, without its text",
    arguments: [
      ("region = hunter2\n", 1),
      ("[profile dev]\n\nhunter2\n", 3),
      ("[profile dev]\n= hunter2\n", 2),
      ("[profile dev]\nno pair hunter2\n", 2),
      ("[profile hunter2\n", 1),
      ("[profile dev] hunter2\n", 1),
      ("[profile \"hunter2]\n", 1),
      ("[]\nhunter2 = 1\n", 1),
      ("[profile dev]\ns3 =\n  a = 1\n  hunter2\n", 4),
      ("[profile dev]\nkey = hunter2\u{0}\n", 2),
    ])
  func broken(text: String, line: Int) throws {
    let home = try ConfigHome(config: text)
    let failure = #expect(throws: Failure.self) { try home.load() }
    #expect(failure?.code == .configuration)
    #expect(failure?.message.hasPrefix("~/.aws/config:\(line): ") == true)
    #expect(failure?.message.contains("hunter2") == false)
    #expect(failure?.remedy?.contains("hunter2") == false)
  }

  @Test("bytes that are not UTF-8 are refused with their line number instead of being replaced")
  func notUTF8() throws {
    let home = try ConfigHome()
    try home.write(Array("[default]\naws_secret_access_key = ".utf8) + [0xFF, 0x0A], to: ".aws/credentials")
    let failure = #expect(throws: Failure.self) { try home.load() }
    #expect(failure?.message == "~/.aws/credentials:2: the line is not text in UTF-8")
  }

  @Test("any bytes give a value or a failure")
  func anyBytes() throws {
    var generator = SplitMix(state: 42)
    let alphabet = Array("[]= \t\n\r#;\"':ab\u{e9}".utf8) + [0, 0xFF]
    let home = try ConfigHome()
    for _ in 0..<300 {
      let bytes = (0..<Int.random(in: 0...60, using: &generator)).map { _ in
        alphabet[Int.random(in: 0..<alphabet.count, using: &generator)]
      }
      try home.write(bytes, to: ".aws/config")
      do {
        _ = try home.load().profileNames
      } catch let failure as Failure {
        #expect(failure.code == .configuration)
      }
    }
  }
}

/// A generator that gives the same numbers each time.
private struct SplitMix: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }
}
