import MultipartBasics

/// One unsigned request to a store, which shows how it is reached: any answer will do.
struct StoreVisit: Sendable {
  var outcome: Result<Response, Failure>
  var connection: ConnectionReport
  /// How many seconds the store's clock is ahead of this machine's; nil if its answer has no time.
  var clockAhead: Int64?
  /// The certificate of a server that is not trusted, for display only.
  var distrusted: TLSReport?

  /// Sends a HEAD on a new connection. `blind` is a transport that accepts any certificate: if the server's is refused,
  /// it requests the root of the host, only to see the certificate.
  static func make(
    _ url: String, origin: Origin, transport: any Transport, blind: (any Transport)?, world: World, limit: Duration
  ) async -> StoreVisit {
    let asked = world.now()
    var (outcome, connection) = await send(url, transport, limit)
    let answered = world.now()
    var visit = StoreVisit(outcome: outcome, connection: connection)
    if case .success(let answer) = outcome, let date = answer.headers["Date"].flatMap(DateText.http) {
      // The store's date is from some moment between request and answer.
      visit.clockAhead = date < asked ? date.seconds - asked.seconds : max(0, date.seconds - answered.seconds)
    }
    if case .failure(let failure) = outcome, failure.code == .tls, let blind {
      (outcome, connection) = await send("\(origin)/", blind, limit)
      visit.distrusted = connection.tls
    }
    return visit
  }

  private static func send(
    _ url: String, _ transport: any Transport, _ limit: Duration
  ) async -> (Result<Response, Failure>, ConnectionReport) {
    let report = Locked(ConnectionReport())
    var request = Request(method: .head, url: url, stallTimeout: limit)
    request.timeLimit = limit
    request.freshConnection = true
    request.onConnection = { latest in report.withLock { $0.fill(from: latest) } }
    do throws(Failure) {
      let answer = try await transport.send(request)
      return (.success(answer), report.withLock { $0 })
    } catch {
      return (.failure(error), report.withLock { $0 })
    }
  }
}
