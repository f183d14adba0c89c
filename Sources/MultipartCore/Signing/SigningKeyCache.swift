/// Derives a signing key once for each (secret, day, region, service) instead of once a request; all threads share it.
package final class SigningKeyCache: Sendable {
  private struct Entry: Sendable {
    var secret: Secret
    var scope: SigV4.Scope
    var key: SigV4.SigningKey
  }

  /// Midnight, a rotation of the keys and a second region: a run needs two or three at a time.
  private static let capacity = 8

  private let entries = Locked<[Entry]>([])

  package init() {}

  package func key(secret: Secret, scope: SigV4.Scope) throws(Failure) -> SigV4.SigningKey {
    let known = entries.withLock { entries in
      entries.first { $0.scope == scope && $0.secret == secret }?.key
    }
    if let known { return known }
    // Derived outside the lock: two threads that miss at once compute the same key twice, and nobody waits.
    let key = try SigV4.signingKey(secret: secret, scope: scope)
    entries.withLock { entries in
      guard !entries.contains(where: { $0.scope == scope && $0.secret == secret }) else { return }
      if entries.count == Self.capacity { entries.removeFirst() }
      entries.append(Entry(secret: secret, scope: scope, key: key))
    }
    return key
  }

  /// How many keys are held.
  package var count: Int { entries.withLock { $0.count } }
}
