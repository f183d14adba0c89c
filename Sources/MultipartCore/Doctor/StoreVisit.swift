/// One request to a store without a signature, which tells how it is reached: any answer will do.
package struct StoreVisit: Sendable {
  package var outcome: Result<Response, Failure>
  package var connection: ConnectionReport
  /// How far the store's clock is ahead of this machine's, in seconds; nil when it did not say.
  package var clockAhead: Int64?
  /// The certificate of a server that was not trusted, looked at and believed in nothing.
  package var distrusted: TLSReport?

  package init(outcome: Result<Response, Failure>, connection: ConnectionReport) {
    self.outcome = outcome
    self.connection = connection
  }

  /// A HEAD over a connection of its own. `blind` is a transport that accepts any certificate: where this one's is
  /// refused it is asked for nothing but the certificate, of the root of the host.
  package static func make(
    _ url: String, origin: Origin, transport: any Transport, blind: (any Transport)?, world: World, limit: Duration
  ) async -> StoreVisit {
    let asked = world.now()
    var (outcome, connection) = await send(url, transport, limit)
    let answered = world.now()
    var visit = StoreVisit(outcome: outcome, connection: connection)
    if case .success(let answer) = outcome, let date = answer.headers["Date"].flatMap(S3Date.http) {
      // The store said so at some moment between.
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
