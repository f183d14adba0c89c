@testable import MultipartCore
import Testing

@Suite("What logs show", .timeLimit(.minutes(15)))
struct RedactionTests {
  @Test("no form of a signed request shows its signature, token, key id or SSE-C key")
  func nothingLeaks() throws {
    let request = Request(
      method: .put, origin: Sample.origin, path: "/k", query: [QueryItem("partNumber", "3")],
      headers: [
        "x-amz-server-side-encryption-customer-key": "ssec-key",
        "x-amz-server-side-encryption-customer-key-md5": "ssec-md",
      ])
    let credentials = Sample.credentials(token: "session-token")
    let header = try Sample.signer.sign(request, credentials: credentials, at: Sample.time)
    let query = try Sample.signer.presign(request, credentials: credentials, at: Sample.time, expiresIn: .seconds(60))
    for signed in [header, query] {
      let signature = try #require(signed.signature)
      var dumped = ""
      dump(signed, to: &dumped)
      let shown = [
        dumped, "\(signed)", String(reflecting: signed), signed.redactedURL, "\(signed.redactedHeaders)",
      ]
      for text in shown {
        for secret in [signature, "session-token", "AKIDEXAMPLE", "ssec-key", "ssec-md"] {
          #expect(!text.contains(secret))
        }
      }
      #expect(signed.redactedURL.hasPrefix("https://bucket.example.com:9000/k?"))
      #expect(signed.redactedURL.contains("partNumber=3"))
    }
    #expect(
      header.redactedHeaders["authorization"]
        == "AWS4-HMAC-SHA256 Credential=REDACTED, SignedHeaders=host;x-amz-content-sha256;x-amz-date;"
        + "x-amz-security-token;x-amz-server-side-encryption-customer-key;"
        + "x-amz-server-side-encryption-customer-key-md5, Signature=REDACTED")
  }

  @Test(
    "URLs that others signed are covered too",
    arguments: [
      (
        "https://h/k?AWSAccessKeyId=A&Expires=5&Signature=s",
        "https://h/k?AWSAccessKeyId=REDACTED&Expires=5&Signature=REDACTED"
      ),
      ("https://h/k?X-Goog-Signature=s&a=b", "https://h/k?X-Goog-Signature=REDACTED&a=b"),
      ("https://h/k?sig=s&se=2026", "https://h/k?sig=REDACTED&se=2026"),
      ("https://h/k?X-Amz-S3session-Token=t", "https://h/k?X-Amz-S3session-Token=REDACTED"),
      ("https://h/k?X-Amz-Sig%6Eature=s", "https://h/k?X-Amz-Sig%6Eature=REDACTED"),
      ("https://h/k?X-Amz-Signature=\u{301}s", "https://h/k?X-Amz-Signature=REDACTED"),
      ("https://user:pw@h/k", "https://REDACTED@h/k"),
      ("https://h/k@2", "https://h/k@2"),
      ("https://h/k?continuation-token=t&uploads", "https://h/k?continuation-token=t&uploads"),
      ("", ""),
    ])
  func foreign(url: String, shown: String) {
    #expect(Redaction.url(url) == shown)
  }

  @Test("an Authorization header of another scheme is hidden completely")
  func otherAuthorization() {
    #expect(Redaction.headers(["Authorization": "Bearer abc"]) == ["Authorization": "REDACTED"])
  }

  @Test("no description, dump or interpolation shows a secret, and secrets are compared by bytes")
  func secret() {
    let secret = Secret("hunter2")
    var dumped = ""
    dump(Sample.credentials(token: "hunter2"), to: &dumped)
    for text in ["\(secret)", String(reflecting: secret), "\([secret])", "\(Optional(secret) as Any)", dumped] {
      #expect(!text.contains("hunter2"))
    }
    #expect(!dumped.contains("wJalrXUtnFEMI"))
    #expect(secret.reveal() == "hunter2")
    #expect(Secret("caf\u{e9}") != Secret("cafe\u{301}"))
    #expect(Set([Secret("a"), Secret("a"), Secret("b")]).count == 2)
  }
}
