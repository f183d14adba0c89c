/// A profile of the shared files. The credentials file takes precedence over the config file.
struct Profile: Sendable, Equatable {
  let name: String
  /// The profile's section in the credentials file.
  let credentials: ConfigSection?
  /// The profile's section in the config file.
  let config: ConfigSection?

  init(name: String, credentials: ConfigSection? = nil, config: ConfigSection? = nil) {
    self.name = name
    self.credentials = credentials
    self.config = config
  }

  /// The value of a name in lower case; nil if it is missing or empty.
  subscript(name: String) -> String? { credentials?[name] ?? config?[name] }

  /// The pairs of a block such as `s3 =`; empty if there is none.
  func block(_ name: String) -> [String: String] {
    (config?.nested[name] ?? [:]).merging(credentials?.nested[name] ?? [:]) { _, winner in winner }
  }
}

/// Which profile to use, and where its name came from.
struct ProfileChoice: Sendable, Equatable {
  enum Origin: Sendable, Equatable {
    /// The caller named it: it takes precedence over credentials in the environment.
    case option
    case variable(String)
    /// No profile was named: `default`, which need not exist.
    case standard
  }

  var name: String
  var origin: Origin

  /// Whether it takes precedence over keys in the environment: if the caller named it, by the option or by the option's
  /// own variable, which is not one of AWS's.
  var precedesKeys: Bool {
    switch origin {
    case .option: true
    case .variable(let name): Setting.awsVariables[.profile]?.contains { $0.name == name } != true
    case .standard: false
    }
  }

  init(name: String, origin: Origin) {
    self.name = name
    self.origin = origin
  }

  /// The option, else AWS's variables, else `default`; empty values are ignored.
  init(option: String?, environment: [String: String]) {
    if let option, !option.isEmpty {
      self.init(name: option, origin: .option)
      return
    }
    for variable in Setting.awsVariables[.profile] ?? [] {
      if let name = environment[variable.name], !name.isEmpty {
        self.init(name: name, origin: .variable(variable.name))
        return
      }
    }
    self.init(name: "default", origin: .standard)
  }
}
