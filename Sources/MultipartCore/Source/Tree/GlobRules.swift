/// Which files of a tree are sent: patterns in the language of gitignore; the last one that matches decides. An include
/// is what `!` is to git.
///
/// If the first rule is an include, only included files are sent. A rule for a folder applies to everything in it,
/// unless another rule matches. An excluded folder is not entered, so nothing in it can be included.
package struct GlobRules: Sendable {
  package enum Verdict: Sendable {
    case include, exclude
  }

  /// The rules, with the original text of each glob.
  let rules: [(verdict: Verdict, glob: Glob, text: String)]
  /// Whether files that no rule matches are sent.
  let includesByDefault: Bool

  /// Rules that include everything.
  init() {
    rules = []
    includesByDefault = true
  }

  package init(_ patterns: [(Verdict, String)]) throws(Failure) {
    for (_, pattern) in patterns {
      if pattern.utf8.first == UInt8(ascii: "!") {
        throw Failure(
          .usage, "the pattern \(pattern) begins with !",
          remedy: "use an include rule instead, or write \\! for a name that begins with it")
      }
      if pattern.utf8.allSatisfy({ $0 == UInt8(ascii: " ") }) { throw Failure(.usage, "a pattern is empty") }
    }
    rules = patterns.map { ($0.0, Glob(Array($0.1.utf8)), $0.1) }
    includesByDefault = patterns.first?.0 != .include
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
