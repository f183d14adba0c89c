import MultipartBasics

/// How to reach the metadata service of a machine, from AWS's variables and the matching settings of a profile.
struct InstanceMetadataSettings: Sendable, Equatable {
  /// Whether the service is switched off (`AWS_EC2_METADATA_DISABLED=true`).
  var isDisabled = false
  var origin = Origin(scheme: .http, host: "169.254.169.254")
  /// The prefix of every path: empty, or `/x` without a trailing slash.
  var basePath = ""
  /// The limit for one try.
  var timeLimit = Duration.seconds(1)
  /// The number of tries for each of the three requests.
  var tries = 2

  init() {}

  /// A variable takes precedence over the profile, an endpoint over the mode.
  init(environment: [String: String], profile: Profile?) throws(Failure) {
    isDisabled = try AWSVariables.flag("AWS_EC2_METADATA_DISABLED", environment) ?? false
    guard !isDisabled else { return }
    func value(_ variable: String, _ setting: String) -> (text: String, name: String)? {
      if let text = environment[variable], !text.isEmpty { return (text, variable) }
      if let text = profile?[setting], !text.isEmpty { return (text, "\(setting) of profile \(profile?.name ?? "")") }
      return nil
    }
    if let (text, name) = value("AWS_EC2_METADATA_SERVICE_ENDPOINT", "ec2_metadata_service_endpoint") {
      let url = try ServiceURL.parse(text, name: name)
      guard url.query.isEmpty else { throw Failure(.configuration, "\(name) has a query", remedy: "leave it out") }
      origin = url.origin
      basePath = url.path
      while basePath.ends(with: "/") { basePath.removeLast() }
    } else if let (text, name) = value("AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE", "ec2_metadata_service_endpoint_mode") {
      switch text.lowercased() {
      case "ipv4": break
      case "ipv6": origin.host = "[fd00:ec2::254]"
      default:
        throw Failure(
          .configuration, "\(name): '\(SafeText.oneLine(text, limit: 40))' is not a mode",
          remedy: "set it to IPv4 or IPv6"
        )
      }
    }
    if let (text, name) = value("AWS_METADATA_SERVICE_TIMEOUT", "metadata_service_timeout") {
      guard let seconds = Double(text), seconds > 0, seconds <= 300 else {
        throw Self.wrong(name, text, "a number of seconds up to 300")
      }
      timeLimit = .seconds(seconds)
    }
    if let (text, name) = value("AWS_METADATA_SERVICE_NUM_ATTEMPTS", "metadata_service_num_attempts") {
      guard let number = Int(text, in: 1...100) else {
        throw Self.wrong(name, text, "a number from 1 to 100")
      }
      tries = number
    }
  }

  private static func wrong(_ name: String, _ text: String, _ form: String) -> Failure {
    Failure(
      .configuration, "\(name): '\(SafeText.oneLine(text, limit: 40))' is not \(form)",
      remedy: "fix it or leave it out")
  }
}
