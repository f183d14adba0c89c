@testable import MultipartCore
import Testing

@Suite("Addresses of the services that hand out credentials", .timeLimit(.minutes(15)))
struct ServiceAddressTests {
  @Test(
    "a service has AWS's endpoint of its region",
    arguments: [
      (.sts, "eu-west-1", [:], "https://sts.eu-west-1.amazonaws.com", "eu-west-1"),
      (.sts, nil, [:], "https://sts.amazonaws.com", "us-east-1"),
      (.sts, "aws-global", [:], "https://sts.amazonaws.com", "us-east-1"),
      (.sts, "cn-north-1", [:], "https://sts.cn-north-1.amazonaws.com.cn", "cn-north-1"),
      (.sts, "us-gov-west-1", [:], "https://sts.us-gov-west-1.amazonaws.com", "us-gov-west-1"),
      (.sts, "eu-west-1", ["AWS_STS_REGIONAL_ENDPOINTS": "legacy"], "https://sts.amazonaws.com", "us-east-1"),
      (
        .sts, "eu-south-1", ["AWS_STS_REGIONAL_ENDPOINTS": "legacy"], "https://sts.eu-south-1.amazonaws.com",
        "eu-south-1"
      ),
      (.sts, "us-east-2", ["AWS_USE_FIPS_ENDPOINT": "true"], "https://sts-fips.us-east-2.amazonaws.com", "us-east-2"),
      (
        .sts, "us-gov-west-1", ["AWS_USE_FIPS_ENDPOINT": "true"], "https://sts.us-gov-west-1.amazonaws.com",
        "us-gov-west-1"
      ),
      (.sso, "eu-west-1", [:], "https://portal.sso.eu-west-1.amazonaws.com", "eu-west-1"),
      (.ssoOIDC, "eu-west-1", [:], "https://oidc.eu-west-1.amazonaws.com", "eu-west-1"),
      (.cognitoIdentity, "eu-west-1", [:], "https://cognito-identity.eu-west-1.amazonaws.com", "eu-west-1"),
    ] as [(CredentialService, String?, [String: String], String, String)])
  func regional(
    service: CredentialService, region: String?, environment: [String: String], origin: String, signing: String
  ) throws {
    let address = try ServiceAddresses(environment: environment).address(of: service, region: region)
    #expect(address.origin.description == origin)
    #expect(address.region == signing)
    #expect(address.basePath == "")
  }

  @Test(
    "configured endpoints win in AWS's order",
    arguments: [
      (["AWS_ENDPOINT_URL_STS": "http://a", "AWS_ENDPOINT_URL": "http://b"], "http://a"),
      (["AWS_ENDPOINT_URL": "http://b:81"], "http://b:81"),
      ([:], "http://c"),
      (["AWS_PROFILE": "plain"], "https://d"),
      (["AWS_PROFILE": "none"], "https://sts.eu-west-1.amazonaws.com"),
      (["AWS_PROFILE": "ignores", "AWS_ENDPOINT_URL": "http://b"], "https://sts.eu-west-1.amazonaws.com"),
      (
        ["AWS_ENDPOINT_URL": "http://b", "AWS_IGNORE_CONFIGURED_ENDPOINT_URLS": "true"],
        "https://sts.eu-west-1.amazonaws.com"
      ),
    ] as [([String: String], String)])
  func configured(environment: [String: String], origin: String) throws {
    let home = try ConfigHome(
      config: """
        [default]
        services = local
        endpoint_url = https://d
        [profile plain]
        endpoint_url = https://d
        [profile none]
        region = x
        [profile ignores]
        ignore_configured_endpoint_urls = true
        [services local]
        s3 =
          endpoint_url = http://s3
        sts =
          endpoint_url = http://c
        """)
    let config = try home.load()
    let profile = config.profile(environment["AWS_PROFILE"] ?? "default")
    let places = ServiceAddresses(environment: environment, profile: profile, config: config)
    #expect(try places.address(of: .sts, region: "eu-west-1").origin.description == origin)
  }

  @Test("an invalid endpoint is a configuration failure that names where it was set")
  func wrong() throws {
    func found(_ environment: [String: String], _ config: String = "", _ region: String = "eu-west-1") throws
      -> Failure?
    {
      let shared = try ConfigHome(config: config).load()
      let places = ServiceAddresses(environment: environment, profile: shared.profile("default"), config: shared)
      return #expect(throws: Failure.self) { try places.address(of: .sts, region: region) }
    }
    let url = try found(["AWS_ENDPOINT_URL_STS": "ftp://x"])
    #expect(url?.code == .configuration)
    #expect(url?.message == "AWS_ENDPOINT_URL_STS: the endpoint URL does not begin with http:// or https://")
    let services = try found([:], "[default]\nservices = gone\n")
    #expect(services?.code == .configuration)
    #expect(services?.message == "profile default uses the services section \"gone\", which does not exist")
    #expect(try found([:], "", "evil.example/x")?.code == .configuration)
    #expect(try found([:], "", "evil.example")?.code == .configuration)
  }
}
