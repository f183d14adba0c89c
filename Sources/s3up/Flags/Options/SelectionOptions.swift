import MultipartCore

/// Which files a batch uploads, and the reports that it writes.
struct SelectionOptions: Sendable {
  var isRecursive = false
  /// The rules, in the order in which they were given.
  var rules: [GlobRules.Rule] = []
  var followsLinks = false
  var oddNames = BatchSources.OddNames.escape
  var restoresNonUTF8 = false
  var endsWithNUL = false
  var shard: Shard?
  var manifest: Argument?
  var failedTo: Argument?
  var stopsAtFirstFailure = false
  var allowsNothing = false
  var isDryRun = false

  init(_ invocation: Invocation, environment: [String: String]) throws(Failure) {
    isRecursive = invocation.toggle(.recursive) ?? false
    let given =
      invocation.all(.include).map { ($0, GlobRules.Rule.include) }
      + invocation.all(.exclude).map { ($0, GlobRules.Rule.exclude) }
    for (glob, rule) in given.sorted(by: { $0.0.place < $1.0.place }) {
      rules.append(rule(try invocation.text(glob)))
    }
    followsLinks = invocation.toggle(.followSymlinks) ?? false
    oddNames = try invocation.oddNames
    restoresNonUTF8 = try invocation.word(.nonUTF8) == "restore"
    endsWithNUL = invocation.toggle(.null) ?? false
    shard = try Self.shard(invocation, environment)
    manifest = try invocation.path(.manifest)
    failedTo = try invocation.path(.failedTo)
    stopsAtFirstFailure = invocation.toggle(.failFast) ?? false
    allowsNothing = invocation.toggle(.allowEmpty) ?? false
    isDryRun = invocation.toggle(.dryRun) ?? false
  }

  static func shard(_ invocation: Invocation, _ environment: [String: String]) throws(Failure) -> Shard? {
    guard let given = invocation.last(.shard) else { return nil }
    do throws(Failure) {
      return try Shard(parsing: given.value.text, environment)
    } catch {
      throw Failure(.usage, "\(given.origin.text): \(error.message.commandText)", remedy: error.remedy?.commandText)
    }
  }
}

extension Invocation {
  /// What becomes of a file's name that is not UTF-8.
  var oddNames: BatchSources.OddNames {
    get throws(Failure) { try word(.nonUTF8) == "refuse" ? .refuse : .escape }
  }
}
