internal import CCurl
import Glibc
import MultipartBasics

/// libcurl, initialised once per process and never cleaned up. None of its functions may be called before.
enum CurlGlobal {
  /// Why libcurl cannot be used; nil if it can.
  static var problem: Failure? {
    outcome.withLock { outcome in
      if let known = outcome { return known.problem }
      let problem = setUp()
      outcome = Outcome(problem: problem)
      return problem
    }
  }

  private struct Outcome: Sendable { var problem: Failure? }
  private static let outcome = Locked<Outcome?>(nil)

  /// Initialises libcurl (`curl_global_init`).
  private static func setUp() -> Failure? {
    curl_global_init(Int(CURL_GLOBAL_ALL)) == CURLE_OK ? nil : Failure(.local, "libcurl could not be set up")
  }

  static var isReady: Bool { problem == nil }

  /// Whether libcurl can send memory that it is lent; otherwise it copies all that it sends.
  static let canLend = CurlEasy(sessions: TLSSessions())?.setLoan(nil) == true
}

/// Owns one easy handle (`curl_easy_init`, `curl_easy_cleanup`). Used only by the thread of one loop.
final class CurlEasy {
  let handle: UnsafeMutableRawPointer
  /// The request's headers; libcurl reads this list until the transfer has ended.
  private var headers: UnsafeMutablePointer<curl_slist>?
  /// The addresses that libcurl uses for a name (`CURLOPT_RESOLVE`).
  private var addresses: UnsafeMutablePointer<curl_slist>?
  let errorText: UnsafeMutablePointer<CChar>
  private let sessions: TLSSessions

  init?(sessions: TLSSessions) {
    guard let handle = curl_easy_init() else { return nil }
    self.handle = handle
    self.sessions = sessions
    errorText = .allocate(capacity: Int(CURL_ERROR_SIZE))
    errorText.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
    set(CURLOPT_ERRORBUFFER, pointer: errorText)
    // `curl_easy_reset` does not change it.
    if let share = sessions.handle { _ = s3up_easy_share(handle, share) }
  }

  deinit {
    curl_easy_cleanup(handle)
    curl_slist_free_all(headers)
    curl_slist_free_all(addresses)
    errorText.deallocate()
  }

  // `curl_easy_setopt` fails for these only if an option is not compiled in or memory runs out; then the transfer fails
  // too.
  func set(_ option: CURLoption, _ value: Int) { _ = s3up_easy_long(handle, option, value) }
  func set(_ option: CURLoption, offset: Int64) { _ = s3up_easy_offset(handle, option, curl_off_t(offset)) }
  func set(_ option: CURLoption, _ value: String?) { _ = s3up_easy_string(handle, option, value) }
  func set(_ option: CURLoption, pointer: UnsafeMutableRawPointer?) { _ = s3up_easy_pointer(handle, option, pointer) }
  func set(_ option: CURLoption, io: s3up_curl_io?) { _ = s3up_easy_io(handle, option, io) }

  /// Sets where a read callback stores the address of memory that it lends; false if this libcurl copies all that it
  /// sends.
  func setLoan(_ loan: UnsafeMutablePointer<s3up_loan>?) -> Bool { s3up_easy_loan(handle, loan) == CURLE_OK }

  /// Sets the headers (`curl_slist_append`); the old list is freed after libcurl has the new one.
  func setHeaders(_ lines: [String]) {
    let old = headers
    headers = lines.reduce(nil) { curl_slist_append($0, $1) }
    _ = s3up_easy_list(handle, CURLOPT_HTTPHEADER, headers)
    curl_slist_free_all(old)
  }

  /// Sets the addresses of a name, in the order in which they are tried. The plus sign makes them expire like those
  /// that libcurl has looked up itself.
  func setAddresses(of route: Route) {
    let list = route.order.map { $0.utf8.contains(UInt8(ascii: ":")) ? "[\($0)]" : $0 }.joined(separator: ",")
    let old = addresses
    addresses = curl_slist_append(nil, "+\(route.host):\(list)")
    _ = s3up_easy_list(handle, CURLOPT_RESOLVE, addresses)
    curl_slist_free_all(old)
  }

  func long(_ info: CURLINFO) -> Int {
    var value = 0
    return s3up_info_long(handle, info, &value) == CURLE_OK ? value : 0
  }

  func offset(_ info: CURLINFO) -> Int64 {
    var value: curl_off_t = 0
    return s3up_info_offset(handle, info, &value) == CURLE_OK ? Int64(value) : 0
  }

  func text(_ info: CURLINFO) -> String? {
    var value: UnsafePointer<CChar>?
    guard s3up_info_string(handle, info, &value) == CURLE_OK, let value else { return nil }
    return String(cString: value)
  }
}
