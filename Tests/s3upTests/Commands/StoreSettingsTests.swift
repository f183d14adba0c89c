import MultipartBasics
@testable import MultipartCore
import Support
import Testing

@testable import s3up

/// How options, environment and the shared files combine into settings.
@Suite(.timeLimit(.minutes(15))) struct StoreSettingsTests {
  private let home: TemporaryDirectory
  private let keys = ["AWS_ACCESS_KEY_ID": "AKID", "AWS_SECRET_ACCESS_KEY": "secret"]

  init() throws {
    home = try TemporaryDirectory()
  }

  private func settings(
    _ words: String..., config: String? = nil, environment: [String: String] = [:], bucket: String = "bucket"
  ) throws -> StoreSettings {
    if let config { try home.write(Array(config.utf8), to: ".aws/config") }
    let environment = environment.merging(["HOME": home.path]) { own, _ in own }
    let invocation = try Parser.parse(["put"] + words.map { Argument($0) }, environment: environment)
    let options = try StoreOptions(invocation)
    return try StoreSettings(options, environment, ProfileSettings(options, environment), bucket: bucket)
  }

  private func failure(
    _ words: String..., config: String? = nil, environment: [String: String] = [:]
  ) throws -> Failure? {
    do {
      let settings =
        switch words.count {
        case 0: try settings(config: config, environment: environment)
        case 1: try settings(words[0], config: config, environment: environment)
        default: try settings(words[0], words[1], config: config, environment: environment)
        }
      _ = try EndpointResolver.resolve(settings.question)
      return nil
    } catch let failure as Failure {
      return failure
    }
  }

  private static let services = """
    [default]
    services = mine
    endpoint_url = http://profile
    [services mine]
    s3 =
      endpoint_url = http://services
    """

  @Test("the endpoint is the option's, then the S3UP variable's, then AWS's variables', the services', the profile's")
  func endpointOrder() throws {
    var environment = [
      "S3UP_ENDPOINT_URL": "http://own", "AWS_ENDPOINT_URL_S3": "http://s3", "AWS_ENDPOINT_URL": "http://all",
    ]
    func found(_ words: String...) throws -> (String?, String) {
      let found =
        try words.isEmpty
        ? settings(config: Self.services, environment: environment)
        : settings(words[0], config: Self.services, environment: environment)
      return (found.question.endpointURL, found.source(.endpoint))
    }
    #expect(try found("--endpoint-url=http://typed") == ("http://typed", "--endpoint-url"))
    #expect(try found() == ("http://own", "S3UP_ENDPOINT_URL"))
    environment["S3UP_ENDPOINT_URL"] = nil
    #expect(try found() == ("http://s3", "AWS_ENDPOINT_URL_S3"))
    environment["AWS_ENDPOINT_URL_S3"] = ""
    #expect(try found() == ("http://all", "AWS_ENDPOINT_URL"))
    environment["AWS_ENDPOINT_URL"] = nil
    #expect(try found() == ("http://services", "profile default"))
    let profile = try settings(config: "[default]\nendpoint_url = http://profile\n")
    #expect(profile.question.endpointURL == "http://profile")
    #expect(try settings(config: "[default]\nservices = mine\n[services mine]\n").question.endpointURL == nil)
  }

  @Test("configured endpoints are ignored on request, but never s3up's own")
  func ignored() throws {
    let ignore = ["AWS_IGNORE_CONFIGURED_ENDPOINT_URLS": "true"]
    #expect(try settings(config: Self.services, environment: ignore).question.endpointURL == nil)
    let aws = ignore.merging(["AWS_ENDPOINT_URL_S3": "http://s3"]) { a, _ in a }
    #expect(try settings(environment: aws).question.endpointURL == nil)
    let own = ignore.merging(["S3UP_ENDPOINT_URL": "http://own"]) { a, _ in a }
    #expect(try settings(environment: own).question.endpointURL == "http://own")
    #expect(try settings("--endpoint-url=http://typed", environment: ignore).question.endpointURL == "http://typed")
    let byProfile = "[default]\nignore_configured_endpoint_urls = true\nendpoint_url = http://profile\n"
    #expect(try settings(config: byProfile).question.endpointURL == nil)
    #expect(
      try settings(config: byProfile, environment: ["AWS_ENDPOINT_URL": "http://all"]).question.endpointURL == nil)
    #expect(
      try settings(
        config: byProfile,
        environment: ["AWS_ENDPOINT_URL": "http://all", "AWS_IGNORE_CONFIGURED_ENDPOINT_URLS": "false"]
      ).question.endpointURL == "http://all")
  }

  @Test("missing services are reported with their file")
  func missingServices() throws {
    let failure = try #require(try failure(config: "[default]\nservices = gone\n"))
    #expect(failure.code == .configuration)
    #expect(failure.message.contains("gone") && failure.message.contains(".aws/config"))
  }

  private static let block = """
    [default]
    region = eu-west-1
    use_fips_endpoint = true
    s3 =
      use_dualstack_endpoint = true
      addressing_style = virtual
      payload_signing_enabled = true
      max_concurrent_requests = 20
      multipart_threshold = 64MB
      multipart_chunksize = 16MB
      max_bandwidth = 50MB/s
    """

  @Test("the s3 block sets what is not set elsewhere")
  func block() throws {
    let found = try settings(config: Self.block)
    #expect(found.question.region == "eu-west-1")
    #expect(found.question.options.fips && found.question.options.dualstack && !found.question.options.accelerate)
    #expect(found.question.options.addressing == .virtual && found.question.options.addressingIsWish)
    #expect(found.payloadSigning == .always)
    #expect(found.transfer.concurrency == 20)
    #expect(found.transfer.threshold == 64 << 20)
    #expect(found.transfer.partSize(forFileOf: 100 << 20) == 16 << 20)
    #expect(found.transfer.limitRate == .bytesPerSecond(50 << 20))
    for name in [
      Setting.region, .fips, .dualstack, .addressing, .payloadSigning, .concurrency, .partSize, .limitRate,
    ] { #expect(found.source(name) == "profile default", "\(name)") }
    #expect(found.source(.accelerate) == "default")
  }

  @Test("The profile's max_attempts and ca_bundle count where neither an option nor AWS's variable sets them")
  func attemptsAndBundle() throws {
    let config = "[default]\nmax_attempts = 3\nca_bundle = /p.pem\n"
    let found = try settings(config: config)
    #expect(found.transfer.tries == 3 && found.transfer.caBundle == "/p.pem")
    #expect(found.source(.tries) == "profile default" && found.source(.caBundle) == "profile default")
    let variables = ["AWS_MAX_ATTEMPTS": "4", "AWS_CA_BUNDLE": "/v.pem"]
    let invocation = try Parser.parse(["put"], environment: variables)
    #expect(try StoreOptions(invocation).tries == 4)
    let byVariable = try settings(config: config, environment: variables)
    #expect(byVariable.transfer.tries == 4 && byVariable.transfer.caBundle == nil)
    #expect(try settings("--retries", "5", config: config, environment: variables).transfer.tries == 5)
    #expect(try failure(config: "[default]\nmax_attempts = 0\n")?.message.description.holds("max_attempts") == true)
  }

  @Test("options and variables win over the s3 block")
  func overridden() throws {
    let environment = [
      "AWS_REGION": "eu-west-3", "AWS_USE_FIPS_ENDPOINT": "false", "AWS_USE_DUALSTACK_ENDPOINT": "false",
      "S3UP_ADDRESSING": "path", "S3UP_PAYLOAD_SIGNING": "never", "S3UP_CONCURRENCY": "2", "S3UP_PART_SIZE": "5M",
      "S3UP_LIMIT_RATE": "off",
    ]
    let found = try settings(config: Self.block, environment: environment)
    #expect(found.question.region == "eu-west-3" && found.source(.region) == "AWS_REGION")
    #expect(!found.question.options.fips && !found.question.options.dualstack)
    #expect(found.question.options.addressing == .path && !found.question.options.addressingIsWish)
    #expect(found.payloadSigning == .never)
    #expect(found.transfer.concurrency == 2 && found.transfer.limitRate == nil)
    #expect(found.transfer.partSize(forFileOf: 1) == nil && found.transfer.threshold == nil)
    #expect(try settings("--no-fips", config: Self.block).question.options.fips == false)
    #expect(try settings("--fips").question.options.fips)
    #expect(try settings(environment: ["S3UP_ACCELERATE": "1"]).question.options.accelerate)
  }

  @Test(
    "an invalid value ends in 78 with file and setting",
    arguments: [
      ("s3 =\n  max_concurrent_requests = 0", "s3.max_concurrent_requests"),
      ("s3 =\n  max_concurrent_requests = many", "s3.max_concurrent_requests"),
      ("s3 =\n  multipart_threshold = 8 apples", "s3.multipart_threshold"),
      ("s3 =\n  multipart_chunksize = -1", "s3.multipart_chunksize"),
      ("s3 =\n  max_bandwidth = fast", "s3.max_bandwidth"),
      ("s3 =\n  max_bandwidth = 0", "s3.max_bandwidth"),
      ("s3 =\n  addressing_style = sideways", "s3.addressing_style"),
      ("s3 =\n  use_accelerate_endpoint = perhaps", "s3.use_accelerate_endpoint"),
      ("s3 =\n  payload_signing_enabled = 2", "s3.payload_signing_enabled"),
      ("use_dualstack_endpoint = on", "use_dualstack_endpoint"), ("use_fips_endpoint = 2", "use_fips_endpoint"),
      ("s3_us_east_1_regional_endpoint = old", "s3_us_east_1_regional_endpoint"),
      ("ignore_configured_endpoint_urls = maybe", "ignore_configured_endpoint_urls"),
    ])
  func badValues(text: String, setting: String) throws {
    let failure = try #require(try failure(config: "[default]\n" + text + "\n"))
    #expect(failure.code == .configuration)
    #expect(failure.message.contains("~/.aws/config: \(setting) "), "\(String(describing: failure))")
    #expect(failure.remedy?.contains(setting) == true)
  }

  @Test("AWS variables without an option are checked too")
  func badVariables() throws {
    for name in [
      "AWS_S3_USE_ARN_REGION", "AWS_S3_US_EAST_1_REGIONAL_ENDPOINT", "AWS_IGNORE_CONFIGURED_ENDPOINT_URLS",
    ] {
      let failure = try #require(try failure(environment: [name: "perhaps"]))
      #expect(failure.code == .configuration && failure.message.contains(name))
    }
    #expect(try settings(environment: ["AWS_S3_USE_ARN_REGION": "false"]).question.options.usesARNRegion == false)
    #expect(try settings(config: "[default]\ns3_use_arn_region = false\n").question.options.usesARNRegion == false)
    let legacy = try settings(environment: ["AWS_S3_US_EAST_1_REGIONAL_ENDPOINT": "legacy"])
    #expect(legacy.question.options.usesGlobalEndpoint)
  }

  @Test(
    "sizes and rates have AWS's syntax",
    arguments: [
      ("8MB", 8 << 20), ("8388608", 8 << 20), ("1GiB", 1 << 30), ("512KB", 512 << 10), ("", nil), ("0", nil),
      ("8 MB", nil), ("1.5GB", nil),
    ] as [(String, Int64?)])
  func sizes(text: String, bytes: Int64?) {
    #expect(ProfileS3.size(text) == bytes)
  }

  @Test(
    "a rate of bits is an eighth of one of bytes",
    arguments: [
      ("50MB/s", 50 << 20), ("100Mb/s", 100 << 17), ("8b/s", 1), ("7b/s", nil), ("1048576", 1 << 20),
      ("1GB/s", 1 << 30),
      ("MB/s", nil), ("-1MB/s", nil), ("10MB/h", nil),
    ] as [(String, Int64?)])
  func rates(text: String, bytes: Int64?) {
    #expect(ProfileS3.rate(text) == bytes)
  }

  @Test("a chunk size that S3 does not allow is adjusted, and one too small for the file is ignored")
  func chunks() throws {
    func size(_ text: String, _ file: Int64) throws -> Int64? {
      try settings(config: "[default]\ns3 =\n  multipart_chunksize = \(text)\n").transfer.partSize(forFileOf: file)
    }
    #expect(try size("1MB", 100 << 20) == 5 << 20)
    #expect(try size("100GB", 100 << 20) == 5 << 30)
    #expect(try size("5MB", 100 << 30) == nil)
  }

  @Test("a conflict of two settings is 64 if one was typed, else 78")
  func blame() throws {
    let url = ["AWS_ENDPOINT_URL_S3": "http://h"]
    #expect(try failure("--fips", environment: url)?.code == .usage)
    #expect(try failure(config: "[default]\nuse_fips_endpoint = true\n", environment: url)?.code == .configuration)
    #expect(try failure("--accelerate", "--fips")?.code == .usage)
    let accelerated = "[default]\ns3 =\n  use_accelerate_endpoint = true\n  addressing_style = path\n"
    #expect(try failure(config: accelerated) == nil)
  }

  @Test("the files are not read if options and environment say everything")
  func closedFiles() throws {
    let all = keys.merging(["AWS_REGION": "eu-west-1", "AWS_ENDPOINT_URL_S3": "http://h"]) { a, _ in a }
    let broken = "[default\n"
    #expect(try settings(config: broken, environment: all).question.region == "eu-west-1")
    for name in all.keys where name != "AWS_SECRET_ACCESS_KEY" {
      var less = all
      less[name] = nil
      #expect(throws: Failure.self, "\(name)") { try settings(config: broken, environment: less) }
    }
    var named = all
    named["AWS_PROFILE"] = "default"
    #expect(throws: Failure.self) { try settings(config: broken, environment: named) }
  }

  // MARK: - The region

  private struct Silent: Transport {
    var region: String?
    let asked = Locked(0)

    func send(_ request: Request) async throws(Failure) -> Response {
      asked.withLock { $0 += 1 }
      guard let region else { throw Failure(.network, "nobody there") }
      return Response(status: 403, headers: ["x-amz-bucket-region": region])
    }
  }

  private static let world = World(
    now: { Timestamp(seconds: 0) }, uptime: { .zero }, sleep: { _ in }, random: { 0 }, environment: [:])

  @Test("the region is the option's, the environment's, the profile's, the machine's, the bucket's own, then us-east-1")
  func regionOrder() async throws {
    func region(
      _ settings: StoreSettings, machine: String? = nil, bucket: String? = nil
    ) async throws -> (String, String, Int) {
      var settings = settings
      let transport = Silent(region: bucket)
      let endpoint = try await settings.endpoint(
        machine: { machine }, transport: transport, world: Self.world)
      return (endpoint.region, settings.source(.region), transport.asked.withLock { $0 })
    }
    let config = "[default]\nregion = eu-west-1\n"
    let environment = ["AWS_REGION": "eu-west-2"]
    let typed = try settings("--region=eu-west-3", config: config, environment: environment)
    #expect(try await region(typed, machine: "sa-east-1", bucket: "il-central-1") == ("eu-west-3", "--region", 0))
    let variable = try settings(config: config, environment: environment)
    #expect(try await region(variable, machine: "sa-east-1", bucket: "il-central-1") == ("eu-west-2", "AWS_REGION", 0))
    let profile = try settings(config: config)
    #expect(try await region(profile, machine: "sa-east-1") == ("eu-west-1", "profile default", 0))
    let nothing = try settings(config: "")
    // Both are asked at the same time, and the first answer counts.
    let either = try await region(nothing, machine: "sa-east-1", bucket: "il-central-1")
    #expect(
      [either.0, either.1] == ["sa-east-1", "this machine"]
        || [either.0, either.1] == ["il-central-1", "asked of the bucket"])
    let machine = try await region(nothing, machine: "sa-east-1")
    #expect([machine.0, machine.1] == ["sa-east-1", "this machine"])
    #expect(try await region(nothing, bucket: "il-central-1") == ("il-central-1", "asked of the bucket", 1))
    #expect(try await region(nothing) == ("us-east-1", "default", 1))
    let own = try settings("--endpoint-url=http://h")
    #expect(try await region(own, machine: "sa-east-1", bucket: "il-central-1") == ("us-east-1", "default", 0))
    let zone = try settings(bucket: "b--apse2-az1--x-s3")
    #expect(try await region(zone, machine: "sa-east-1") == ("ap-southeast-2", "the bucket's name", 0))
    let arn = try settings(bucket: "arn:aws:s3:eu-north-1:123456789012:accesspoint/ap")
    #expect(try await region(arn, machine: "sa-east-1") == ("eu-north-1", "the bucket's name", 0))
  }
}
