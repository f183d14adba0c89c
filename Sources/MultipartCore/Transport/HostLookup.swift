import Glibc
import MultipartBasics

/// Looks up the addresses of a host (`getaddrinfo`), as libcurl will. The call cannot be cancelled, so it runs on its
/// own thread, and callers wait for it no longer than a limit.
enum HostLookup {
  /// The addresses of a name, or of an address in text form; an IPv6 address may be in brackets. No duplicates, in the
  /// system's order.
  static func addresses(
    of host: String, limit: Duration = .seconds(5), lookUp: @escaping LookUp = onThread
  ) async -> Result<[String], Failure> {
    let name = host.begins(with: "[") && host.ends(with: "]") ? String(host.dropFirst().dropLast()) : host
    let reply = Reply()
    let timer = Task {
      try? await World.sleep(limit)
      let text = "the name \(SafeText.oneLine(name)) was not resolved within \(limit.milliseconds) ms"
      reply.give(.failure(Failure(.network, text, remedy: remedy)))
    }
    defer { timer.cancel() }
    return await withCheckedContinuation { continuation in
      reply.wait(continuation)
      lookUp(name) { reply.give(read($0, of: name)) }
    }
  }

  /// The addresses, or the error code of `getaddrinfo`.
  enum Lookup: Sendable {
    case found([String])
    case refused(Int32)
  }

  /// Looks up the addresses of a name without blocking the caller.
  typealias LookUp = @Sendable (String, _ answer: @escaping @Sendable (Lookup) -> Void) -> Void

  static let onThread: LookUp = { name, answer in
    do throws(Failure) {
      try OwnThread.start { answer(ask(name)) }.detach()
    } catch {
      answer(.refused(EAI_AGAIN))
    }
  }

  private static let remedy: Wording =
    "check the endpoint, the region, and this machine's name server (/etc/resolv.conf)"

  private static func read(_ lookup: Lookup, of name: String) -> Result<[String], Failure> {
    switch lookup {
    case .found(let addresses) where !addresses.isEmpty: return .success(addresses)
    case .found: return .failure(Failure(.network, "the name \(SafeText.oneLine(name)) has no address", remedy: remedy))
    case .refused(let code):
      let reason = gai_strerror(code).map { String(cString: $0) } ?? "error \(code)"
      return .failure(
        Failure(.network, "the name \(SafeText.oneLine(name)) has no address: \(reason)", remedy: remedy))
    }
  }

  /// Asks the system (`getaddrinfo`, `getnameinfo`, `freeaddrinfo`).
  private static func ask(_ name: String) -> Lookup {
    var hints = addrinfo()
    hints.ai_family = AF_UNSPEC
    hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    var list: UnsafeMutablePointer<addrinfo>?
    let status = getaddrinfo(name, nil, &hints, &list)
    guard status == 0 else { return .refused(status) }
    defer { freeaddrinfo(list) }
    var addresses: [String] = []
    var next = list
    while let entry = next?.pointee, addresses.count < 64 {
      var text = [CChar](repeating: 0, count: Int(NI_MAXHOST))
      if getnameinfo(entry.ai_addr, entry.ai_addrlen, &text, socklen_t(text.count), nil, 0, NI_NUMERICHOST) == 0 {
        let address = String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        if !addresses.contains(address) { addresses.append(address) }
      }
      next = entry.ai_next
    }
    return .found(addresses)
  }

  /// Delivers the answer or the timeout, whichever comes first, and drops the other.
  private final class Reply: Sendable {
    private struct State: Sendable {
      var waiter: CheckedContinuation<Result<[String], Failure>, Never>?
      var early: Result<[String], Failure>?
    }

    private let state = Locked(State())

    func wait(_ continuation: CheckedContinuation<Result<[String], Failure>, Never>) {
      let early = state.withLock { state in
        if state.early == nil { state.waiter = continuation }
        return state.early
      }
      if let early { continuation.resume(returning: early) }
    }

    func give(_ result: Result<[String], Failure>) {
      let waiter = state.withLock { state in
        if state.early == nil { state.early = result }
        defer { state.waiter = nil }
        return state.waiter
      }
      waiter?.resume(returning: result)
    }
  }
}
