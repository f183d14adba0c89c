/// The C libraries that every request needs.
package enum Libraries {
  /// Does what libcurl and OpenSSL do when they are first used: they read OpenSSL's configuration and look SHA-256 and
  /// HMAC up, half of what a small upload costs after the linker. A thread that has nothing else to do saves the others
  /// that time; whoever comes meanwhile waits for the end of it.
  package static func prepare() {
    guard CurlGlobal.isReady else { return }
    _ = try? Digest.sha256("")
    _ = try? SigningDigest.hmac(key: [0], [])
  }
}
