internal import CCurl
import Glibc
import MultipartBasics

/// One running request on an easy handle that is reused afterwards. Loop only: only the loop's thread, and the
/// callbacks that libcurl makes on it, access a transfer.
final class Transfer {
  let easy: CurlEasy
  private(set) var request: Request
  private(set) var identifier: UInt64 = 0

  private var offset: Int64 = 0
  private var timesOut = 0
  private let sockets: LoopSockets
  /// The ends of the connection that carried the request.
  private var ends: ConnectionEnds?
  /// The socket of these ends, as it was last found.
  private var found: (ends: ConnectionEnds, socket: Int32)?
  private(set) var route: Route?
  private var limiter: RateLimiter?
  private var isTLS = false
  /// The run's proxies, even if this request bypasses them.
  private var proxies = ProxySettings()
  private var handshake: Handshake?
  /// Owned; libcurl reads the address of lent memory from here.
  private let loan: UnsafeMutablePointer<s3up_loan>
  private var mayLend = false
  /// The piece that libcurl was lent last. It asks for more only after it has sent all of it.
  private var lent: FilePiece?
  private(set) var waitsForRate = false
  /// Since when the limiter has refused bytes; determines the order of waiting transfers.
  private(set) var refusedSince: Duration = .zero
  private var isRefused = false
  private var sinkHasBegun = false
  let uptime: @Sendable () -> Duration

  private var answer = Answer()
  private var moved = Movement(at: .zero)
  /// Why a callback stopped the transfer; libcurl only reports that one did.
  private var cause: Failure?

  init?(sockets: LoopSockets, sessions: TLSSessions, uptime: @escaping @Sendable () -> Duration) {
    guard let easy = CurlEasy(sessions: sessions) else { return nil }
    self.sockets = sockets
    self.uptime = uptime
    self.easy = easy
    request = Request(method: .get, url: "")
    loan = .allocate(capacity: 1)
    loan.initialize(to: s3up_loan())
  }

  deinit { loan.deallocate() }

  func begin(
    _ identifier: UInt64, _ request: Request, options: TransportOptions, asksAddresses: Bool, route: Route?
  ) {
    self.request = request
    self.identifier = identifier
    limiter = options.limiter
    isTLS = AddressBook.isTLS(request.url)
    proxies = options.proxy
    handshake = nil
    offset = 0
    timesOut = 0
    ends = nil
    found = nil
    waitsForRate = false
    isRefused = false
    sinkHasBegun = false
    answer = Answer()
    moved = Movement(at: uptime())
    cause = nil
    self.route = route
    setUp(options)
    takeBackLoan()
    if case .part = request.body { mayLend = easy.setLoan(loan) } else { mayLend = false }
    if let route {
      easy.setAddresses(of: route)
    } else if asksAddresses || request.freshConnection {
      easy.set(CURLOPT_DNS_CACHE_TIMEOUT, 0)
    }
  }

  /// Releases everything that the request held, before its caller continues.
  func end() {
    request.trace?.ended()
    takeBackLoan()
    handshake = nil
    request = Request(method: .get, url: "")
    route = nil
    answer = Answer()
  }

  func result(of code: CURLcode) -> Result<Response, Failure> {
    request.onConnection?(easy.connectionReport())
    if let cause { return .failure(cause) }
    // The last lent bytes may have become zeros while they were sent. Over plain HTTP the kernel reads them, and a page
    // that it cannot read is a failure without a signal.
    do throws(Failure) {
      if code == CURLE_OK { try lent?.window.check() } else { try lent?.check() }
    } catch {
      return .failure(error)
    }
    guard code == CURLE_OK else {
      // After the request this is libcurl's limit on a line of the head (100 KiB), or a compression that it was built
      // without, not this machine's memory.
      if code == CURLE_OUT_OF_MEMORY, easy.long(CURLINFO_REQUEST_SIZE) > 0 {
        return .failure(
          Failure(
            .server, "the answer has a header or status line that is too long, or is compressed without being asked to")
        )
      }
      return .failure(Failure(trouble(code)))
    }
    guard answer.status != 0 else { return .failure(Failure(.server, "the answer has no status line")) }
    // libcurl reports success if the connection ends in the middle of the headers.
    guard answer.hasWholeHead else { return .failure(Failure(.network, "the answer ended within its headers")) }
    // Within a tunnel the answer would be the server's own.
    if answer.status == 407, let proxy, request.url.begins(with: "http:") {
      return .failure(.proxyWantsPassword(proxy))
    }
    // A success for bytes that were never sent is not one; a refusal may well arrive early.
    if (200..<300).contains(answer.status),
      easy.offset(CURLINFO_SIZE_UPLOAD_T) < request.body.length
    {
      return .failure(Failure(.network, "the server answered before it had been sent the whole body"))
    }
    return .success(Response(status: answer.status, headers: answer.headers, body: answer.body))
  }

