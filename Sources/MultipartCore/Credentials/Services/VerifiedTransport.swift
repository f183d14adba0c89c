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
  /// The transport to services that issue credentials: the store's, or one that verifies if the store is not verified.
  /// Who may read what is sent to the store must not get its keys, or those of another account.
  func serviceTransport(_ ofStore: CurlTransport, _ transfer: TransferSettings, _ world: World) -> any Transport {
    guard !verifiesTLS else { return ofStore }
    var options = self
    options.verifiesTLS = true
    var transfer = transfer
    transfer.limitRate = nil
    return VerifiedTransport { [options, transfer] () throws(Failure) in try options.transport(transfer, world) }
  }

  func services(_ ofStore: CurlTransport, _ settings: StoreSettings, _ world: World) -> ServiceClient {
    ServiceClient(transport: serviceTransport(ofStore, settings.transfer, world), world: world)
  }
}
