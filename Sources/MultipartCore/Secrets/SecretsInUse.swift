import MultipartBasics

/// The secrets of a run, and the only place where they are removed from texts that come from outside: the transport
/// passes answers and failures through it before any other code reads them, so that no output has to take care of it.
///
/// Secrets that a request carries are found in the request (``SentSecrets``); a secret key, a proxy's password and
/// secrets in the body of a service's request are added by the code that holds them.
final class SecretsInUse: Sendable {
  private struct State: Sendable {
    /// The secrets, newest last.
    var secrets: [[UInt8]] = []
    var search = SecretSearch([])
    var isCurrent = true
  }

  private let state = Locked(State())

  /// The most secrets. A run of several days renews its credentials every hour; the oldest have expired long ago.
  private static let most = 32

  init() {}

  func add(_ secret: Secret?) {
    if let secret { add(bytes: Array(secret.reveal().utf8)) }
  }

  func add(bytes: [UInt8]) {
    guard bytes.count >= SecretForms.shortest else { return }
    state.withLock { state in
      guard !state.secrets.contains(bytes) else { return }
      state.secrets.append(bytes)
      state.secrets.removeFirst(max(0, state.secrets.count - Self.most))
      state.isCurrent = false
    }
  }

  func add(_ credentials: Credentials) {
    add(credentials.secretAccessKey)
    add(credentials.sessionToken)
  }

  private var search: SecretSearch {
    state.withLock { state in
      if !state.isCurrent {
        state.search = SecretSearch(state.secrets)
        state.isCurrent = true
      }
      return state.search
    }
  }

  /// A text without the secrets of this run.
  func masked(_ text: String) -> String { search.masked(text) }

  /// A text without the secrets of this run that were put into it.
  func masked(_ wording: Wording) -> Wording { wording.masked(by: search) }

  func masked(_ failure: Failure) -> Failure { Self.masked(failure, [search]) }

  func masked(_ failure: Failure, of request: Request) -> Failure { Self.masked(failure, searches(for: request)) }

  private static func masked(_ failure: Failure, _ searches: [SecretSearch]) -> Failure {
    var failure = failure
    for search in searches {
      failure.message = failure.message.masked(by: search)
      failure.s3Code = failure.s3Code.map { search.masked($0) }
      failure.requestID = failure.requestID.map { search.masked($0) }
      failure.region = failure.region.map { search.masked($0) }
      failure.remedy = failure.remedy?.masked(by: search)
    }
    return failure
  }

  /// An answer without secrets. Keys that the request asked for stay: the caller reads them from the body of a success
  /// and shows nothing else of it. A success is read by the program, including names of objects, so only a whole
  /// secret, or nearly, is masked there. What is shown of it is searched for pieces too, by the log and in each
  /// failure.
  func masked(_ answer: Response, of request: Request) -> Response {
    var answer = answer
    let care = answer.isSuccess ? SecretSearch.Care.lengths : .pieces
    let readsBody = !(answer.isSuccess && request.answerHoldsSecrets)
    let sent = taken(from: request)
    var searches = [search]
    if !answer.isSuccess || sent.ofThisRequest.contains(where: { answer.mayRepeat($0, readsBody: readsBody) }) {
      searches.append(SecretSearch(sent.ofThisRequest))
    }
    for search in searches where !search.isEmpty {
      answer.headers.mask(by: search, care)
      if readsBody, let body = search.masked(answer.body, care) { answer.body = body }
    }
    return answer
  }

  /// The searches for the secrets of the run, and for the signature of this request.
  private func searches(for request: Request) -> [SecretSearch] {
    let sent = taken(from: request)
    return [search, SecretSearch(sent.ofThisRequest)]
  }

  private func taken(from request: Request) -> SentSecrets {
    let sent = SentSecrets(request)
    for secret in sent.lasting { add(bytes: secret) }
    return sent
  }
}

extension Response {
  /// Whether a success may repeat enough of the signature to be masked. Every request has a different one, so for
  /// nearly all answers only an eighth of the pieces is computed.
  fileprivate func mayRepeat(_ signature: [UInt8], readsBody: Bool) -> Bool {
    guard let stretches = SecretForms(stretchesOf: signature) else { return true }
    let search = SecretSearch(stretches)
    return headers.mayContain(search) || (readsBody && search.mayMask(body))
  }
}

extension SecretsInUse: CustomReflectable {
  var customMirror: Mirror { Mirror(self, children: []) }
}

extension HeaderList {
  fileprivate func mayContain(_ search: SecretSearch) -> Bool {
    fields.contains { search.mayMask($0.name.utf8) || search.mayMask($0.value.utf8) }
  }

  /// Masks header names too: the server chose them.
  fileprivate mutating func mask(by search: SecretSearch, _ care: SecretSearch.Care) {
    guard mayContain(search) else { return }
    self = HeaderList(fields: fields.map { NamedValue(search.masked($0.name, care), search.masked($0.value, care)) })
  }
}
