import MultipartBasics

/// AWS's shared files, `~/.aws/config` and `~/.aws/credentials`, or those that `AWS_CONFIG_FILE` and
/// `AWS_SHARED_CREDENTIALS_FILE` name. A missing file is treated as empty.
///
/// ```swift
/// let config = try SharedConfig.load(environment: world.environment)
/// let profile = try config.profile(ProfileChoice(option: options.profile, environment: world.environment))
/// let region = profile?["region"]
/// ```
struct SharedConfig: Sendable {
  private var config: [SectionName: ConfigSection] = [:]
  private var credentials: [SectionName: ConfigSection] = [:]
  /// The paths of the two files as messages show them.
  let configPath: String
  let credentialsPath: String
  /// The paths, with a word about a file that a variable names and that does not exist.
  let configTitle: String
  let credentialsTitle: String

  static func load(environment: [String: String]) throws(Failure) -> SharedConfig {
    var shared = SharedConfig(placesFor: environment)
    do throws(Failure) {
      shared.config = try read(shared.configPath, hasKinds: true, environment)
      shared.credentials = try read(shared.credentialsPath, hasKinds: false, environment)
    } catch {
      throw error.ofFile
    }
    return shared
  }

  /// Determines where the files are; reads nothing.
  init(placesFor environment: [String: String]) {
    configPath = Self.path(Self.configVariable, "~/.aws/config", environment)
    credentialsPath = Self.path(Self.credentialsVariable, "~/.aws/credentials", environment)
    configTitle = Self.title(configPath, Self.configVariable, environment)
    credentialsTitle = Self.title(credentialsPath, Self.credentialsVariable, environment)
  }

  /// A profile; nil if neither file has it. In the config file `[profile default]` takes precedence over `[default]`,
  /// the only profile that may be written without the word `profile`.
  func profile(_ name: String) -> Profile? {
    let plain = SectionName(kind: nil, name: name)
    let ofConfig = config[SectionName(kind: "profile", name: name)] ?? (name == "default" ? config[plain] : nil)
    let ofCredentials = credentials[plain]
    guard ofConfig != nil || ofCredentials != nil else { return nil }
    return Profile(name: name, credentials: ofCredentials, config: ofConfig)
  }

  /// The chosen profile. It must exist if it was named; nil if it is the implicit `default`.
  func profile(_ choice: ProfileChoice) throws(Failure) -> Profile? {
    if let profile = profile(choice.name) { return profile }
    if choice.origin == .standard { return nil }
    var message = "there is no profile \"\(choice.name)\" in \(credentialsTitle) or \(configTitle)"
    if case .variable(let variable) = choice.origin { message += " (named by \(variable))" }
    throw Failure(.configuration, message, remedy: wayOut(choice.name))
  }

  /// A section of another kind in the config file: `services`, `sso-session`.
  func section(_ kind: String, _ name: String) -> ConfigSection? {
    config[SectionName(kind: kind, name: name)]
  }

  /// The names of all profiles, sorted.
  var profileNames: [String] {
    let ofConfig = config.keys.filter { $0.kind == "profile" || ($0.kind == nil && $0.name == "default") }
    return Set((ofConfig + credentials.keys).map(\.name)).sorted()
  }

  private static let configVariable = "AWS_CONFIG_FILE"
  private static let credentialsVariable = "AWS_SHARED_CREDENTIALS_FILE"

  private func wayOut(_ name: String) -> Wording {
    if config[SectionName(kind: nil, name: name)] != nil {
      return "call its section [profile \(name)] in \(configPath)"
    }
    if credentials[SectionName(kind: nil, name: "profile \(name)")] != nil {
      return "call its section [\(name)] in \(credentialsPath), without the word profile"
    }
    let names = profileNames
    let create: Wording = "create one with: aws configure --profile \(ShellWord.quoted(name))"
    if credentialsTitle != credentialsPath { return "check \(Self.credentialsVariable), or \(create)" }
    if configTitle != configPath { return "check \(Self.configVariable), or \(create)" }
    if names.isEmpty { return create }
    return "the existing profiles are: \(names.prefix(10).joined(separator: ", "))\(names.count > 10 ? ", …" : "")"
  }

  private static func path(_ variable: String, _ standard: String, _ environment: [String: String]) -> String {
    environment[variable].flatMap { $0.isEmpty ? nil : $0 } ?? standard
  }

  private static func title(_ path: String, _ variable: String, _ environment: [String: String]) -> String {
    guard environment[variable]?.isEmpty == false, let file = expanded(path, environment), !FilePath(file).exists
    else { return path }
    return "\(path) (which \(variable) names, but which does not exist)"
  }

  private static func read(
    _ shown: String, hasKinds: Bool, _ environment: [String: String]
  ) throws(Failure) -> [SectionName: ConfigSection] {
    guard let path = expanded(shown, environment) else { return [:] }
    let found: [UInt8]?
    do throws(Failure) {
      found = try SmallFile.read(FilePath(path), shown: shown)
    } catch {
      var failure = error
      failure.remedy = failure.remedy.map { $0 + Wording(" with \(hasKinds ? configVariable : credentialsVariable)") }
      throw failure
    }
    guard let bytes = found else { return [:] }
    return try ConfigParser.parse(bytes, hasKinds: hasKinds, shown: shown)
  }

  /// Expands `~/x` below `HOME`; nil without `HOME`, where no such file exists.
  static func expanded(_ path: String, _ environment: [String: String]) -> String? {
    guard path.begins(with: "~/") else { return path }
    guard let home = environment["HOME"], !home.isEmpty else { return nil }
    return home + String(Substring(path.utf8.dropFirst()))
  }
}