  private func trouble(_ code: CURLcode) -> CurlTrouble {
    let report = easy.connectionReport()
    return CurlTrouble(
      code: code, detail: detail, osError: Int32(truncatingIfNeeded: easy.long(CURLINFO_OS_ERRNO)),
      place: String(AddressBook.origin(of: request.url)),
      proxy: proxy, proxyStatus: report.proxyStatus,
      proxyVerifyError: easy.long(CURLINFO_PROXY_SSL_VERIFYRESULT), isConnected: report.isConnected,
      verifyError: report.verifyError, isForeign: handshake?.isForeign == true, alert: handshake?.alert,
      wasAsked: wasAsked, hasAnswered: answer.status != 0)
  }

  private var proxy: ProxyName? { request.bypassesProxy ? nil : proxies.named(for: request.url) }

  /// Whether the request, or part of it, was sent.
  private var wasAsked: Bool { easy.long(CURLINFO_REQUEST_SIZE) > 0 }

  /// Marks a failure from before the request could be sent.
  func looked(_ failure: Failure) -> Failure {
    var failure = failure
    if !wasAsked { failure.triedInVain = .zero }
    return failure
  }

  /// A connection of this transfer begins TLS.
  func shakesHands(in context: UnsafeMutableRawPointer?) { handshake = Handshake(context: context) }

  /// libcurl's words about the failure; for a proxy's address that it cannot use it would repeat the password.
  private var detail: String {
    let text = String(cString: easy.errorText)
    guard let proxy = proxies.configured(for: request.url), let (before, after) = text.cut(at: proxy) else {
      return text
    }
    return before + "(the proxy's address)" + after
  }

  /// True if nothing has moved for the request's stall timeout.
  func hasStalled(now: Duration) -> Bool {
    if waitsForRate {
      moved.touch(now)
      return false
    }
    return moved.quiet(now: now, socket: socket) >= request.stallTimeout
  }

  /// Whether the server has closed its side without an answer, and accepts nothing more. libcurl 7.88 continues to
  /// send, and a server that is permanently gone never tells it to stop.
  func hasLostItsServer(now: Duration) -> Bool {
    guard answer.status == 0, !waitsForRate, request.body.length > 0,
      moved.quiet(now: now, socket: socket) >= .seconds(1), let socket = socket()
    else { return false }
    let peerClosed = Int16(0x2000)  // POLLRDHUP, which Glibc's module leaves out.
    var watched = pollfd(fd: socket, events: peerClosed, revents: 0)
    return poll(&watched, 1, 0) == 1 && watched.revents & peerClosed != 0
  }

  /// The other end's address.
  var peer: String? { ends?.peer }

  private func socket() -> Int32? {
    guard let ends else { return nil }
    if let found, found.ends == ends, sockets.isOpen(found.socket) { return found.socket }
    found = sockets.socket(with: ends).map { (ends, $0) }
    return found?.socket
  }

  func tellAcknowledged() {
    guard let tell = request.onAcknowledged else { return }
    tell(max(0, moved.up - Int64(socket().flatMap(unacknowledged) ?? 0)))
  }

  /// Discards the bytes in the socket's buffer (`SO_LINGER`): on a slow line they would take seconds from transfers
  /// that are still wanted. Not done after an answer, when the connection may be kept.
  func dropUnsent() {
    guard answer.status == 0, offset > 0, let socket = socket() else { return }
    var now = linger(l_onoff: 1, l_linger: 0)
    setsockopt(socket, SOL_SOCKET, SO_LINGER, &now, socklen_t(MemoryLayout.size(ofValue: now)))
  }

  /// Continues after the limiter paused the transfer: `curl_easy_pause`.
  func resumeIfAllowed(now: Duration) {
    guard waitsForRate, let limiter, limiter.wait(now: now) == .zero else { return }
    waitsForRate = false
    curl_easy_pause(easy.handle, CURLPAUSE_CONT)
  }

  // MARK: - Callbacks of libcurl

