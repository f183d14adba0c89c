/// The AWS variables that set the same as an option; the first that is set and not empty counts.
enum AWSVariables {
  static let names: [Setting: [String]] = [
    .endpoint: ["AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"], .region: ["AWS_REGION", "AWS_DEFAULT_REGION"],
    .profile: ["AWS_PROFILE"], .dualstack: ["AWS_USE_DUALSTACK_ENDPOINT"], .fips: ["AWS_USE_FIPS_ENDPOINT"],
    .caBundle: ["AWS_CA_BUNDLE"], .tries: ["AWS_MAX_ATTEMPTS"],
  ]

  /// The value of a variable that is not one of the caller's settings.
  static func value<Value>(
    _ name: String, _ environment: [String: String], _ form: String, _ parse: (String) -> Value?
  ) throws(Failure) -> Value? {
    guard let text = environment[name], !text.isEmpty else { return nil }
    if let value = parse(text) { return value }
    throw Failure(
      .configuration, "\(name) is \"\(SafeText.oneLine(text))\", not \(form)",
      remedy: "set it to \(form), or unset it")
  }
}

extension StoreOptions {
  /// The options, with the variables' values where the caller set none.
  func filled(from environment: [String: String]) throws(Failure) -> StoreOptions {
    var filled = self
    func value<Value>(_ setting: Setting, _ form: String, _ parse: (String) -> Value?) throws(Failure) -> Value? {
      for name in AWSVariables.names[setting] ?? [] {
        guard let value = try AWSVariables.value(name, environment, form, parse) else { continue }
        filled.origins[setting] = Provenance(name, isEnvironment: true)
        return value
      }
      return nil
    }
    let text: (String) -> String? = { $0 }
    if endpoint == nil { filled.endpoint = try value(.endpoint, "an address", text) }
    if region == nil { filled.region = try value(.region, "a region", text) }
    if caBundle == nil { filled.caBundle = try value(.caBundle, "a file", text) }
    if dualstack == nil { filled.dualstack = try value(.dualstack, "true or false", ProfileS3.flag) }
    if fips == nil { filled.fips = try value(.fips, "true or false", ProfileS3.flag) }
    if tries == nil {
      filled.tries = try value(.tries, "a number from 1 to 1000") { text in
        Int(text).flatMap { (1...1000).contains($0) ? $0 : nil }
      }
    }
    return filled
  }

  /// Whether the caller or a variable set it.
  func isSaid(_ setting: Setting) -> Bool {
    if origins[setting] != nil { return true }
    return switch setting {
    case .concurrency: connections != nil
    case .limitRate: limitRate != nil
    default: false
    }
  }
}
