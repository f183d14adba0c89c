internal import CCurl
import Glibc
import MultipartBasics

extension Transfer {
  /// Sets every option that the request and the run determine; nothing of a handle's last request remains
  /// (`curl_easy_reset` keeps connections, DNS and TLS sessions).
  func setUp(_ options: TransportOptions) {
    curl_easy_reset(easy.handle)
    easy.errorText.pointee = 0
    easy.set(CURLOPT_ERRORBUFFER, pointer: easy.errorText)
    setUpConnection(options)
    setUpCallbacks()
    setUpRequest()
  }

  private func setUpConnection(_ options: TransportOptions) {
    easy.set(CURLOPT_NOSIGNAL, 1)
    easy.set(CURLOPT_PROTOCOLS_STR, "http,https")
    easy.set(CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_1_1))
    easy.set(CURLOPT_PATH_AS_IS, 1)
    easy.set(CURLOPT_TCP_KEEPALIVE, 1)
    // Nine unanswered probes end the connection, so a dead line is noticed within about a minute, even if the store may be
    // silent for longer.
    easy.set(CURLOPT_TCP_KEEPIDLE, 20)
    easy.set(CURLOPT_TCP_KEEPINTVL, 5)
    easy.set(CURLOPT_UPLOAD_BUFFERSIZE, 256 << 10)
    // libcurl's default of 16 KiB would cost a system call for each. With a limit, less arrives at once that the limit
    // has to make up for.
    if request.sink != nil { easy.set(CURLOPT_BUFFERSIZE, options.limiter == nil ? 1 << 20 : 16 << 10) }
    easy.set(CURLOPT_CONNECTTIMEOUT_MS, Self.milliseconds(options.connectTimeout))
    if let limit = request.timeLimit { easy.set(CURLOPT_TIMEOUT_MS, Self.milliseconds(limit)) }
    easy.set(CURLOPT_USERAGENT, options.userAgent)
    easy.set(CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2))
    easy.set(CURLOPT_PROXY_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2))
    easy.set(CURLOPT_SSL_VERIFYPEER, options.verifiesTLS ? 1 : 0)
    easy.set(CURLOPT_SSL_VERIFYHOST, options.verifiesTLS ? 2 : 0)
    let own = options.caBundle.map { SystemTrust(bundle: $0, folder: nil) }
    TLSTuning.setUp(easy, trust: own ?? (options.verifiesTLS ? options.systemTrust() : nil))
    // Empty strings keep libcurl from reading the environment.
    easy.set(CURLOPT_PROXY, request.bypassesProxy ? "" : options.proxy.proxy(for: request.url) ?? "")
    easy.set(CURLOPT_NOPROXY, "")
    easy.set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
    // By default libcurl also offers Kerberos, which this build does not have.
    easy.set(CURLOPT_SOCKS5_AUTH, 1)  // CURLAUTH_BASIC
    if request.freshConnection { easy.set(CURLOPT_FRESH_CONNECT, 1) }
    if request.closesConnection { easy.set(CURLOPT_FORBID_REUSE, 1) }
  }

  /// libcurl accepts at most 24 days.
  private static func milliseconds(_ limit: Duration) -> Int { Int(min(max(1, limit.milliseconds), Int64(Int32.max))) }

  private func setUpRequest() {
    easy.set(CURLOPT_URL, request.url)
    switch request.method {
    case .get: easy.set(CURLOPT_HTTPGET, 1)
    case .head: easy.set(CURLOPT_NOBODY, 1)
    case .delete: easy.set(CURLOPT_CUSTOMREQUEST, "DELETE")
    case .put, .post:
      easy.set(CURLOPT_UPLOAD, 1)
      easy.set(CURLOPT_INFILESIZE_LARGE, offset: request.body.length)
      if request.method == .post { easy.set(CURLOPT_CUSTOMREQUEST, "POST") }
    }
    // `Expect:` would cost one round trip per part; in libcurl's lists a semicolon stands for an empty value, and a value
    // of blanks would not be sent.
    let lines = request.headers.fields.map {
      ASCII.trimmed($0.value.utf8).isEmpty ? $0.name + ";" : $0.name + ": " + $0.value
    }
    easy.setHeaders(lines + ["Expect:"])
  }

  private func setUpCallbacks() {
    // The loop keeps the transfer as long as libcurl has its handle, so the context needs no reference of its own.
    let context = Unmanaged.passUnretained(self).toOpaque()
    easy.set(CURLOPT_PRIVATE, pointer: context)
    easy.set(CURLOPT_READDATA, pointer: context)
    easy.set(CURLOPT_WRITEDATA, pointer: context)
    easy.set(CURLOPT_HEADERDATA, pointer: context)
    easy.set(CURLOPT_SEEKDATA, pointer: context)
    easy.set(CURLOPT_XFERINFODATA, pointer: context)
    easy.set(CURLOPT_NOPROGRESS, 0)
    easy.set(CURLOPT_READFUNCTION) { buffer, size, count, context in
      guard let buffer, let transfer = Transfer.from(context) else { return Int(CURL_READFUNC_ABORT) }
      return transfer.read(into: UnsafeMutableRawBufferPointer(start: buffer, count: size * count))
    }
    easy.set(CURLOPT_WRITEFUNCTION) { buffer, size, count, context in
      let bytes = UnsafeRawBufferPointer(start: buffer, count: size * count)
      if Transfer.from(context)?.mustWaitToReceive() == true { return Int(CURL_WRITEFUNC_PAUSE) }
      return Transfer.from(context)?.receive(body: bytes) == true ? bytes.count : 0
    }
    easy.set(CURLOPT_HEADERFUNCTION) { buffer, size, count, context in
      let line = UnsafeRawBufferPointer(start: buffer, count: size * count)
      return Transfer.from(context)?.receive(header: line) == true ? line.count : 0
    }
    _ = s3up_easy_seek(easy.handle) { context, offset, origin in
      Transfer.from(context)?.seek(to: Int64(offset), origin: origin) == true ? CURL_SEEKFUNC_OK : CURL_SEEKFUNC_FAIL
    }
    // libcurl repeats a request by itself if a kept connection has been closed.
    easy.set(CURLOPT_PREREQDATA, pointer: context)
    _ = s3up_easy_prereq(easy.handle) { context, peer, local, peerPort, localPort in
      guard let transfer = Transfer.from(context), let peer, let local else { return CURL_PREREQFUNC_ABORT }
      let ends = ConnectionEnds(
        local: String(cString: local), localPort: localPort, peer: String(cString: peer), peerPort: peerPort)
      return transfer.mayGoOut(on: ends) ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT
    }
    easy.set(CURLOPT_SOCKOPTDATA, pointer: context)
    _ = s3up_easy_sockopt(easy.handle) { context, socket, _ in
      Transfer.from(context)?.opened(socket)
      return Int32(CURL_SOCKOPT_OK)
    }
    _ = s3up_easy_xferinfo(easy.handle) { context, _, down, _, up in
      Transfer.from(context)?.progress(down: Int64(down), up: Int64(up))
      return 0
    }
  }

  /// The transfer of a handle (`CURLINFO_PRIVATE`).
  static func of(_ handle: UnsafeMutableRawPointer?) -> Transfer? {
    var context: UnsafeMutableRawPointer?
    guard let handle, s3up_info_pointer(handle, CURLINFO_PRIVATE, &context) == CURLE_OK else { return nil }
    return from(context)
  }

  static func from(_ context: UnsafeMutableRawPointer?) -> Transfer? {
    context.map { Unmanaged<Transfer>.fromOpaque($0).takeUnretainedValue() }
  }
}

extension CurlEasy {
  fileprivate func set(_ option: CURLoption, _ callback: @escaping s3up_curl_io) {
    set(option, io: callback)
  }
}
