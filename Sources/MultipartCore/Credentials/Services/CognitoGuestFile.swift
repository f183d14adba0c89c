import MultipartBasics

/// The guest identities of this user at Cognito pools, stored in the state folder (mode 0600), so that a guest keeps
/// its place in the bucket. One pool per line.
struct CognitoGuestFile: Sendable {
  static let name = "guests"

  private struct Entry {
    var origin: String
    var pool: String
    var identity: String

    func isOf(_ pool: CognitoPool, _ origin: Origin) -> Bool {
      self.pool == pool.id && self.origin == origin.description
    }
  }

  private let list: StateList

  init(folder: String) { list = StateList(folder: folder, name: Self.name, header: "s3up guests 1") }

  /// Why the file is not used: another user could have written it.
  var refusal: Failure? { list.refusal }

  /// The stored identity; a file that cannot be read is treated as empty.
  func identity(pool: CognitoPool, origin: Origin) -> String? {
    entries().first { $0.isOf(pool, origin) }?.identity
  }

  func remember(_ identity: String, pool: CognitoPool, origin: Origin) throws(Failure) {
    try write(
      entries().filter { !$0.isOf(pool, origin) }
        + [Entry(origin: origin.description, pool: pool.id, identity: identity)])
  }

  func forget(pool: CognitoPool, origin: Origin) {
    try? write(entries().filter { !$0.isOf(pool, origin) })
  }

  private func write(_ entries: [Entry]) throws(Failure) {
    try list.replace(with: entries.map { [$0.origin, $0.pool, $0.identity] })
  }

  private func entries() -> [Entry] {
    ((try? list.entries()) ?? []).compactMap { words in
      guard words.count == 3, CognitoPool.isIdentity(words[2]) else { return nil }
      return Entry(origin: words[0], pool: words[1], identity: words[2])
    }
  }
}
