/// Who has answered in this run. A place that never has is more likely wrongly named than in trouble that passes.
struct Contacts: Sendable {
  private var answered: Set<Substring> = []
  /// When it was asked first.
  private var since: [Substring: Duration] = [:]

  mutating func hasAnswered(_ place: Substring) {
    answered.insert(place)
    since[place] = nil
  }

  /// The failure with how long the place has been asked in vain; as any other where somebody has answered there.
  mutating func judge(_ failure: Failure, at place: Substring, began: Duration, now: Duration) -> Failure {
    guard failure.triedInVain != nil else { return failure }
    var failure = failure
    failure.triedInVain = nil
    guard !answered.contains(place) else { return failure }
    let first = min(since[place] ?? began, began)
    since[place] = first
    failure.triedInVain = now - first
    return failure
  }
}
