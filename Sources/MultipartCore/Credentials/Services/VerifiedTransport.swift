import MultipartBasics

/// A transport of its own for the services that issue credentials, with verified certificates. It is made for the first
/// request, because most runs with an unverified store need none of these services, and then its certificates need not
/// be readable.
private final class VerifiedTransport: Transport {
  private let made = Locked<CurlTransport?>(nil)
  private let make: @Sendable () throws(Failure) -> CurlTransport

  init(_ make: @escaping @Sendable () throws(Failure) -> CurlTransport) {
    self.make = make
  }

  func send(_ request: Request) async throws(Failure) -> Response {
    let transport = try made.withLock { (made) throws(Failure) -> CurlTransport in
      let transport = if let made { made } else { try make() }
      made = transport
      return transport
    }
    return try await transport.send(request)
  }
}

extension StoreOptions {
  /// Asks the services that issue credentials over the store's transport, or if the store is not verified over one that
  /// verifies.
  /// Who may read what is sent to the store must not get its keys, or those of another account.
  func services(_ ofStore: CurlTransport, _ settings: StoreSettings, _ world: World) -> ServiceClient {
    guard !verifiesTLS else { return ServiceClient(transport: ofStore, world: world) }
    var (options, transfer) = (self, settings.transfer)
    options.verifiesTLS = true
    transfer.limitRate = nil
    let transport = VerifiedTransport { [options, transfer] () throws(Failure) in
      try options.transport(transfer, world)
    }
    return ServiceClient(transport: transport, world: world)
  }
}
