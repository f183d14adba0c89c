/// By what an object that this run can have made is told from one that was at the key before, whatever bytes it holds:
/// by `Last-Modified`, on the store's own clock, and by what a HEAD has shown before the first byte went out.
package struct Freshness: Sendable {
  package enum Before: Sendable, Equatable {
    case nothing
    case object(versionID: String?, modified: Timestamp?)
  }

  /// From when on this run can have made it.
  package enum Since: Sendable, Equatable {
    /// The upload was begun then, by the store's clock. S3 gives an object of parts the time of its create, other stores
    /// that of its complete: neither is earlier.
    case upload(Timestamp)
    /// The first PutObject went out then, by `World.uptime`.
    case put(Duration)
  }

  /// What was at the key, where that was looked at.
  package var before: Before?
  package var since: Since?

  package init(before: Before? = nil, since: Since? = nil) {
    self.before = before
    self.since = since
  }

  /// When an upload was begun, from the `Date` of create's answer: that is when it was answered, to the whole second, and
  /// the store's clock had run for as long as the request took.
  package static func begun(answered date: Timestamp, took: Duration) -> Since {
    .upload(Timestamp(seconds: date.seconds - Int64(max(0, took.seconds).rounded(.up))))
  }

  /// Why the object may be an older one; nil when it is none. `asked` is when the HEAD went out that shows it.
  package func doubt(about object: ObjectInfo, asked: Duration) -> String? {
    if isAnother(object) { return nil }
    guard let since, let modified = object.lastModified, let date = object.headers["Date"].flatMap(S3Date.http) else {
      return "nothing shows when the object at the key was made"
    }
    // One clock for both is what all of this rests on.
    guard modified.seconds <= date.seconds + Self.slack else {
      return "the object at the key was made in the future, by the store's clock"
    }
    switch since {
    case .upload(let begun):
      return modified >= begun ? nil : "the object at the key is older than this upload"
    case .put(let first):
      // The first try began at `date + 1 - passed` at the latest, as seconds are cut off. What is of that second or
      // before it may be older, and the slack is for servers of the store whose clocks differ.
      let passed = Int64(max(0, (asked - first).seconds).rounded(.down))
      guard modified.seconds >= date.seconds + 1 - passed + Self.slack else {
        return "the object at the key may be older than this run"
      }
      return nil
    }
  }

  private static let slack: Int64 = 1

  /// It was not there before.
  private func isAnother(_ object: ObjectInfo) -> Bool {
    switch before {
    case nil: return false
    case .nothing: return true
    case .object(let version, let modified):
      // Where versions are not kept, each object's is "null".
      if let version, let now = object.versionID, version != "null", now != "null",
        !version.utf8.elementsEqual(now.utf8)
      {
        return true
      }
      guard let modified, let now = object.lastModified else { return false }
      return now > modified
    }
  }
}
