import MultipartCore

/// Puts the prefix of a Cognito identity before the key on the command line. This happens before the command reads the
/// key, so that results, records and resumed uploads all have the complete one.
enum IdentityKeys {
  private static let mark = Array("{identity}".utf8)

  /// The session with the identity, if options name one; nothing has been asked yet.
  static func identified(_ session: Session) throws(Failure) -> Session {
    guard session.cognito == nil, let options = try CognitoOptions(session.invocation) else { return session }
    var session = session
    session.cognito = try CognitoIdentity(pool: options.pool, logins: options.logins, session.storeOptions)
    return session
  }

  /// The session with the identity and the complete key.
  static func resolved(_ session: Session) async throws(Failure) -> Session {
    guard ModeSet.store.contains(session.invocation.mode) else { return session }
    let options = try CognitoOptions(session.invocation)
    if options?.access != nil, session.invocation.has(.batch) {
      throw Failure(
        .usage, "--access is not for --batch, whose lines have whole keys",
        remedy: "Leave it out, and write the keys with their prefix.")
    }
    var session = try identified(session)
    for index in places(in: session.invocation) where session.invocation.positionals.indices.contains(index) {
      // The command itself refuses words that are not S3 URLs.
      guard let url = try? S3URL(session.invocation.positionals[index]) else { continue }
      if let key = try await key(of: url, options, session) {
        session.invocation.positionals[index] = Argument("s3://\(url.bucket)/\(key)")
      }
    }
    return session
  }

  /// Which arguments may be objects or prefixes: all, except the words of a command, which follow its object.
  private static func places(in invocation: Invocation) -> Range<Int> {
    let isFollowed = [FlagName.fromCommand, .toCommand].contains { invocation.toggle($0) == true }
    return isFollowed ? 0..<1 : invocation.positionals.indices
  }

  /// The key with its prefix; nil if it does not change.
  private static func key(
    of url: S3URL, _ options: CognitoOptions?, _ session: Session
  ) async throws(Failure) -> String? {
    let typed = Array((url.key ?? "").utf8)
    let isMarked = typed.firstRange(of: mark) != nil
    guard let options, let cognito = session.cognito else {
      if isMarked { throw CognitoOptions.poolMissing("{identity} in a key") }
      return nil
    }
    // A command for one object needs a key.
    let takesPrefix = ModeSet.ofPrefix.contains(session.invocation.mode)
    guard isMarked || (options.access != nil && (url.key != nil || takesPrefix)) else { return nil }
    var prefix = ""
    var identity = ""
    if isMarked || options.access != .publicPlace { identity = try await cognito.id() }
    switch options.access {
    case nil: break
    case .publicPlace?: prefix = "public/"
    case .protectedPlace?, .privatePlace?: prefix = "\(options.access?.rawValue ?? "")/\(identity)/"
    }
    return prefix + String(decoding: typed.replacing(mark, with: Array(identity.utf8)), as: UTF8.self)
  }
}
