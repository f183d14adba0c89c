import Testing

@testable import MultipartCore

/// Secrets in a store's answer, which may contain what we sent.
@Suite(.timeLimit(.minutes(15))) struct HidingTests {
  @Test(
    "A secret in a store's sentence is hidden, wherever it is within a word",
    arguments: ["key=", "\"", "'", "x-amz-server-side-encryption-customer-key:", "(", ""])
  func hidesSecretsWithinWords(_ before: String) {
    for secret in ["EBTjmFegAjJ+Q8Am4rPqswFNuO9uE6+t4gMbKizSJ90=", "+/TjmFegAjJ+Q8Am4rPqswFNuO9uE6+t4gMbKizSJ90="] {
      let text = Redaction.sentence("you sent \(before)\(secret), which is wrong", secrets: [])
      #expect(!text.contains("Q8Am4rPqswFN"), "\(text)")
      #expect(text.contains("you sent") && text.contains("which is wrong"))
    }
  }

  @Test("A redirect that repeats our URL is logged without its signature")
  func redirect() {
    for value in ["https://other/b/k?X-Amz-Signature=abc123&X-Amz-Credential=abc123", "/b/k?X-Amz-Signature=abc123"] {
      let line = Redaction.shown(NamedValue("Location", value))
      #expect(!line.contains("abc123"))
      #expect(line.contains("/b/k"))
    }
    #expect(Redaction.shown(NamedValue("x-a", "why? b=1&c=2")) == "x-a: why? b=1&c=2")
  }

  @Test("An upload id with a line break is refused", arguments: ["a\nb", "a\u{9b}31m", "a\tb"])
  func uploadID(_ id: String) {
    let answer = Response(status: 200, body: Array("<R><UploadId>\(id)</UploadId></R>".utf8))
    #expect(throws: Failure.self) { try CreateMultipartUpload(ObjectAddress("bucket", "key")).output(from: answer) }
  }
}
