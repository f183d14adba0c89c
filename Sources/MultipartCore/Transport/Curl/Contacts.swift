/// Which servers have answered in this run. If one never has, a wrong address is more likely than a transient fault.
struct Contacts: Sendable {
  private var answered: Set<Substring> = []
  /// When each server was first tried.
  private var since: [Substring: Duration] = [:]

  mutating func hasAnswered(_ place: Substring) {
    answered.insert(place)
    since[place] = nil
  }

  /// Adds to the failure how long the server was tried in vain; unchanged if it has ever answered.
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
