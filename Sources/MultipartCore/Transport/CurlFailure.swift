internal import CCurl
import Glibc

extension Failure {
  /// What a transfer that brought no whole answer means. libcurl's text is shown, never read. `wasAsked` says that a
  /// request went out: libcurl has one code for a scheme it does not know and for an answer that is not HTTP/1.
  init(curl code: CURLcode, detail: String, osError: Int32, wasAsked: Bool) {
    let reason = String(cString: curl_easy_strerror(code))
    var text = detail.isEmpty ? reason : detail
    if osError != 0, code == CURLE_COULDNT_CONNECT || code == CURLE_SEND_ERROR || code == CURLE_RECV_ERROR {
      text += " (" + String(cString: strerror(osError)) + ")"
    }
    switch code {
    case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_ISSUER_ERROR:
      self.init(
        .tls, "the server's certificate was not accepted: " + text,
        hint: "trust its authority with --ca-bundle FILE, or check that the endpoint is the right one")
    case CURLE_SSL_CACERT_BADFILE, CURLE_SSL_CERTPROBLEM, CURLE_SSL_ENGINE_INITFAILED:
      self.init(.configuration, "the certificate bundle cannot be used: " + text, hint: "check --ca-bundle")
    case CURLE_WEIRD_SERVER_REPLY, CURLE_BAD_CONTENT_ENCODING,
      CURLE_UNSUPPORTED_PROTOCOL where wasAsked:
      self.init(.server, "the answer is not HTTP: " + text)
    case CURLE_URL_MALFORMAT, CURLE_UNSUPPORTED_PROTOCOL:
      self.init(.usage, "the URL cannot be used: " + text)
    case CURLE_OUT_OF_MEMORY, CURLE_FAILED_INIT:
      self.init(.local, text)
    case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY:
      self.init(.network, text, hint: "check the endpoint, the region and the name server")
    case CURLE_COULDNT_CONNECT:
      self.init(.network, text, hint: "check that the endpoint is right and that a server listens there")
    default:
      self.init(.network, text)
    }
  }
}
