import Foundation
@testable import MultipartCore
import Support
import Testing

@Suite("Shared files", .timeLimit(.minutes(15)))
struct SharedConfigTests {
  @Test("the credentials file wins over the config file, value by value")
  func merging() throws {
    let home = try ConfigHome(
      config: "[profile dev]\nregion = config\noutput = json\ns3 =\n a = config\n b = config\n",
      credentials: "[dev]\nregion = credentials\ns3 =\n a = credentials\n")
    let profile = try #require(try home.load().profile("dev"))
    #expect(profile["region"] == "credentials")
    #expect(profile["output"] == "json")
    #expect(profile.block("s3") == ["a": "credentials", "b": "config"])
  }

  @Test(
    "a section is a profile by AWS's rules for its file",
    arguments: [
      ("[default]\nregion = a\n", nil, "default", "a"),
      ("[profile default]\nregion = a\n", nil, "default", "a"),
      ("[profile default]\nregion = a\n[default]\nregion = b\n", nil, "default", "a"),
      ("[dev]\nregion = a\n", nil, "dev", nil),
      ("[profile dev]\nregion = a\n", nil, "dev", "a"),
      ("[profile \"my own\"]\nregion = a\n", nil, "my own", "a"),
      ("[profile Dev]\nregion = a\n", nil, "dev", nil),
      ("[services dev]\nregion = a\n", nil, "dev", nil),
      (nil, "[dev]\nregion = a\n", "dev", "a"),
      (nil, "[default]\nregion = a\n", "default", "a"),
      (nil, "[profile dev]\nregion = a\n", "dev", nil),
      (nil, "[my own]\nregion = a\n", "my own", "a"),
      (nil, nil, "default", nil),
    ] as [(String?, String?, String, String?)])
  func names(config: String?, credentials: String?, name: String, region: String?) throws {
    let home = try ConfigHome(config: config, credentials: credentials)
    #expect(try home.load().profile(name)?["region"] == region)
  }

  @Test("the variables name other files, with ~ or without")
  func variables() throws {
    let home = try ConfigHome(config: "[profile no]\n", credentials: "[no]\n")
    try home.write(Array("[profile a]\n".utf8), to: "other-config")
    try home.write(Array("[b]\n".utf8), to: "other-credentials")
    let config = try home.load([
      "AWS_CONFIG_FILE": home.path + "/other-config", "AWS_SHARED_CREDENTIALS_FILE": "~/other-credentials",
    ])
    #expect(config.profileNames == ["a", "b"])
    #expect(config.credentialsPath == "~/other-credentials")
  }

  @Test("missing files, an empty device, and a missing HOME give no profiles")
  func absent() throws {
    let home = try ConfigHome()
    #expect(try home.load().profileNames.isEmpty)
    #expect(try home.load(["AWS_CONFIG_FILE": "/dev/null"]).profileNames.isEmpty)
    #expect(try home.load(["AWS_CONFIG_FILE": home.path + "/no/such/file"]).profileNames.isEmpty)
    #expect(try SharedConfig.load(environment: [:]).profileNames.isEmpty)
    #expect(try SharedConfig.load(environment: ["HOME": ""]).profileNames.isEmpty)
  }

  @Test("an empty variable counts as not set")
  func emptyVariable() throws {
    let home = try ConfigHome(config: "[profile a]\n")
    #expect(try home.load(["AWS_CONFIG_FILE": ""]).profileNames == ["a"])
  }

  @Test("an unreadable or far too long file is a failure that names it")
  func unreadable() throws {
    let home = try ConfigHome()
    let directory = #expect(throws: Failure.self) { try home.load(["AWS_CONFIG_FILE": "~/.aws"]) }
    #expect(directory?.code == .configuration)
    #expect(directory?.message == "cannot read ~/.aws: Is a directory")
    let endless = #expect(throws: Failure.self) { try home.load(["AWS_CONFIG_FILE": "/dev/zero"]) }
    #expect(endless?.code == .configuration)
    #expect(endless?.message.hasPrefix("/dev/zero is longer than") == true)
  }

  @Test(
    "the profile is the option's, else a variable's, else default",
    arguments: [
      (nil, [:], "default", .standard),
      ("a", ["AWS_PROFILE": "b"], "a", .option),
      (nil, ["AWS_PROFILE": "b", "AWS_DEFAULT_PROFILE": "c"], "b", .variable("AWS_PROFILE")),
      (nil, ["AWS_PROFILE": "", "AWS_DEFAULT_PROFILE": "c"], "c", .variable("AWS_DEFAULT_PROFILE")),
      ("", ["AWS_PROFILE": ""], "default", .standard),
      ("default", [:], "default", .option),
    ] as [(String?, [String: String], String, ProfileChoice.Origin)])
  func choice(option: String?, environment: [String: String], name: String, origin: ProfileChoice.Origin) {
    let choice = ProfileChoice(option: option, environment: environment)
    #expect(choice == ProfileChoice(name: name, origin: origin))
  }

  @Test("a named profile that does not exist is a failure that says where it looked and which profiles exist")
  func unknownProfile() throws {
    let home = try ConfigHome(config: "[profile prod]\n[dev]\nregion = a\n", credentials: "[default]\n")
    let config = try home.load(["AWS_SHARED_CREDENTIALS_FILE": home.path + "/.aws/credentials"])
    for origin in [ProfileChoice.Origin.option, .variable("AWS_PROFILE")] {
      let failure = #expect(throws: Failure.self) { try config.profile(ProfileChoice(name: "prd", origin: origin)) }
      #expect(failure?.code == .configuration)
      #expect(
        failure?.message.hasPrefix("there is no profile \"prd\" in \(home.path)/.aws/credentials or ~/.aws/config")
          == true)
      #expect(failure?.remedy == "the existing profiles are: default, prod")
    }
    let missed = #expect(throws: Failure.self) { try config.profile(ProfileChoice(name: "dev", origin: .option)) }
    #expect(missed?.remedy == "call its section [profile dev] in ~/.aws/config")
  }

  @Test("the default profile need not exist if it was not named")
  func defaultMayBeMissing() throws {
    let config = try ConfigHome().load()
    #expect(try config.profile(ProfileChoice(name: "default", origin: .standard)) == nil)
    #expect(throws: Failure.self) { try config.profile(ProfileChoice(name: "default", origin: .option)) }
  }

  @Test("no dump or description shows a value")
  func nothingLeaks() throws {
    let config = try ConfigHome(
      config: "[default]\ns3 =\n a = hunter2\n", credentials: "[default]\naws_secret_access_key = hunter2\n"
    ).load()
    let profile = try #require(config.profile("default"))
    var dumped = ""
    dump(config, to: &dumped)
    dump(profile, to: &dumped)
    for text in ["\(config)", "\(profile)", String(reflecting: profile), dumped] { #expect(!text.contains("hunter2")) }
    #expect(dumped.contains("aws_secret_access_key"))
  }
}
