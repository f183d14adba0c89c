import MultipartBasics

/// Distinguishes an object that this run can have created from an older one at the key, whatever its bytes are: by its
/// `Last-Modified`, on the store's own clock, and by what a HEAD showed before the first byte was sent.
struct Freshness: Sendable {
  enum Before: Sendable, Equatable {
    case nothing
    case object(versionID: String?, modified: Timestamp?)
  }

  /// The earliest time at which this run can have created the object.
  enum Since: Sendable, Equatable {
    /// The upload was begun at this time of the store's clock. S3 gives an object the time of its create, other stores that
    /// of its complete: neither is earlier.
    case upload(Timestamp)
    /// The upload was begun at this time or earlier: only its parts are known.
    case uploadUntil(Timestamp)
    /// The first PutObject was sent at this time of `World.uptime`.
    case put(Duration)
  }

  /// The object that was at the key before this run, if that was checked.
  var before: Before?
  var since: Since?

  /// When an upload was begun, from the `Date` of the answer to create. That is the time of the answer in whole
  /// seconds, and the request itself took `took`.
  static func begun(answered date: Timestamp, took: Duration) -> Since {
    .upload(Timestamp(seconds: date.seconds - Int64(max(0, took.seconds).rounded(.up))))
  }

  /// Why the object may be an older one; nil if it is not. `asked` is when the HEAD that showed it was sent.
  func doubt(about object: ObjectInfo, asked: Duration) -> String? {
    let isAnother = isAnother(object)
    guard let since, let modified = object.lastModified, let date = object.headers["Date"].flatMap(DateText.http) else {
      return isAnother ? nil : "nothing shows when the object at the key was created"
    }
    if isAnother { return certainDoubt(about: object, asked: asked) }
    // All of this is only valid if the same clock sets both times.
    guard modified.seconds <= date.seconds + Self.slack else {
      return "by the store's clock the object at the key was created in the future"
    }
    switch since {
    case .upload(let begun), .uploadUntil(let begun):
      return modified >= begun ? nil : Self.older
    case .put:
      // The first try began at `date + 1 - passed` at the latest, because fractions of seconds are cut off. An object
      // of that second or earlier may be older; the slack allows for servers of the store whose clocks differ.
      guard modified.seconds >= seconds(since, date, asked) + 1 + Self.slack else {
        return "the object at the key may be older than this run"
      }
      return nil
    }
  }

  /// The doubt about an object that is older than the upload by more than clocks differ; nil also if nothing shows when
  /// it was created.
  func certainDoubt(about object: ObjectInfo, asked: Duration) -> String? {
    guard let since, let modified = object.lastModified, let date = object.headers["Date"].flatMap(DateText.http) else {
      return nil
    }
    if case .uploadUntil = since { return nil }
    return modified.seconds < seconds(since, date, asked) - Self.apart ? Self.older : nil
  }

  /// When the upload was begun or the first PutObject sent, by the store's clock, if that shows `date` now.
  private func seconds(_ since: Since, _ date: Timestamp, _ asked: Duration) -> Int64 {
    switch since {
    case .upload(let begun), .uploadUntil(let begun): begun.seconds
    case .put(let first): date.seconds - Int64(max(0, (asked - first).seconds).rounded(.down))
    }
  }

  private static let older = "the object at the key is older than this upload"
  private static let slack: Int64 = 1
  /// An object that was not there before can still be an older one, which a server of the store did not know yet. The
  /// seconds allow for slow answers, and for servers whose clocks differ.
  private static let apart: Int64 = 60

  /// Whether it is certainly a different object from the one that existed before.
  private func isAnother(_ object: ObjectInfo) -> Bool {
    switch before {
    case nil: return false
    case .nothing: return true
    case .object(let version, let modified):
      if ObjectIdentity.areDifferentVersions(version, object.versionID) { return true }
      guard let modified, let now = object.lastModified else { return false }
      return now > modified
    }
  }
}
