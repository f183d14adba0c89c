import MultipartBasics

extension Setting {
  /// A variable with the same meaning as a setting.
  public struct Variable: Sendable, Equatable {
    /// The name of the variable.
    public let name: String
    /// The setting's words for those of the variable, where they differ.
    public let words: [String: String]

    /// A variable whose words, where they are not those of the setting, have these meanings.
    public init(_ name: String, words: [String: String] = [:]) {
      (self.name, self.words) = (name, words)
    }
  }

  /// AWS's variables for each setting; the first one that is set and not empty counts. The checksum is chosen for each
  /// upload, so only a program with options for uploads reads its variable.
  public static let awsVariables: [Setting: [Variable]] = [
    .endpoint: named("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"),
    .region: named("AWS_REGION", "AWS_DEFAULT_REGION"),
    .profile: named("AWS_PROFILE", "AWS_DEFAULT_PROFILE"),
    .dualstack: named("AWS_USE_DUALSTACK_ENDPOINT"),
    .fips: named("AWS_USE_FIPS_ENDPOINT"),
    .caBundle: named("AWS_CA_BUNDLE"),
    .tries: named("AWS_MAX_ATTEMPTS"),
    .checksum: [
      Variable("AWS_REQUEST_CHECKSUM_CALCULATION", words: ["when_supported": "auto", "when_required": "md5"])
    ],
  ]

  private static func named(_ names: String...) -> [Variable] { names.map { Variable($0) } }
}

/// How the values of AWS's variables are read.
enum AWSVariables {
  /// The value of a setting, and the variable that has it.
  static func value<Value>(
    of setting: Setting, _ environment: [String: String], _ form: String, _ parse: (String) -> Value?
  ) throws(Failure) -> (value: Value, name: String)? {
    for variable in Setting.awsVariables[setting] ?? [] {
      if let value = try value(variable.name, environment, form, parse) { return (value, variable.name) }
    }
    return nil
  }

  /// The value of a variable.
  static func value<Value>(
    _ name: String, _ environment: [String: String], _ form: String, _ parse: (String) -> Value?
  ) throws(Failure) -> Value? {
    guard let text = environment[name], !text.isEmpty else { return nil }
    if let value = parse(text) { return value }
    throw Failure(
      .configuration, "\(name) is \"\(SafeText.oneLine(text))\", not \(form)",
      remedy: "set it to \(form), or unset it")
  }

  static func flag(_ name: String, _ environment: [String: String]) throws(Failure) -> Bool? {
    try value(name, environment, flagForm, Bool.init(word:))
  }

  static let flagForm = "true or false"
}

extension StoreOptions {
  /// How often one request can be tried.
  public static let tryCounts = 1...1000
  /// How many requests can be sent at once.
  public static let connectionCounts = 1...1000

  /// The options, completed by the variables' values.
  func filled(from environment: [String: String]) throws(Failure) -> StoreOptions {
    var filled = self
    func value<Value>(_ setting: Setting, _ form: String, _ parse: (String) -> Value?) throws(Failure) -> Value? {
      guard let (value, name) = try AWSVariables.value(of: setting, environment, form, parse) else { return nil }
      filled.origins[setting] = Provenance(name, isEnvironment: true)
      return value
    }
    let text: (String) -> String? = { $0 }
    if endpoint == nil { filled.endpoint = try value(.endpoint, "an address", text) }
    if region == nil { filled.region = try value(.region, "a region", text) }
    if caBundle == nil { filled.caBundle = try value(.caBundle, "a file", text) }
    if dualstack == nil { filled.dualstack = try value(.dualstack, AWSVariables.flagForm, Bool.init(word:)) }
    if fips == nil { filled.fips = try value(.fips, AWSVariables.flagForm, Bool.init(word:)) }
    if tries == nil {
      filled.tries = try value(.tries, "a number from 1 to 1000") { Int($0, in: Self.tryCounts) }
    }
    return filled
  }

  /// Whether the caller or a variable sets it.
  func isSaid(_ setting: Setting) -> Bool {
    if origins[setting] != nil { return true }
    return switch setting {
    case .concurrency: connections != nil
    case .limitRate: limitRate != nil
    case .tries: tries != nil
    case .caBundle: caBundle != nil
    default: false
    }
  }
}
