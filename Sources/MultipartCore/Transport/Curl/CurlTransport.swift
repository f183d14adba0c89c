internal import CKernels
import MultipartBasics

/// State that the loops of a transport share.
struct LoopShared: Sendable {
  let ledger = LineLedger()
  let addresses: AddressBook

  init(_ options: TransportOptions) {
    addresses = AddressBook(lookUp: options.lookUp)
  }
}

/// Sends each request over the loop with the fewest requests.
///
/// It starts with one loop. Another one is started when the existing ones cannot keep up: their threads used nearly all
/// of a core recently, and there are enough requests to share. So a line that is slower than a core, or a machine whose
/// cores are otherwise busy, never gets a second loop.
final class CurlTransport: Transport {
  private struct State: Sendable {
    var loops: [CurlLoop] = []
    /// The number of requests on each loop.
    var running: [Int] = []
    var most: Int
    var measuredAt: Duration
    var measured: Duration = .zero
    /// The average share of a core that the loops used in the last interval.
    var load: Double = 0

    mutating func add(_ loop: CurlLoop) {
      loops.append(loop)
      running.append(0)
    }
  }

  private let state: Locked<State>
  private let options: TransportOptions
  private let uptime: @Sendable () -> Duration
  private let shared: LoopShared
  private let contacts = Locked(Contacts())

  /// More than four loops never helped: by then the kernel's side of the connection is the bottleneck.
  static let mostLoops = 4
  private static let interval: Duration = .milliseconds(100)

  /// `loops` is a fixed number of loops; nil: as many as are useful.
  init(
    options: TransportOptions, loops count: Int? = nil,
    uptime: @escaping @Sendable () -> Duration = { .sinceBoot() }
  ) throws(Failure) {
    self.options = options
    self.uptime = uptime
    for proxy in [options.proxy.http, options.proxy.https].compactMap({ $0 }) {
      if let password = ProxyName.password(in: proxy) { options.secrets.add(bytes: password) }
    }
    shared = LoopShared(options)
    let fixed = count.map { max(1, $0) }
    var first = State(most: fixed ?? min(Int(ck_processors()), Self.mostLoops), measuredAt: uptime())
    for number in 0..<(fixed ?? 1) {
      first.add(try CurlLoop(options: options, shared: shared, awaitsLibrary: number > 0))
    }
    state = Locked(first)
  }

  func send(_ request: Request) async throws(Failure) -> Response {
    // Again: the signature has added the key id and the session token.
    try request.checkHeaders()
    if !request.bypassesProxy { try options.proxy.check(for: request.url) }
    let (index, loop) = state.withLock { state in
      review(&state, coming: 1)
      let index = state.running.indices.min { state.running[$0] < state.running[$1] } ?? 0
      state.running[index] += 1
      return (index, state.loops[index])
    }
    defer { state.withLock { $0.running[index] -= 1 } }
    let (place, began) = (AddressBook.origin(of: request.url), uptime())
    do throws(Failure) {
      let answer = try await loop.send(request)
      contacts.withLock { $0.hasAnswered(place) }
      return options.secrets.masked(answer, of: request)
    } catch {
      let now = uptime()
      // libcurl's messages may repeat an answer, a certificate or a proxy's address.
      let judged = contacts.withLock { $0.judge(error, at: place, began: began, now: now) }
      throw options.secrets.masked(judged, of: request)
    }
  }

  func stop() {
    let loops = state.withLock { state in
      state.most = 0
      return state.loops
    }
    for loop in loops { loop.stop() }
  }

  var addresses: AddressBook { shared.addresses }

  /// The number of requests on each loop.
  var loads: [Int] { state.withLock { $0.running } }

  func prepare(for url: String) {
    guard options.proxy.proxy(for: url) == nil else { return }
    shared.addresses.find(url, now: uptime())
  }

  func look() -> LineSample? {
    var sample = shared.ledger.sample
    sample.load = state.withLock { state in
      review(&state, coming: 0)
      return state.load
    }
    sample.limit = options.limiter?.rate(now: uptime())
    return sample
  }

  /// Measures, after each interval, what the loops did, and starts another one if that is useful. Called for each
  /// request and each sample.
  private func review(_ state: inout State, coming: Int) {
    let now = uptime()
    let elapsed = now - state.measuredAt
    guard elapsed >= Self.interval else { return }
    let used = state.loops.reduce(.zero) { $0 + $1.processorTime }
    state.load = (used - state.measured) / (elapsed * state.loops.count)
    (state.measuredAt, state.measured) = (now, used)
    guard state.loops.count < state.most,
      Self.pays(load: state.load, loops: state.loops.count, requests: state.running.reduce(coming, +))
    else { return }
    do throws(Failure) {
      state.add(try CurlLoop(options: options, shared: shared))
    } catch {
      // No thread or descriptor is left: the existing loops must do.
      state.most = state.loops.count
    }
  }

  /// Whether another loop is worthwhile: each loop uses its core fully and has at least two requests.
  static func pays(load: Double, loops: Int, requests: Int) -> Bool {
    load >= Pace.fullLoad && requests > 2 * loops
  }
}
