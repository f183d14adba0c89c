/// Which files of a tree are sent: patterns in the language of gitignore; the last one that matches decides. An include
/// is what `!` is to git.
///
/// If the first rule is an include, only included files are sent. A rule for a folder applies to everything in it,
/// unless another rule matches. An excluded folder is not entered, so nothing in it can be included.
public struct GlobRules: Sendable {
  /// A glob as in gitignore: `*`, `?`, `[a-z]`, `**`. A slash at the beginning or in the middle anchors it to the
  /// folder; a slash at the end makes it match folders only.
  public enum Rule: Sendable {
    /// Matching files are sent.
    case include(String)
    /// Matching files are not sent, and matching folders are not searched.
    case exclude(String)
  }

  enum Verdict: Sendable {
    case include, exclude
  }

  /// The rules, with the original text of each glob.
  let rules: [(verdict: Verdict, glob: Glob, text: String)]
  /// Whether files that no rule matches are sent.
  let includesByDefault: Bool

  /// Rules that include everything.
  public init() {
    rules = []
    includesByDefault = true
  }

  /// Throws if a glob is empty, or begins with `!`.
  public init(_ patterns: [Rule]) throws(Failure) {
    for pattern in patterns.map(\.glob) {
      if pattern.utf8.first == UInt8(ascii: "!") {
        throw Failure(
          .usage, "the pattern \(pattern) begins with !",
          remedy: "use an include rule instead, or write \\! for a name that begins with it")
      }
      if pattern.utf8.allSatisfy({ $0 == UInt8(ascii: " ") }) { throw Failure(.usage, "a pattern is empty") }
    }
    rules = patterns.map { ($0.verdict, Glob(Array($0.glob.utf8)), $0.glob) }
    includesByDefault = patterns.first?.verdict != .include
  }

  /// The number of the last rule that matches this path itself, rather than a folder that contains it.
  func rule(on path: [UInt8], isFolder: Bool) -> Int? {
    rules.lastIndex { $0.glob.matches(path, isFolder: isFolder) }
  }

  /// The verdict of that rule.
  func verdict(on path: [UInt8], isFolder: Bool) -> Verdict? {
    rule(on: path, isFolder: isFolder).map { rules[$0].verdict }
  }

  /// Whether a walk from the root reaches this path and sends it.
  func includes(_ path: [UInt8], isFolder: Bool = false) -> Bool {
    var isIncluded = includesByDefault
    let ends = path.indices.filter { path[$0] == UInt8(ascii: "/") } + [path.count]
    for end in ends {
      switch verdict(on: Array(path[..<end]), isFolder: isFolder || end < path.count) {
      case .include: isIncluded = true
      case .exclude: return false
      case nil: break
      }
    }
    return isIncluded
  }
}

extension GlobRules.Rule {
  fileprivate var glob: String {
    switch self {
    case .include(let glob), .exclude(let glob): glob
    }
  }

  fileprivate var verdict: GlobRules.Verdict {
    switch self {
    case .include: .include
    case .exclude: .exclude
    }
  }
}
