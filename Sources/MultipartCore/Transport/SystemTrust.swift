internal import CCurl
import Glibc

/// The certificates that are trusted unless the user names others. A system has them twice: as a bundle of all, and as
/// a folder in which OpenSSL finds one by a hash of its name (`c_rehash`).
///
/// libcurl reads the whole bundle for the first connection of a process: 140 certificates, 17 ms, more than the rest of
/// a small upload. Reading one from the folder takes 0.1 ms.
struct SystemTrust: Sendable, Equatable {
  var bundle: String?
  var folder: String?

  /// The places that the distributions use.
  private static let places = [
    // Debian, Ubuntu, Arch, Alpine, Gentoo, NixOS
    SystemTrust(bundle: "/etc/ssl/certs/ca-certificates.crt", folder: "/etc/ssl/certs"),
    // Fedora, RHEL, Amazon Linux; the second is the only one since Fedora 43
    SystemTrust(bundle: "/etc/pki/tls/certs/ca-bundle.crt", folder: "/etc/pki/tls/certs"),
    SystemTrust(bundle: "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem", folder: "/etc/pki/tls/certs"),
    // openSUSE, SLES
    SystemTrust(bundle: "/etc/ssl/ca-bundle.pem", folder: "/etc/ssl/certs"),
    SystemTrust(bundle: "/var/lib/ca-certificates/ca-bundle.pem", folder: "/etc/ssl/certs"),
    // Alpine without its package of certificates, OpenWrt
    SystemTrust(bundle: "/etc/ssl/cert.pem", folder: "/etc/ssl/certs"),
  ]

  /// The first of these whose bundle exists, else the first whose folder exists, without the one that does not exist.
  static func first(of own: SystemTrust, orOf others: [SystemTrust], exists: (String) -> Bool) -> SystemTrust? {
    func existing(_ path: String?) -> String? { path.flatMap { exists($0) ? $0 : nil } }
    let there = ([own] + others).map { SystemTrust(bundle: existing($0.bundle), folder: existing($0.folder)) }
    return there.first { $0.bundle != nil } ?? there.first { $0.folder != nil }
  }

  /// The place that libcurl uses by default (`curl_version_info`), else that of a distribution; nil leaves it to
  /// libcurl.
  static let ofSystem: SystemTrust? = {
    guard CurlGlobal.isReady else { return nil }
    let own = SystemTrust(
      bundle: s3up_ca_bundle().map { String(cString: $0) }, folder: s3up_ca_folder().map { String(cString: $0) })
    return first(of: own, orOf: places) { access($0, R_OK) == 0 }
  }()

  /// Applies OpenSSL's variables, each of which replaces one of the two.
  static func chosen(by environment: [String: String]) -> @Sendable () -> SystemTrust? {
    func variable(_ name: String) -> String? { environment[name].flatMap { $0.isEmpty ? nil : $0 } }
    let (bundle, folder) = (variable("SSL_CERT_FILE"), variable("SSL_CERT_DIR"))
    guard bundle != nil || folder != nil else { return { ofSystem } }
    return { SystemTrust(bundle: bundle ?? ofSystem?.bundle, folder: folder ?? ofSystem?.folder) }
  }
}
