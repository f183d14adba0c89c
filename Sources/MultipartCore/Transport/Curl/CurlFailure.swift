internal import CCurl
import Glibc
import MultipartBasics

/// Everything known about a transfer that did not receive a complete answer.
struct CurlTrouble {
  var code: CURLcode
  /// libcurl's message: for display only, never parsed.
  var detail = ""
  var osError: Int32 = 0
  /// The destination of the request: `https://host:port`.
  var place = ""
  var proxy: ProxyName?
  /// The proxy's status for CONNECT; zero if there was no CONNECT.
  var proxyStatus = 0
  /// OpenSSL's reason for refusing the proxy's certificate (`X509_V_ERR_…`).
  var proxyVerifyError = 0
  var isConnected = false
  /// OpenSSL's reason for refusing the server's certificate.
  var verifyError = 0
  /// The server answered the TLS handshake with something other than TLS.
  var isForeign = false
  /// The fatal TLS alert that the server sent.
  var alert: Int?
  /// Whether the request was sent: libcurl has the same code for an unknown scheme and for an answer that is not
  /// HTTP/1.
  var wasAsked = false
  /// Whether an answer had begun: then the port speaks the protocol that it was asked in.
  var hasAnswered = false

  /// The target, such as `host port 443`.
  var target: String {
    guard let url = endpoint else { return SafeText.oneLine(place) }
    return "\(url.host) port \(url.port ?? url.scheme.defaultPort)"
  }

  var host: String { endpoint?.host ?? "HOST" }
  var authority: String { endpoint?.authority ?? "HOST" }
  private var endpoint: EndpointURL? { try? EndpointURL.parse(place, blame: .local) }

  var words: String { detail.isEmpty ? String(cString: curl_easy_strerror(code)) : detail }
  var system: String { osError == 0 ? words : String(cString: strerror(osError)) }
  var through: String { proxy.map { "through the proxy \($0.address): " } ?? "" }
}

extension Failure {
  /// The failure for a transfer without a complete answer.
  init(_ trouble: CurlTrouble) {
    self =
      switch trouble.code {
      case _ where trouble.proxyStatus >= 300: .ofTunnel(trouble)
      case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_ISSUER_ERROR: .ofCertificate(trouble)
      case CURLE_SSL_CACERT_BADFILE, CURLE_SSL_CERTPROBLEM, CURLE_SSL_ENGINE_INITFAILED:
        Failure(
          .configuration, "the certificate bundle cannot be used: " + trouble.words,
          remedy: "give \(.caBundle) (AWS_CA_BUNDLE) a file of certificates in PEM form")
      case CURLE_SSL_CONNECT_ERROR: .ofHandshake(trouble)
      case CURLE_WEIRD_SERVER_REPLY, CURLE_BAD_CONTENT_ENCODING: .ofForeignAnswer(trouble)
      case CURLE_UNSUPPORTED_PROTOCOL where trouble.wasAsked: .ofForeignAnswer(trouble)
      case CURLE_URL_MALFORMAT, CURLE_UNSUPPORTED_PROTOCOL:
        Failure(.usage, "the URL cannot be used: " + trouble.words)
      case CURLE_OUT_OF_MEMORY, CURLE_FAILED_INIT: Failure(.local, trouble.words)
      case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY, CURLE_COULDNT_CONNECT, CURLE_PROXY:
        .ofConnection(trouble)
      case CURLE_OPERATION_TIMEDOUT where !trouble.isConnected: .ofConnection(trouble)
      case CURLE_RECV_ERROR, CURLE_SEND_ERROR, CURLE_GOT_NOTHING:
        Failure.ofRefusedHandshake(trouble) ?? .ofBrokenConnection(trouble)
      default: Failure(.network, trouble.through + trouble.words + trouble.reason)
      }
    underlying = .libcurl(Int32(bitPattern: trouble.code.rawValue), errno: trouble.osError == 0 ? nil : trouble.osError)
    if !trouble.wasAsked || code == .server || trouble.proxyStatus >= 300 { triedInVain = .zero }
  }

  private static func ofConnection(_ trouble: CurlTrouble) -> Failure {
    if let proxy = trouble.proxy, trouble.code != CURLE_COULDNT_RESOLVE_HOST, trouble.code != CURLE_PROXY {
      let what =
        switch trouble.code {
        case CURLE_COULDNT_RESOLVE_PROXY: "its name has no address"
        case CURLE_COULDNT_CONNECT: trouble.system
        default: trouble.words
        }
      return Failure(
        .network, "no connection to the proxy \(proxy.address): \(what)", remedy: proxy.wayRound(for: trouble.host))
    }
    switch trouble.code {
    case CURLE_COULDNT_RESOLVE_HOST:
      return Failure(
        .network, "\(trouble.through)the name \(trouble.host) has no address",
        remedy: "check the endpoint, the region, and this machine's name server (/etc/resolv.conf)")
    case CURLE_PROXY:
      return Failure(
        .network, "\(trouble.through)no connection to \(trouble.target): \(trouble.words)",
        remedy: trouble.proxy?.wayRound(for: trouble.host))
    default:
      let what = trouble.code == CURLE_COULDNT_CONNECT ? trouble.system : trouble.words
      return Failure(
        .network, "no connection to \(trouble.target): \(what)",
        remedy: "check the endpoint's name and port, and that a store listens there")
    }
  }

