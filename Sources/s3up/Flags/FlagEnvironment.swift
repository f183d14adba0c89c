import MultipartBasics
import MultipartCore

/// Options set by the environment. An empty variable is treated as unset.
enum FlagEnvironment {
  /// Whether any variable has our prefix: usually none has, and then no option's variable needs to be looked up.
  static func isNamed(in environment: [String: String]) -> Bool {
    environment.keys.contains { $0.begins(with: "S3UP_") }
  }

  /// Variables with our prefix that no option has, but that look like one, each with the one that is probably meant: a
  /// misspelt name, the beginning of one, or another tool's name would otherwise set nothing, without a word.
  static func misspelt(in environment: [String: String]) -> [(name: String, meant: String)] {
    guard isNamed(in: environment) else { return [] }
    let known = FlagName.allCases.map(\.variable) + others
    return environment.keys.sorted().compactMap { name in
      // The number of edits takes quadratic time.
      guard name.begins(with: "S3UP_"), name.utf8.count <= 64, !known.contains(name) else { return nil }
      let near = known.map { (meant: $0, edits: Nearest.edits(Array(name.utf8), Array($0.utf8))) }
      if let best = near.min(by: { $0.edits < $1.edits }), best.edits <= 2 { return (name, best.meant) }
      let begun = known.filter { $0.begins(with: name + "_") }
      if begun.count == 1 { return (name, begun[0]) }
      let option = name.rest(after: "S3UP_").map { String($0).lowercased() } ?? ""
      guard case .option(let flag, _)? = OtherTools.long(option) else { return nil }
      return (name, flag.variable)
    }
  }

  /// Variables that belong to no option.
  private static let others = [Notification.secretVariable]

  static func add(_ flag: Flag, from environment: [String: String], to result: inout Invocation) throws(Failure) {
    for variable in flag.variables {
      guard let text = environment[variable.name], !text.isEmpty else { continue }
      let value = variable.words[text.lowercased()] ?? text
      let origin = Invocation.Origin.environment(variable.name)
      switch flag.kind {
      case .toggle:
        result.add(flag.name, try word(of: value, variable.name) ? "true" : "false", origin)
      case .count:
        for _ in 0..<(try count(value, variable.name)) { result.add(flag.name, "true", origin) }
      case .value:
        result.add(flag.name, Argument(value), origin)
      case .optional:
        // S3UP_JSON=1 is --json, S3UP_JSON=all is --json=all, S3UP_JSON=0 is neither.
        if flag.choices.contains(value) {
          result.add(flag.name, Argument(value), origin)
        } else if try word(of: value, variable.name) {
          result.add(flag.name, "", origin)
        }
      case .list:
        for line in value.words(between: "\n") { result.add(flag.name, Argument(String(line)), origin) }
      }
      return
    }
  }

  private static func word(of text: String, _ name: String) throws(Failure) -> Bool {
    if let isOn = Bool(word: text) { return isOn }
    throw Failure(.usage, "\(name): '\(text)' is neither yes nor no", remedy: "Use 1, true or yes; 0, false or no.")
  }

  private static func count(_ text: String, _ name: String) throws(Failure) -> Int {
    if let level = Int(text, in: 0...9) { return level }
    return try word(of: text, name) ? 1 : 0
  }
}
