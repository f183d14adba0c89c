import MultipartBasics

/// An AWS service that issues credentials.
enum CredentialService: String, Sendable, CaseIterable {
  case sts
  case sso
  case ssoOIDC = "sso_oidc"
  case cognitoIdentity = "cognito_identity"

  /// The variable for its endpoint, such as `AWS_ENDPOINT_URL_SSO_OIDC`; the raw value is the name of its block in a
  /// `services` section.
  var variable: String { "AWS_ENDPOINT_URL_\(rawValue.uppercased())" }

  /// The remedy for an address that follows from the region: a private store has a region whose name leads nowhere.
  fileprivate var elsewhere: Wording {
    "check the network; the address follows from the region: set \(variable) for a service elsewhere"
  }

  fileprivate var label: String {
    switch self {
    case .sts: "sts"
    case .sso: "portal.sso"
    case .ssoOIDC: "oidc"
    case .cognitoIdentity: "cognito-identity"
    }
  }
}

/// The endpoint of such a service, and the region for its signatures.
struct ServiceAddress: Sendable, Equatable {
  var origin: Origin
  /// The prefix of every path: empty, or `/x` without a trailing slash.
  var basePath = ""
  var region: String
  /// What to do if nothing answers there.
  var unanswered: Wording = "check the network"
}

/// Finds the services' endpoints. A configured one takes precedence, in AWS's order: `AWS_ENDPOINT_URL_STS`,
/// `AWS_ENDPOINT_URL`, `endpoint_url` in the `sts` block of the profile's `services` section, `endpoint_url` of the
/// profile; none of them with `AWS_IGNORE_CONFIGURED_ENDPOINT_URLS`. Otherwise `sts.<region>.<suffix>`, or the global
/// `sts.amazonaws.com` without a region and with `AWS_STS_REGIONAL_ENDPOINTS=legacy`.
///
/// ```swift
/// let places = ServiceAddresses(environment: environment, profile: profile, config: shared)
/// let sts = STSClient(services: services, address: try places.address(of: .sts, region: "eu-west-1"))
/// ```
struct ServiceAddresses: Sendable {
  private let environment: [String: String]
  private let profile: Profile?
  private let config: SharedConfig?

  init(environment: [String: String], profile: Profile? = nil, config: SharedConfig? = nil) {
    self.environment = environment
    self.profile = profile
    self.config = config
  }

  func address(of service: CredentialService, region: String?) throws(Failure) -> ServiceAddress {
    let region = region.flatMap { $0.isEmpty ? nil : $0 }
    if let configured = try configured(service) {
      do throws(Failure) {
        let url = try EndpointURL.parse(configured.url, blame: .configuration)
        let host = url.port.map { "\(url.host):\($0)" } ?? url.host
        return ServiceAddress(
          origin: Origin(scheme: url.scheme, host: host), basePath: url.path, region: try signing(region),
          unanswered: "check the network, and the address, which is set by \(configured.place)")
      } catch {
        var failure = error
        failure.message = "\(configured.place): \(error.message)"
        throw failure
      }
    }
    let usesFIPS = try usesFIPS
    if service == .sts, isGlobal(region, usesFIPS: usesFIPS) {
      return ServiceAddress(
        origin: Origin(scheme: .https, host: "sts.amazonaws.com"), region: EndpointResolver.defaultRegion,
        unanswered: service.elsewhere)
    }
    let name = try signing(region)
    guard BucketName.isLabel(name) else {
      throw Failure(
        .configuration,
        "\"\(SafeText.oneLine(name))\" is not the name of an AWS region, which \(service.label) needs",
        remedy: "regions look like eu-west-1; set \(service.variable) for a service elsewhere")
    }
    let host = "\(label(of: service, in: name, usesFIPS: usesFIPS)).\(name).\(Partition.of(region: name).dnsSuffix)"
    return ServiceAddress(
      origin: Origin(scheme: .https, host: host), region: name, unanswered: service.elsewhere)
  }

  /// Checks a region that becomes part of a signature's scope.
  private func signing(_ region: String?) throws(Failure) -> String {
    let region = region ?? EndpointResolver.defaultRegion
    guard BucketName.isRegion(region) else {
      throw Failure(
        .configuration, "\"\(SafeText.oneLine(region))\" cannot be the name of a region",
        remedy: "regions have letters, digits, dots, hyphens and underscores, such as eu-west-1")
    }
    return region
  }

  private func configured(_ service: CredentialService) throws(Failure) -> (url: String, place: String)? {
    let ignored = try AWSVariables.flag("AWS_IGNORE_CONFIGURED_ENDPOINT_URLS", environment)
    guard !(ignored ?? isSet("ignore_configured_endpoint_urls")) else { return nil }
    for variable in [service.variable, "AWS_ENDPOINT_URL"] {
      if let url = text(variable) { return (url, variable) }
    }
    guard let profile else { return nil }
    if let name = profile["services"] {
      guard let section = config?.section("services", name) else {
        throw Failure(
          .configuration, "profile \(profile.name) uses the services section \"\(name)\", which does not exist",
          remedy: "write [services \(name)] into \(config?.configPath ?? "the config file"), or remove services")
      }
      if let url = section.nested[service.rawValue]?["endpoint_url"], !url.isEmpty {
        return (url, "services \(name), \(service.rawValue)")
      }
    }
    return profile["endpoint_url"].map { ($0, "profile \(profile.name)") }
  }

  private func text(_ variable: String) -> String? {
    environment[variable].flatMap { $0.isEmpty ? nil : $0 }
  }

  /// Regions older than STS's regional endpoints; newer regions have only their own endpoint.
  private static let olderThanRegionalSTS: Set<String> = [
    "ap-northeast-1", "ap-south-1", "ap-southeast-1", "ap-southeast-2", "aws-global", "ca-central-1", "eu-central-1",
    "eu-north-1", "eu-west-1", "eu-west-2", "eu-west-3", "sa-east-1", "us-east-1", "us-east-2", "us-west-1",
    "us-west-2",
  ]

  private func isGlobal(_ region: String?, usesFIPS: Bool) -> Bool {
    guard let region, region != "aws-global" else { return true }
    let mode = text("AWS_STS_REGIONAL_ENDPOINTS") ?? profile?["sts_regional_endpoints"]
    return mode?.lowercased() == "legacy" && !usesFIPS && Self.olderThanRegionalSTS.contains(region)
  }

  private var usesFIPS: Bool {
    get throws(Failure) {
      try AWSVariables.value(of: .fips, environment, AWSVariables.flagForm, Bool.init(word:))?.value
        ?? isSet("use_fips_endpoint")
    }
  }

  /// Whether the profile sets this to true.
  private func isSet(_ name: String) -> Bool { profile?[name].flatMap(Bool.init(word:)) ?? false }

  /// The first part of the service's host name. In GovCloud the ordinary names of STS, SSO and OIDC are already FIPS
  /// endpoints, and there are no others.
  private func label(of service: CredentialService, in region: String, usesFIPS: Bool) -> String {
    guard usesFIPS, !(region.begins(with: "us-gov-") && service != .cognitoIdentity) else { return service.label }
    return service.label + "-fips"
  }
}