  /// The connection ended before the answer. A port that expects TLS often ends it without a word.
  private static func ofBrokenConnection(_ trouble: CurlTrouble) -> Failure {
    Failure(
      .network, "\(trouble.through)the connection to \(trouble.target) broke: \(trouble.words)\(trouble.reason)",
      remedy: trouble.proxy == nil ? trouble.wayToTLS.map { "check the network; " + $0 } : nil)
  }

  /// 407, instead of a tunnel or, over plain HTTP, instead of the server's answer.
  static func proxyWantsPassword(_ proxy: ProxyName?) -> Failure {
    Failure(
      .credentials,
      "the proxy \(proxy?.address ?? "on the way") asks for a user name and a password, or refuses those it was given",
      remedy: "put them into \(ProxyName.secretPlace(proxy?.source)): http://USER:PASSWORD@HOST:PORT")
  }

  /// A proxy refused to connect to the server.
  private static func ofTunnel(_ trouble: CurlTrouble) -> Failure {
    if trouble.proxyStatus == 407 { return proxyWantsPassword(trouble.proxy) }
    let address = trouble.proxy?.address ?? "on the way"
    var failure = Failure(
      .network, "the proxy \(address) does not connect to \(trouble.target) (HTTP \(trouble.proxyStatus))",
      remedy: trouble.proxy?.wayRound(for: trouble.host))
    // These statuses of a gateway may be transient; others are final.
    failure.isSettled = !(502...504).contains(trouble.proxyStatus)
    return failure
  }

  /// The failure for a certificate, by OpenSSL's reason. libcurl checks the name before it asks for a reason, which is
  /// then still the initial 1.
  private static func ofCertificate(_ trouble: CurlTrouble) -> Failure {
    let isProxy = trouble.proxyVerifyError != 0 && trouble.verifyError == 0
    let whose = isProxy ? "the proxy \(trouble.proxy?.address ?? "")" : trouble.authority
    let trust: Wording =
      "give the certificate of its authority with \(.caBundle) FILE (AWS_CA_BUNDLE), or check the endpoint"
    return switch isProxy ? trouble.proxyVerifyError : trouble.verifyError {
    case 9:
      Failure(
        .tls, "the certificate of \(whose) is not valid yet",
        remedy:
          "set this machine's clock (timedatectl set-ntp true): according to that clock the certificate is not valid yet"
      )
    case 10:
      Failure(
        .tls, "the certificate of \(whose) has expired",
        remedy: "have it renewed, or set this machine's clock if that is wrong")
    case 0, 1, 62, 64:
      Failure(
        .tls, "the certificate of \(whose) is for another name",
        remedy: "give \(.endpoint) the name that the certificate is for, or check the address")
    case 2, 18, 19, 20, 21:
      Failure(
        .tls, "the certificate of \(whose) was issued by an authority that this machine does not trust", remedy: trust)
    default: Failure(.tls, "the certificate of \(whose) was not accepted: " + trouble.words, remedy: trust)
    }
  }

  private static func ofHandshake(_ trouble: CurlTrouble) -> Failure {
    if trouble.isForeign {
      // With a proxy the answer may be the proxy's own, and to leave out TLS would show it everything.
      return Failure(
        .tls, "\(trouble.through)\(trouble.target) answers, but not with TLS, which an https:// address requires",
        remedy: trouble.proxy.map { $0.wayRound(for: trouble.host) }
          ?? "if that port speaks plain HTTP, write \(.endpoint, "http://\(trouble.authority)"); else check the port")
    }
    return ofRefusedHandshake(trouble)
      ?? Failure(
        .network,
        "\(trouble.through)the TLS handshake with \(trouble.target) failed: \(trouble.words)\(trouble.reason)",
        remedy: "check the port, and https:// or http:// of the endpoint")
  }

  /// A refusal by an alert. In TLS 1.3 that of a missing certificate comes after the client's side of the handshake, and
  /// the connection then breaks.
  private static func ofRefusedHandshake(_ trouble: CurlTrouble) -> Failure? {
    guard !trouble.hasAnswered, let alert = trouble.alert, let name = Handshake.refusals[alert] else { return nil }
    return Failure(
      .tls, "\(trouble.target) refuses the TLS handshake (\(name))",
      remedy: alert == Handshake.certificateRequired
        ? "that server requires a certificate of its client, and this program has none"
        : "check the endpoint's name and port, and which TLS settings that server requires")
  }

  private static func ofForeignAnswer(_ trouble: CurlTrouble) -> Failure {
    Failure(
      .server, "\(trouble.through)the answer of \(trouble.target) is not HTTP: " + trouble.words,
      remedy: trouble.wayToTLS)
  }
}

extension CurlTrouble {
  /// What to do if a request in plain HTTP may have met a port that expects TLS.
  fileprivate var wayToTLS: Wording? {
    guard place.begins(with: "http:"), !hasAnswered else { return nil }
    return "if that port speaks TLS, write \(.endpoint, "https://\(authority)")"
  }

  fileprivate var reason: String {
    guard osError != 0, code == CURLE_SEND_ERROR || code == CURLE_RECV_ERROR else { return "" }
    let reason = String(cString: strerror(osError))
    return words.contains(reason) ? "" : " (\(reason))"
  }
}

extension ProxyName {
  /// Where to put a password: other users of this machine can see command arguments.
  static func secretPlace(_ source: ProxySource?) -> Wording {
    if case .variable(let name)? = source { "\(name)" } else { "\(secret: .proxy)" }
  }
}
