import Testing

@testable import MultipartCore

@Suite(.timeLimit(.minutes(15))) struct PresignedRefusalTests {
  private static let unsigned = "There were headers present in the request which were not signed"

  /// What is learnt from a refusal of a request that has a header besides the signed ones.
  private func lesson(_ code: String, _ message: String, more: String = "") throws -> Failure? {
    let signer = try PresignedSigner(.put, "https://store.example/b/k?X-Amz-SignedHeaders=host%3BX-Amz-Tagging")
    let headers: HeaderList = ["x-amz-tagging": "a=b", "x-amz-checksum-crc32": "AAAAAA==", "Content-MD5": "x"]
    let request = Request(method: .put, url: signer.origin, headers: headers)
    let body = "<Error><Code>\(code)</Code><Message>\(message)</Message>\(more)</Error>"
    let answer = S3Answers.ok(body, status: 403)
    guard case .refusal(let failure)? = signer.learn(from: answer, to: request, now: Timestamp(seconds: 0)) else {
      return nil
    }
    return failure
  }

  @Test("A refusal of unsigned headers names those that are S3's own")
  func headers() throws {
    let failure = try #require(try lesson("AccessDenied", Self.unsigned))
    #expect(failure.code == .credentials)
    #expect(
      "\(failure.message)" == "the store refuses the presigned URL, which is not signed for x-amz-checksum-crc32")
  }

  @Test("Other refusals stay what they are, though a header is not signed")
  func others() throws {
    for code in ["AccessDenied", "QuotaExceeded", "RequestTimeTooSkewed", "SignatureDoesNotMatch"] {
      #expect(try lesson(code, "No") == nil)
    }
    let times = "<Expires>1970-01-01T00:00:01Z</Expires><ServerTime>1970-01-01T00:00:02Z</ServerTime>"
    #expect(try lesson("AccessDenied", "No", more: times)?.code == .credentialsExpired)
  }
}
