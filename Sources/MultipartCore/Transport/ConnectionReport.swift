internal import CCurl
internal import COpenSSL
import Glibc
import MultipartBasics

/// The connection of a transfer: its address, how long each step took, and its TLS.
struct ConnectionReport: Sendable, Equatable {
  /// The address of the server or the proxy; nil if no connection was tried.
  var address: String?
  var port = 0
  /// The round trip of the packet that opens a connection; zero if unknown.
  var handshake = Duration.zero
  /// How long the TLS handshake took; zero without one.
  var tlsHandshake = Duration.zero
  /// The time from the request to the first byte of its answer.
  var firstByte = Duration.zero
  /// The proxy's status for CONNECT; zero if there was no CONNECT.
  var proxyStatus = 0
  /// OpenSSL's reason for refusing the certificate (`X509_V_ERR_…`); zero if there is none.
  var verifyError = 0
  var tls: TLSReport?
  /// Whether the TCP connection was established.
  var isConnected = false

  init() {}

  /// Adds a later report. There are two: TLS can be examined only while the transfer has its connection, the times only
  /// at its end.
  mutating func fill(from later: ConnectionReport) {
    let known = tls
    self = later
    tls = later.tls ?? known
  }
}

/// A TLS connection, and the server's certificate.
struct TLSReport: Sendable, Equatable {
  /// The version, such as `TLSv1.3`.
  var version: String
  var cipher: String
  /// Common names; nil if there are none.
  var subject: String?
  var issuer: String?
  var end: Timestamp?
}

extension CurlEasy {
  /// Reads the report with `curl_easy_getinfo`; called on this handle's thread.
  func connectionReport() -> ConnectionReport {
    var report = ConnectionReport()
    report.address = text(CURLINFO_PRIMARY_IP).flatMap { $0.isEmpty ? nil : $0 }
    report.port = long(CURLINFO_PRIMARY_PORT)
    func moment(_ info: CURLINFO) -> Duration { .microseconds(offset(info)) }
    let (named, connected) = (moment(CURLINFO_NAMELOOKUP_TIME_T), moment(CURLINFO_CONNECT_TIME_T))
    let (secured, asked) = (moment(CURLINFO_APPCONNECT_TIME_T), moment(CURLINFO_PRETRANSFER_TIME_T))
    if connected > .zero { report.handshake = max(.microseconds(1), connected - named) }
    if secured > .zero { report.tlsHandshake = max(.microseconds(1), secured - connected) }
    // libcurl 7.88 reports no times of a connection whose TLS failed, but has the address only if it was established; later
    // versions also have the address of a refused one.
    report.isConnected = connected > .zero || (report.address != nil && long(CURLINFO_OS_ERRNO) == 0)
    report.firstByte = max(.zero, moment(CURLINFO_STARTTRANSFER_TIME_T) - asked)
    report.proxyStatus = long(CURLINFO_HTTP_CONNECTCODE)
    report.verifyError = long(CURLINFO_SSL_VERIFYRESULT)
    report.tls = tlsReport()
    return report
  }

  /// The TLS session (`CURLINFO_TLS_SSL_PTR`), which libcurl owns; nil if there is none now.
  private func tlsReport() -> TLSReport? {
    var pointer: UnsafeMutableRawPointer?
    guard s3up_info_pointer(handle, CURLINFO_TLS_SSL_PTR, &pointer) == CURLE_OK,
      let info = pointer?.assumingMemoryBound(to: curl_tlssessioninfo.self).pointee,
      info.backend == CURLSSLBACKEND_OPENSSL, let internals = info.internals
    else { return nil }
    let session = OpaquePointer(internals)
    var report = TLSReport(
      version: SSL_get_version(session).map { String(cString: $0) } ?? "",
      cipher: SSL_CIPHER_get_name(SSL_get_current_cipher(session)).map { String(cString: $0) } ?? "")
    guard let certificate = SSL_get1_peer_certificate(session) else { return report }
    defer { X509_free(certificate) }
    report.subject = Self.commonName(X509_get_subject_name(certificate))
    report.issuer = Self.commonName(X509_get_issuer_name(certificate))
    var fields = tm()
    if let end = X509_get0_notAfter(certificate), ASN1_TIME_to_tm(end, &fields) == 1 {
      report.end = Timestamp(seconds: Int64(timegm(&fields)))
    }
    return report
  }

  /// The common name (`X509_NAME_get_text_by_NID`). The server chose the text, so it is cleaned before it is shown.
  private static func commonName(_ name: OpaquePointer?) -> String? {
    guard let name else { return nil }
    var text = [CChar](repeating: 0, count: 256)
    let length = X509_NAME_get_text_by_NID(name, NID_commonName, &text, Int32(text.count))
    guard length > 0 else { return nil }
    let bytes = text.prefix(Int(min(length, 255))).map { UInt8(bitPattern: $0) }
    return SafeText.oneLine(String(decoding: bytes, as: UTF8.self), limit: 100)
  }
}

/// The versions of libcurl and its TLS library: `curl_version_info`.
enum TransportLibraries {
  /// The versions, such as `libcurl 7.88.1, OpenSSL 3.0.15`.
  static var versions: String {
    guard CurlGlobal.isReady, let info = curl_version_info(CURLVERSION_FIRST)?.pointee else { return "libcurl" }
    var words = ["libcurl " + (info.version.map { String(cString: $0) } ?? "of an unknown version")]
    if let tls = info.ssl_version {
      words.append(String(decoding: Array(String(cString: tls).utf8).map { $0 == 0x2F ? 0x20 : $0 }, as: UTF8.self))
    }
    return words.joined(separator: ", ")
  }
}