  func read(into buffer: UnsafeMutableRawBufferPointer) -> Int {
    let left = request.body.length - offset
    var wanted = Int(min(Int64(buffer.count), left))
    var nothing = 0
    if wanted > 0, let limiter {
      let now = uptime()
      wanted = limiter.take(wanted, now: now)
      if wanted == 0 {
        waitsForRate = true
        if !isRefused { refusedSince = now }
        nothing = Int(CURL_READFUNC_PAUSE)
      }
      isRefused = wanted == 0
    }
    do throws(Failure) {
      let count = try fill(UnsafeMutableRawBufferPointer(rebasing: buffer[..<wanted]))
      offset += Int64(count)
      if isTLS, count > 0 { TLSTuning.willWrite(count, on: easy) }
      return wanted > 0 ? count : nothing
    } catch {
      cause = error
      return Int(CURL_READFUNC_ABORT)
    }
  }

  private func fill(_ buffer: UnsafeMutableRawBufferPointer) throws(Failure) -> Int {
    guard !buffer.isEmpty else { return 0 }
    switch request.body {
    case .none: return 0
    case .bytes(let bytes):
      bytes.withUnsafeBytes { all in
        buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: all[Int(offset)..<Int(offset) + buffer.count]))
      }
      return buffer.count
    case .source(let source), .part(let source):
      // What was lent before has been sent.
      try lent?.window.check()
      if mayLend, let piece = try source.lend(buffer.count, at: offset) {
        lent = piece
        loan.pointee.bytes = piece.bytes.baseAddress?.assumingMemoryBound(to: CChar.self)
        return piece.bytes.count
      }
      let count = try source.read(into: buffer, at: offset)
      guard count > 0 else {
        throw Failure(
          .sourceChanged, "the source ended before its length", remedy: "run it again when nothing writes to it")
      }
      return count
    }
  }

  /// Called when libcurl found a kept connection closed and sends the body again from its beginning.
  func seek(to position: Int64, origin: Int32) -> Bool {
    guard origin == SEEK_SET, (0...request.body.length).contains(position) else { return false }
    begin(at: position)
    return true
  }

  private func begin(at position: Int64) {
    offset = position
    takeBackLoan()
  }

  private func takeBackLoan() {
    loan.pointee.bytes = nil
    lent = nil
  }

  func opened(_ socket: Int32) { sockets.add(socket) }

  /// Called each time before the request is sent. If a second time matters, the transfer ends, and the caller must
  /// assume that the request may have worked.
  func mayGoOut(on ends: ConnectionEnds) -> Bool {
    self.ends = ends
    // The connection was made before its address fell behind.
    if let route, route.book.isAvoided(ends.peer, of: route.origin, now: uptime()) { easy.set(CURLOPT_FORBID_REUSE, 1) }
    request.onConnection?(easy.connectionReport())
    // libcurl does not rewind a body that it has read from but not begun to send.
    begin(at: 0)
    timesOut += 1
    guard timesOut > 1, !request.mayBeResent else {
      request.trace?.goesOut(on: ends)
      return true
    }
    cause = cause ?? Failure(.network, "the connection was closed before there was an answer")
    return false
  }

  func receive(header line: UnsafeRawBufferPointer) -> Bool {
    cause = answer.take(header: line) ?? cause
    return cause == nil
  }

  /// Whether to pause receiving, because the received bytes may have used more than the limit allows: nothing more is
  /// read until that is made up for. libcurl then passes the same bytes again.
  func mustWaitToReceive() -> Bool {
    guard request.sink != nil, let limiter else { return false }
    let now = uptime()
    guard limiter.wait(now: now) > .zero else { return false }
    if !waitsForRate { refusedSince = now }
    waitsForRate = true
    return true
  }

  func receive(body bytes: UnsafeRawBufferPointer) -> Bool {
    if let sink = request.sink, (200..<300).contains(answer.status) {
      if !sinkHasBegun, let failure = sink.begin(answer.status, answer.headers) {
        cause = failure
        return false
      }
      sinkHasBegun = true
      guard sink.receive(bytes) else {
        cause = cause ?? sink.failure ?? Failure(.local, "the received bytes could not be stored")
        return false
      }
      sockets.took(bytes.count)
      limiter?.spend(bytes.count, now: uptime())
      return true
    }
    guard answer.body.count + bytes.count <= request.maximumAnswer else {
      cause = Failure(.server, "the answer is longer than \(request.maximumAnswer) bytes")
      return false
    }
    answer.body.append(contentsOf: bytes)
    return true
  }

  func progress(down: Int64, up: Int64) {
    let sent = moved.record(down: down, up: up)
    guard sent != 0 else { return }
    sockets.wrote(sent)
    request.onSent?(sent)
  }
}
