/// The C libraries that every request needs.
package enum Libraries {
  /// Loads libcurl and sets it and OpenSSL up: with all that is under them more than half of a small upload. A thread
  /// that has nothing else to do saves the others that time; whoever wants libcurl meanwhile waits for it.
  package static func prepare() {
    _ = CurlGlobal.isReady
  }
}
