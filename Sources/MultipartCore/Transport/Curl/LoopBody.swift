internal import CCurl
import MultipartBasics

/// The work of a `CurlLoop`'s thread. Loop only: created and used on that thread.
final class LoopBody {
  private let inbox: Inbox
  private let handle: MultiHandle
  private var multi: UnsafeMutableRawPointer { handle.pointer }
  private let options: TransportOptions
  private let uptime: @Sendable () -> Duration
  private var running: [UInt64: Transfer] = [:]
  private var idle: [Transfer] = []
  private let sockets: LoopSockets
  private let addresses: AddressBook
  private let sessions: TLSSessions
  private var nextStallCheck: Duration = .zero
  private var nextLook: Duration = .zero
  static let look: Duration = .milliseconds(100)
  /// The time between samples at the beginning, because the number of connections depends on them.
  static let firstLook: Duration = .milliseconds(25)
  private var firstLooks = 60
  /// Samples for the first answers, because the size of the parts depends on the round trip.
  private var firstAnswers = 8
  /// Until then every new connection looks up the addresses: those that libcurl remembers, for a minute, have failed.
  private var doubtsAddressesUntil: Duration = .zero

  init(
    inbox: Inbox, options: TransportOptions, shared: LoopShared, uptime: @escaping @Sendable () -> Duration
  ) throws(Failure) {
    self.inbox = inbox
    self.options = options
    handle = try inbox.open()
    sessions = TLSSessions()
    sockets = LoopSockets(options, ledger: shared.ledger)
    addresses = shared.addresses
    self.uptime = uptime
    _ = s3up_multi_long(multi, CURLMOPT_MAXCONNECTS, max(4, options.connections))
  }

  func run() {
    shutDown(runUntilEnd())
  }

  /// Runs until there is a reason to end.
  private func runUntilEnd() -> Failure {
    while true {
      let mail = inbox.take()
      if mail.stops { return .interrupted }
      for (identifier, request) in mail.requests { start(identifier, request) }
      for identifier in mail.cancelled { cancel(identifier) }
      if options.limiter != nil { resume() }
      var active: Int32 = 0
      let status = curl_multi_perform(multi, &active)
      guard status == CURLM_OK else { return Self.failure(status) }
      collect()
      checkStalls()
      let wait = curl_multi_poll(multi, nil, 0, pollTimeout(), nil)
      guard wait == CURLM_OK else { return Self.failure(wait) }
    }
  }

  private func start(_ identifier: UInt64, _ request: Request) {
    guard let transfer = idle.popLast() ?? Transfer(sockets: sockets, sessions: sessions, uptime: uptime) else {
      return inbox.finish(identifier, .failure(Failure(.local, "no memory for another transfer")))
    }
    let asks = uptime() < doubtsAddressesUntil
    transfer.begin(identifier, request, options: options, asksAddresses: asks, route: asks ? nil : route(of: request))
    let status = curl_multi_add_handle(multi, transfer.easy.handle)
    guard status == CURLM_OK else {
      transfer.end()
      return inbox.finish(identifier, .failure(Self.failure(status)))
    }
    running[identifier] = transfer
  }

  private func route(of request: Request) -> Route? {
    guard request.bypassesProxy || options.proxy.proxy(for: request.url) == nil else { return nil }
    return addresses.route(for: request.url, now: uptime())
  }

  private func cancel(_ identifier: UInt64) {
    guard let transfer = running[identifier] else { return }
    transfer.dropUnsent()
    remove(transfer, .failure(.interrupted))
  }

  /// Resumes one transfer at a time, the one that has waited longest: if all resumed together, the first in libcurl's
  /// order would use the whole rate each time, and the others would stall until the store gives up on them.
  private func resume() {
    let waiting = running.values.filter(\.waitsForRate)
    waiting.min { $0.refusedSince < $1.refusedSince }?.resumeIfAllowed(now: uptime())
  }

  /// Collects the transfers that have ended (`curl_multi_info_read`).
  private func collect() {
    var left: Int32 = 0
    while let message = curl_multi_info_read(multi, &left) {
      guard message.pointee.msg == CURLMSG_DONE else { continue }
      let code = s3up_message_result(message)
      guard let transfer = Transfer.of(message.pointee.easy_handle) else { continue }
      if code == CURLE_COULDNT_CONNECT { doubtsAddressesUntil = uptime() + .seconds(60) }
      let result = transfer.result(of: code)
      if firstAnswers > 0 {
        firstAnswers -= 1
        sockets.lookAtLine(at: uptime())
      }
      transfer.teachRoute(result, code: code)
      remove(transfer, result)
    }
  }

  private func checkStalls() {
    let now = uptime()
    if now >= nextLook {
      nextLook = now + lookInterval
      if firstLooks > 0 { firstLooks -= 1 }
      sockets.lookAtLine(at: now)
      for transfer in running.values { transfer.tellAcknowledged() }
    }
    guard now >= nextStallCheck else { return }
    nextStallCheck = now + .milliseconds(500)
    for transfer in running.values {
      if transfer.hasStalled(now: now) {
        let time = Human.duration(transfer.request.stallTimeout)
        transfer.avoidAddress()
        remove(transfer, .failure(transfer.looked(Failure(.stalled, "no byte was transferred for \(time)"))))
      } else if transfer.hasLostItsServer(now: now) {
        remove(transfer, .failure(Failure(.network, "the server closed the connection before it answered")))
      }
    }
  }

  /// Removing a handle during its transfer closes its connection; after a complete answer the connection is kept.
  private func remove(_ transfer: Transfer, _ result: Result<Response, Failure>) {
    curl_multi_remove_handle(multi, transfer.easy.handle)
    running[transfer.identifier] = nil
    transfer.end()
    idle.append(transfer)
    inbox.finish(transfer.identifier, result)
  }

  /// The timeout for polling: libcurl wakes up for its own timers and sockets, the loop for stalls and the rate limit.
  private func pollTimeout() -> Int32 {
    guard !running.isEmpty else { return 60_000 }
    guard let limiter = options.limiter, running.values.contains(where: \.waitsForRate) else {
      return Int32(lookInterval.milliseconds)
    }
    return Int32(min(lookInterval.milliseconds, max(1, limiter.wait(now: uptime()).milliseconds)))
  }

  private var lookInterval: Duration { firstLooks > 0 ? Self.firstLook : Self.look }

  private func shutDown(_ failure: Failure) {
    for transfer in running.values {
      curl_multi_remove_handle(multi, transfer.easy.handle)
      transfer.end()
    }
    running = [:]
    idle = []
    inbox.close(failure)
  }

  private static func failure(_ status: CURLMcode) -> Failure {
    Failure(.local, "libcurl's loop failed: " + String(cString: curl_multi_strerror(status)))
  }
}
