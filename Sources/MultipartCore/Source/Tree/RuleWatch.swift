import MultipartBasics

/// What a walk has learned about its rules: how much they excluded, and which includes had no effect because a folder
/// was excluded before it was searched.
struct RuleWatch: Sendable {
  private let rules: GlobRules
  /// Files and folders that a rule excluded.
  private(set) var excluded = 0
  /// Something that the rules include belongs to another machine's share.
  private(set) var hasOthers = false
  /// The rules that decided about a file or folder.
  private var matched: Set<Int> = []
  /// The rules whose glob begins with the path of the folder itself, and with what they probably mean.
  private var repeated: [Int: GlobRules.Repetition] = [:]
  /// For each include: the first excluded folder in which it could have matched, and the rule that excludes that
  /// folder.
  private var blocked: [Int: (folder: [UInt8], by: Int)] = [:]

  init(_ rules: GlobRules, root: FilePath? = nil) {
    self.rules = rules
    if let root { repeated = rules.repetitions(of: root) }
  }

  mutating func note(_ rule: Int, on path: [UInt8], isFolder: Bool) {
    matched.insert(rule)
    guard rules.excludes(rule) else { return }
    excluded += 1
    guard isFolder else { return }
    for include in rules.includes where blocked[include] == nil && rules.couldMatch(include, in: path, but: rule) {
      blocked[include] = (path, rule)
    }
  }

  /// Counts something that is excluded without a rule, because the first rule is an include.
  mutating func noteUnnamed() { excluded += 1 }

  mutating func noteOther() { hasOthers = true }

  /// Why the rules have left nothing, if all are of one kind; it continues a sentence.
  var reason: Wording {
    let all = rules.rules.indices.map { rules.wording($0) }.joined(separator: " or ")
    if rules.includes.isEmpty { return " (\(all))" }
    return matched.isEmpty && rules.includes.count == rules.rules.count ? ": nothing matches \(all)" : ""
  }

  /// For each rule without effect that was probably meant to have one: a description, and the options that do what was meant.
  var advice: [(what: Wording, remedy: Wording)] {
    let repeated = repeated.sorted { $0.key < $1.key }.filter { !matched.contains($0.key) }.map { rule, repetition in
      (
        "\(rules.wording(rule)) matches nothing: a glob is relative to \(repetition.folder)" as Wording,
        "what you probably want is: " + rules.wording(rule, as: repetition.meant)
      )
    }
    return repeated + behindFolders
  }

  /// Advice about includes that an excluded folder keeps from matching.
  private var behindFolders: [(what: Wording, remedy: Wording)] {
    blocked.sorted { $0.key < $1.key }.compactMap { include, block in
      // A rule meant for all folders may have matched in the first one alone.
      guard rules.excludesAll(block.by) || !matched.contains(include) else { return nil }
      let folder = SafeText.oneLine(String(decoding: block.folder, as: UTF8.self))
      let options = rules.meant(by: include, excludedBy: block.by)
      return (
        "\(rules.wording(include)) matches nothing in \(folder)/, which \(rules.wording(block.by)) excludes: excluded "
          + "folders are not searched",
        "what you probably want is: " + options.joined(separator: " ")
      )
    }
  }

  /// Combines several walks.
  mutating func add(_ other: RuleWatch) {
    excluded += other.excluded
    hasOthers = hasOthers || other.hasOthers
    matched.formUnion(other.matched)
    blocked.merge(other.blocked) { first, _ in first }
    repeated.merge(other.repeated) { first, _ in first }
  }
}

extension GlobRules {
  /// The numbers of the includes.
  var includes: [Int] { rules.indices.filter { !excludes($0) } }

  func excludes(_ rule: Int) -> Bool { rules[rule].verdict == .exclude }

  /// Whether the rule excludes everything, as `*` does: that is how other tools begin a selection of files, whose rules
  /// reach into folders.
  func excludesAll(_ rule: Int) -> Bool {
    excludes(rule) && ["*", "**", "/*", "/**", "**/*"].contains(rules[rule].text)
  }

  /// Whether an include could match something in a folder that another rule excludes.
  func couldMatch(_ include: Int, in folder: [UInt8], but exclude: Int) -> Bool {
    if excludesAll(exclude) { return include > exclude && !rules[include].text.begins(with: "/") }
    let names = names(of: include)
    let depth = folder.count { $0 == UInt8(ascii: "/") } + 1
    guard names.count > depth else { return false }
    return Glob(Self.anchored(names.prefix(depth))).matches(folder, isFolder: true)
  }

  /// A rule as an option; `text` replaces its glob.
  func wording(_ rule: Int, as text: String? = nil) -> Wording {
    Self.wording(rules[rule].verdict, text ?? rules[rule].text)
  }

  struct Repetition: Sendable {
    var folder: String
    var meant: String
  }

  /// The rules that name files as the shell sees them, `build/lib/x` or `./lib/x`, rather than as the folder `build`
  /// does.
  func repetitions(of root: FilePath) -> [Int: Repetition] {
    let here = Array("./".utf8)
    var folder = root.bytes[...]
    while folder.starts(with: here) { folder = folder.dropFirst(here.count) }
    while folder.last == UInt8(ascii: "/") { folder = folder.dropLast() }
    if folder.elementsEqual(".".utf8) { folder = [] }
    var found: [Int: Repetition] = [:]
    for rule in rules.indices {
      let glob = Array(rules[rule].text.utf8)
      var rest = glob[...]
      if rest.starts(with: here) { rest = rest.dropFirst(here.count) }
      let start = folder + [UInt8(ascii: "/")]
      if !folder.isEmpty, rest.starts(with: start) { rest = rest.dropFirst(start.count) }
      guard rest.count < glob.count, !rest.isEmpty else { continue }
      let name = SafeText.oneLine(String(decoding: start, as: UTF8.self))
      found[rule] = Repetition(
        folder: folder.isEmpty ? "the folder" : name, meant: "/" + String(decoding: rest, as: UTF8.self))
    }
    return found
  }

  /// The rules with which an include reaches into the folder that keeps it from matching.
  func meant(by include: Int, excludedBy exclude: Int) -> [Wording] {
    if excludesAll(exclude) {
      // If the first rule is an include, everything else is excluded, but folders are searched.
      return rules.indices.drop { $0 <= exclude || excludes($0) }.map { wording($0) }
    }
    var options = rules.indices.filter { $0 != include }.map { wording($0) }
    let names = names(of: include)
    for depth in 1..<max(names.count, 1) {
      let folder = String(decoding: Self.anchored(names.prefix(depth)), as: UTF8.self)
      options += [Self.wording(.include, folder), Self.wording(.exclude, folder + "/*")]
    }
    return options + [wording(include)]
  }

  private func names(of rule: Int) -> [ArraySlice<UInt8>] {
    Array(rules[rule].text.utf8).split(separator: UInt8(ascii: "/"))
  }

  private static func anchored(_ names: some Sequence<ArraySlice<UInt8>>) -> [UInt8] {
    names.flatMap { [UInt8(ascii: "/")] + $0 }
  }

  private static func wording(_ verdict: Verdict, _ glob: String) -> Wording {
    verdict == .include ? "\(.include, ShellWord.quoted(glob))" : "\(.exclude, ShellWord.quoted(glob))"
  }
}
