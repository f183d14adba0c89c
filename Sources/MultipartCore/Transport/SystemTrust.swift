internal import CCurl
import Glibc

/// The certificates that the system trusts, which exist twice: as a bundle of all, and as a folder in which OpenSSL finds
/// one by a hash of its name (`c_rehash`).
///
/// libcurl reads the whole bundle for the first connection of a process: 140 certificates, 17 ms, more than the rest of a
/// small upload. Reading one from the folder takes 0.1 ms.
package struct SystemTrust: Sendable, Equatable {
  package var bundle: String
  package var folder: String

  package init(bundle: String, folder: String) {
    self.bundle = bundle
    self.folder = folder
  }

  /// Where libcurl looks by default (`curl_version_info`); nil if it has only one of the two, or one does not exist: then
  /// libcurl's own behaviour is kept.
  package static let ofLibcurl: SystemTrust? = {
    guard CurlGlobal.isReady, let bundle = s3up_ca_bundle(), let folder = s3up_ca_folder(), access(bundle, R_OK) == 0,
      access(folder, R_OK | X_OK) == 0
    else { return nil }
    return SystemTrust(bundle: String(cString: bundle), folder: String(cString: folder))
  }()
}
