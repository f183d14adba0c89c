import MultipartBasics

/// What a finder has found, so that a run in which nothing is sent can say why.
final class SourceTally: Sendable {
  private struct State: Sendable {
    /// Candidates, failures, and what was skipped without a rule.
    var found = 0
    var watch: RuleWatch
    /// Named files that a rule excluded.
    var excluded = 0
    /// Something belongs to another machine's share.
    var hasOthers = false
  }

  private let state: Locked<State>

  private let rules: GlobRules
  private let shard: Shard?
  /// What the run does with the selected sources, as a verb.
  private let verb: String
  private let tellsExcluded: Bool

  init(_ rules: GlobRules, _ shard: Shard?, to verb: String = "send", tellsExcluded: Bool) {
    (self.rules, self.shard, self.verb, self.tellsExcluded) = (rules, shard, verb, tellsExcluded)
    state = Locked(State(watch: RuleWatch(rules)))
  }

  func count(_ step: CandidateStep<some Sendable>) {
    switch step {
    case .candidate, .failed: state.withLock { $0.found += 1 }
    case .skipped, .leftOut, .advice: break
    }
  }

  func add(_ watch: RuleWatch) { state.withLock { $0.watch.add(watch) } }

  /// Whether the rules and the share select this name.
  func selects(_ name: [UInt8]) -> Bool {
    guard rules.includes(name) else {
      state.withLock { $0.excluded += 1 }
      return false
    }
    guard shard?.holds(name) ?? true else {
      state.withLock { $0.hasOthers = true }
      return false
    }
    return true
  }

  /// Passes over a name that is not selected; one that a rule excludes is reported if the run asks for it.
  func pass<Found>(
    _ name: [UInt8], _ path: FilePath, _ give: (CandidateStep<Found>) async -> Bool
  ) async -> Bool {
    guard tellsExcluded, !rules.includes(name) else { return true }
    return await give(.skipped(SkippedSource(path: path.text, reason: .excluded)))
  }

  /// Advice about rules without effect.
  var advice: [Wording] {
    state.withLock { $0.watch.advice.map { $0.what + "; " + $0.remedy } }
  }

  /// The failure of a run that has nothing to do because of its rules; nil if there is another reason, or none. `empty`
  /// is the failure if there was nothing to choose from.
  func failure(ifEmpty empty: Failure?) -> Failure? {
    let (state, advice) = state.withLock { ($0, $0.watch.advice.first) }
    guard state.found == 0, !state.hasOthers, !state.watch.hasOthers else { return nil }
    let excluded = state.excluded + state.watch.excluded
    if excluded > 0 {
      let what: Wording = "the rules leave nothing to \(verb)"
      return Failure(
        .sourceMissing, what + (advice.map { ": " + $0.what } ?? state.watch.reason),
        remedy: advice?.remedy ?? "change the rules, or give \(.allowsNothing) if that is intended")
    }
    return empty
  }
}

extension BatchSources {
  /// The failure for a list or a batch without a line.
  public static let emptyList = Failure(
    .sourceMissing, "the list names no file",
    remedy: "check the program that writes it, or give \(.allowsNothing) if that is intended")
}
