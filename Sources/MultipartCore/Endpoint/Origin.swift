import MultipartBasics

/// The part of a URL before the path: scheme, host and port.
struct Origin: Sendable, Hashable, CustomStringConvertible {
  enum Scheme: String, Sendable {
    case http
    case https

    var defaultPort: Int {
      switch self {
      case .http: 80
      case .https: 443
      }
    }
  }

  var scheme: Scheme
  /// Host and port, as in the `Host` header: an IPv6 address in brackets, and the port unless it is the scheme's
  /// default.
  var host: String

  /// The origin, such as `https://bucket.s3.eu-west-1.amazonaws.com` or `http://[::1]:9000`.
  var description: String { "\(scheme.rawValue)://\(host)" }
}

extension Origin {
  /// Whether requests stay on this machine.
  var isLoopback: Bool {
    let name = host.begins(with: "[") ? host : String(host.upTo(":"))
    return name == "localhost" || name.ends(with: ".localhost") || name.begins(with: "[::1]")
      || (name.begins(with: "127.") && BucketName.looksLikeAddress(name))
  }
}
