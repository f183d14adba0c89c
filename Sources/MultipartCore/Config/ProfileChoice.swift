/// Which profile to use, and where its name came from.
package struct ProfileChoice: Sendable, Equatable {
  package enum Origin: Sendable, Equatable {
    /// The caller named it: it wins over credentials in the environment.
    case option
    case variable(String)
    /// No profile was named: `default`, which need not exist.
    case standard
  }

  package var name: String
  package var origin: Origin

  package init(name: String, origin: Origin) {
    self.name = name
    self.origin = origin
  }

  /// The option, else AWS's variables, else `default`; empty values do not count.
  package init(option: String?, environment: [String: String]) {
    if let option, !option.isEmpty {
      self.init(name: option, origin: .option)
      return
    }
    for variable in AWSVariables.ofSettings[.profile] ?? [] {
      if let name = environment[variable.name], !name.isEmpty {
        self.init(name: name, origin: .variable(variable.name))
        return
      }
    }
    self.init(name: "default", origin: .standard)
  }
}
