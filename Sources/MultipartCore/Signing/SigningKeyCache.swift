/// Derives a signing key once per (secret, day, region, service) instead of once per request; shared by all threads.
package final class SigningKeyCache: Sendable {
  private struct Entry: Sendable {
    var secret: Secret
    var scope: SigV4.Scope
    var key: SigV4.SigningKey
  }

  /// Enough for midnight, new keys and a second region: a run uses two or three at a time.
  private static let capacity = 8

  private let entries = Locked<[Entry]>([])

  package init() {}

  package func key(secret: Secret, scope: SigV4.Scope) throws(Failure) -> SigV4.SigningKey {
    let known = entries.withLock { entries in
      entries.first { $0.scope == scope && $0.secret == secret }?.key
    }
    if let known { return known }
    // Derived outside the lock: two threads that miss at once both compute the key, but neither waits.
    let key = try SigV4.signingKey(secret: secret, scope: scope)
    entries.withLock { entries in
      guard !entries.contains(where: { $0.scope == scope && $0.secret == secret }) else { return }
      if entries.count == Self.capacity { entries.removeFirst() }
      entries.append(Entry(secret: secret, scope: scope, key: key))
    }
    return key
  }

  /// How many keys are cached.
  package var count: Int { entries.withLock { $0.count } }
}
