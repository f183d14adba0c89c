import MultipartBasics
@testable import MultipartCore
import Testing

@Suite("Signatures in URLs", .timeLimit(.minutes(15)))
struct QueryFormTests {
  struct Case: Sendable {
    var method: HTTPMethod
    var key: String
    var query: [QueryItem] = []
    var headers: HeaderList = [:]
    var token: String?
    var seconds: Int64
    var signature: String
  }

  /// Expected signatures were made by botocore (S3SigV4QueryAuth), which orders the URL's query differently.
  static let cases = [
    Case(
      method: .get, key: "a b/+😀", seconds: 604_800,
      signature: "2f7a0bf16be7edc6f75e695b9c5b0d9e2ac56999633845452044cef2759a4aa8"),
    Case(
      method: .put, key: "k", query: [QueryItem("partNumber", "3"), QueryItem("uploadId", "u/+=~")],
      token: "to+ken/==", seconds: 900,
      signature: "194bb68c91c7fde796f14bf5d7ad604ffe5676a65462fcc9fc11636f535201e3"),
    Case(
      method: .put, key: "k",
      headers: ["Content-Type": "text/plain", "Content-MD5": "1B2M2Y8AsgTpgAmY7PhCfg==", "x-amz-meta-a": "b c"],
      seconds: 60, signature: "40e0330d9a07190d097b8e922db988c5f97f292ec4239c084029e3080cc56574"),
  ]

  @Test("a presigned URL has the signature that another implementation gives it", arguments: cases)
  func signatures(example: Case) throws {
    let signed = try presign(
      example.method, example.key, example.query, example.headers, example.token, example.seconds)
    #expect(signed.signature == example.signature)
    #expect(signed.headers == example.headers)
    #expect(signed.headers["authorization"] == nil)
  }

  @Test("the URL has everything that S3 requires, the signature last")
  func wholeURL() throws {
    let signed = try presign(.put, "k", [QueryItem("uploadId", "u/+=~")], ["Content-Type": "a/b"], "to+ken/==", 900)
    #expect(
      signed.url.hasPrefix(
        "https://bucket.example.com:9000/k?X-Amz-Algorithm=AWS4-HMAC-SHA256"
          + "&X-Amz-Credential=AKIDEXAMPLE%2F20260228%2Feu-west-3%2Fs3%2Faws4_request"
          + "&X-Amz-Date=20260228T235958Z&X-Amz-Expires=900&X-Amz-Security-Token=to%2Bken%2F%3D%3D"
          + "&X-Amz-SignedHeaders=content-type%3Bhost&uploadId=u%2F%2B%3D~&X-Amz-Signature="))
  }

  @Test("headers that a proxy may change are neither signed nor required")
  func changedOnTheWay() throws {
    let noisy = try presign(.put, "k", [], ["User-Agent": "x", "Expect": "100-continue"], nil, 60)
    #expect(try noisy.asSent == presign(.put, "k", [], [:], nil, 60).asSent)
  }

  @Test("signing a query that is already signed replaces its signature")
  func resigned() throws {
    let old = [
      QueryItem("X-Amz-Signature", "old"), QueryItem("x-amz-expires", "1"), QueryItem("X-Amz-Security-Token", "old"),
    ]
    #expect(try presign(.get, "k", old, [:], nil, 60).asSent == presign(.get, "k", [], [:], nil, 60).asSent)
  }

  @Test("a lifetime outside of 1 second to 7 days is refused", arguments: [-5, 0, 604_801, Int64.max / 1000])
  func lifetimeRefused(seconds: Int64) {
    let failure = #expect(throws: Failure.self) { try presign(.get, "k", [], [:], nil, seconds) }
    #expect(failure?.code == .usage)
  }

  @Test("a lifetime at either end of the range is signed", arguments: [1, 604_800])
  func lifetimeGiven(seconds: Int64) throws {
    let signed = try presign(.get, "k", [], [:], nil, seconds)
    #expect(signed.url.contains("X-Amz-Expires=\(seconds)&"))
    #expect(signed.expires == Timestamp(seconds: Sample.time.seconds + seconds))
  }

  @Test("a lifetime less than a second over the limit is refused too, and less than a second under is rounded down")
  func fractions() throws {
    let request = Request(method: .get, origin: Sample.origin, path: "/k")
    #expect(throws: Failure.self) {
      try Sample.signer.presign(
        request, credentials: Sample.credentials(), at: Sample.time, expiresIn: .milliseconds(604_800_001))
    }
    let cut = try Sample.signer.presign(
      request, credentials: Sample.credentials(), at: Sample.time, expiresIn: .milliseconds(1900))
    #expect(cut.url.contains("X-Amz-Expires=1&"))
  }

  @Test("a URL expires with its credentials if they expire first")
  func credentialsEndFirst() throws {
    let end = Timestamp(seconds: Sample.time.seconds + 30)
    let request = Request(method: .get, origin: Sample.origin, path: "/k")
    let signed = try Sample.signer.presign(
      request, credentials: Sample.credentials(token: "t", until: end), at: Sample.time, expiresIn: .seconds(3600))
    #expect(signed.expires == end)
  }

  private func presign(
    _ method: HTTPMethod, _ key: String, _ query: [QueryItem], _ headers: HeaderList, _ token: String?, _ seconds: Int64
  ) throws -> Request {
    let request = Request(
      method: method, origin: Sample.origin, path: "/" + PercentEncoding.path(key), query: query, headers: headers)
    return try Sample.signer.presign(
      request, credentials: Sample.credentials(token: token), at: Sample.time, expiresIn: .seconds(seconds))
  }
}
