internal import CCurl
import Glibc

/// The certificates that the system trusts, kept twice: as a bundle of all, and as a folder in which OpenSSL finds one
/// by a hash of its name (`c_rehash`).
///
/// libcurl reads the whole bundle for the first connection of a process: 140 certificates, 17 ms, more than all else
/// that a small upload costs. One of the folder's takes 0.1 ms.
package struct SystemTrust: Sendable, Equatable {
  package var bundle: String
  package var folder: String

  package init(bundle: String, folder: String) {
    self.bundle = bundle
    self.folder = folder
  }

  /// Where libcurl was built to look (`curl_version_info`); nil where it knows only one of them, or one is not there:
  /// then libcurl does and says what it always did.
  package static let ofLibcurl: SystemTrust? = {
    guard CurlGlobal.isReady, let bundle = s3up_ca_bundle(), let folder = s3up_ca_folder(), access(bundle, R_OK) == 0,
      access(folder, R_OK | X_OK) == 0
    else { return nil }
    return SystemTrust(bundle: String(cString: bundle), folder: String(cString: folder))
  }()
}
