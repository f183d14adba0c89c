/// The C libraries that every request needs.
package enum Libraries {
  /// Sets libcurl and OpenSSL up. A thread that has nothing else to do saves the others that time; whoever wants
  /// libcurl meanwhile waits for it.
  package static func prepare() {
    _ = CurlGlobal.isReady
  }
}
