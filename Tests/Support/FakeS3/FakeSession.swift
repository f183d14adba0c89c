import MultipartBasics
@testable import MultipartCore

/// Directory buckets of S3 Express: names that end in `--x-s3`, whose requests are signed by a session.
extension FakeServer {
  static func isDirectory(_ bucket: String) -> Bool { bucket.hasSuffix("--x-s3") }

  /// Creates keys that are valid for `FakeOptions.sessionLifetime` seconds.
  func createSession() -> HTTPAnswer {
    state.with { state in
      let number = state.next()
      let ends = state.now.seconds + Int64(state.options.sessionLifetime)
      let credential = FakeCredential(
        keyID: "ASIASESSION\(number)", secret: "secret-of-session-\(number)",
        sessionToken: "token-of-session-\(number)",
        ends: ends, isSession: true)
      state.credentials[credential.keyID] = credential
      return HTTPAnswer(
        200,
        xml: XMLNode(
          "CreateSessionResult",
          [
            XMLNode(
              "Credentials",
              [
                XMLNode("SessionToken", credential.sessionToken ?? ""),
                XMLNode("SecretAccessKey", credential.secret), XMLNode("AccessKeyId", credential.keyID),
                XMLNode("Expiration", Timestamp(seconds: ends).iso8601),
              ])
          ]))
    }
  }
}
