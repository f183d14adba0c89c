import Foundation
@testable import MultipartCore
import Testing

@testable import Support

/// Compares the fake's own check of signatures with the examples in AWS's documentation and with curl's signer.
@Suite(.timeLimit(.minutes(15))) struct FakeSignatureTests {
  private static let example = FakeCredential(
    keyID: "AKIAIOSFODNN7EXAMPLE", secret: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY")
  /// 2013-05-24T00:00:00Z
  private static let day: Int64 = 1_369_353_600
  private static let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

  private func verify(_ head: String, now: Int64 = day) throws -> FakeSigV4.Accepted {
    let text = head.replacingOccurrences(of: "\n", with: "\r\n")
    let parsed = try #require(HTTPHead.parse(Array(text.utf8), secure: false))
    return try FakeSigV4(
      head: parsed, credentials: [Self.example.keyID: Self.example], now: now, region: "us-east-1"
    ).verify()
  }

  private func code(_ body: () throws -> Void) -> String? {
    do { try body() } catch { return (error as? FakeS3Error)?.code }
    return nil
  }

  private static let get = """
    GET /test.txt HTTP/1.1
    Host: examplebucket.s3.amazonaws.com
    Range: bytes=0-9
    x-amz-content-sha256: \(empty)
    x-amz-date: 20130524T000000Z
    Authorization: AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request,\
    SignedHeaders=host;range;x-amz-content-sha256;x-amz-date,\
    Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41
    """

  private static let presigned =
    "GET /test.txt?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=AKIAIOSFODNN7EXAMPLE%2F20130524%2Fus-east-1%2Fs3"
    + "%2Faws4_request&X-Amz-Date=20130524T000000Z&X-Amz-Expires=86400&X-Amz-SignedHeaders=host&X-Amz-Signature="
    + "aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404 HTTP/1.1\nHost: examplebucket.s3.amazonaws.com"

  @Test("the documentation's signed GET, PUT and list are accepted")
  func documented() throws {
    #expect(try verify(Self.get).keyID == "AKIAIOSFODNN7EXAMPLE")
    let put = """
      PUT /test%24file.text HTTP/1.1
      Host: examplebucket.s3.amazonaws.com
      Date: Fri, 24 May 2013 00:00:00 GMT
      x-amz-date: 20130524T000000Z
      x-amz-storage-class: REDUCED_REDUNDANCY
      x-amz-content-sha256: 44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072
      Authorization: AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request,\
      SignedHeaders=date;host;x-amz-content-sha256;x-amz-date;x-amz-storage-class,\
      Signature=98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd
      """
    #expect(try verify(put).payload.hasPrefix("44ce7dd6"))
    let list = """
      GET /?max-keys=2&prefix=J HTTP/1.1
      Host: examplebucket.s3.amazonaws.com
      x-amz-content-sha256: \(Self.empty)
      x-amz-date: 20130524T000000Z
      Authorization: AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request,\
      SignedHeaders=host;x-amz-content-sha256;x-amz-date,\
      Signature=34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7
      """
    #expect(try verify(list).presigned == false)
  }

  @Test("the documentation's presigned GET is accepted until its last second and not after")
  func presigned() throws {
    #expect(try verify(Self.presigned).presigned)
    #expect(try verify(Self.presigned, now: Self.day + 86399).presigned)
    #expect(code { _ = try verify(Self.presigned, now: Self.day + 86400) } == "AccessDenied")
    #expect(code { _ = try verify(Self.presigned, now: Self.day - 901) } == "AccessDenied")
    let longer = Self.presigned.replacingOccurrences(of: "Expires=86400", with: "Expires=604801")
    #expect(code { _ = try verify(longer) } == "AuthorizationQueryParametersError")
    let changed = Self.presigned.replacingOccurrences(of: "test.txt", with: "test.txu")
    #expect(code { _ = try verify(changed) } == "SignatureDoesNotMatch")
    #expect(code { _ = try verify(Self.presigned + "\nx-amz-acl: public-read") } == "AccessDenied")
  }

  @Test(
    "each thing that can be wrong with a header signature has its code",
    arguments: [
      ("bytes=0-9", "bytes=0-8", "SignatureDoesNotMatch"),
      ("us-east-1/s3", "eu-west-1/s3", "AuthorizationHeaderMalformed"),
      ("/s3/", "/sts/", "AuthorizationHeaderMalformed"),
      (
        "Credential=AKIAIOSFODNN7EXAMPLE/20130524", "Credential=AKIAIOSFODNN7EXAMPLE/20130525",
        "AuthorizationHeaderMalformed"
      ),
      ("AKIAIOSFODNN7EXAMPLE", "AKIAIOSFODNN7EXAMPLF", "InvalidAccessKeyId"),
      ("x-amz-date: 2013", "x-amz-acl: private\nx-amz-date: 2013", "AccessDenied"),
      ("x-amz-date: 2013", "x-amz-security-token: t\nx-amz-date: 2013", "InvalidToken"),
      ("host;range", "range;host", "AccessDenied"),
      (empty, "STREAMING-AWS4-HMAC-SHA256-PAYLOAD", "NotImplemented"),
      (empty, "nonsense", "InvalidArgument"),
      ("x-amz-content-sha256: \(empty)\n", "", "InvalidRequest"),
    ])
  func wrong(_ from: String, _ to: String, _ expected: String) {
    #expect(code { _ = try verify(Self.get.replacingOccurrences(of: from, with: to)) } == expected)
  }

  @Test("a presigned URL works over the line until the server's clock has passed its end")
  func presignedOnTheWire() async throws {
    let fake = try FakeS3(
      FakeOptions {
        $0.buckets = ["examplebucket"]
        $0.credentials = [Self.example]
        $0.hostSuffix = "s3.amazonaws.com"
      })
    fake.putObject("test.txt", bucket: "examplebucket", bytes: [1, 2, 3])
    fake.setClock(Timestamp(seconds: Self.day))
    var client = CurlClient(fake: fake)
    client.signs = false
    let target = Self.presigned.split(separator: " ")[1]
    let host = ["Host: examplebucket.s3.amazonaws.com"]
    let answer = try await client.call("GET", String(target), headers: host)
    #expect(answer.body == [1, 2, 3])
    #expect(answer.headers["date"] == "Fri, 24 May 2013 00:00:00 GMT")
    #expect(fake.requests.first?.presigned == true)
    fake.setClock(Timestamp(seconds: Self.day + 86400))
    let late = try await client.call("GET", String(target), headers: host)
    #expect((late.status, late.code ?? "") == (403, "AccessDenied"))
    #expect(late.text.contains("<Message>Request has expired</Message>"))
  }

  @Test(
    "a path must be signed in S3's own encoding",
    arguments: [
      ("a%28b%2B%C3%A9", 200), ("a(b", 403), ("a+b", 403), ("%c3%a9", 403), ("a//b/../c", 200),
    ])
  func paths(_ key: String, _ status: Int) async throws {
    // curl 7.88 signs the path unchanged.
    let fake = try FakeS3()
    let answer = try await CurlClient(fake: fake).call("PUT", "/bucket/\(key)", body: [1])
    #expect(answer.status == status, "\(answer.text)")
    #expect(answer.code == (status == 200 ? nil : "SignatureDoesNotMatch"))
    if key == "a//b/../c" { #expect(fake.object("a//b/../c") != nil) }
  }

  @Test("a clock that is more than fifteen minutes off is refused as such")
  func skew() throws {
    #expect(try verify(Self.get, now: Self.day + 900).keyID == Self.example.keyID)
    #expect(code { _ = try verify(Self.get, now: Self.day + 901) } == "RequestTimeTooSkewed")
    #expect(code { _ = try verify(Self.get, now: Self.day - 901) } == "RequestTimeTooSkewed")
  }

  @Test("curl's signature is accepted, and refused with a wrong secret, key, region, token or clock")
  func curlSigns() async throws {
    let temporary = FakeCredential(keyID: "ASIATEMP", secret: "s", sessionToken: "tok/en+=")
    let ended = FakeCredential(keyID: "ASIAENDED", secret: "s", sessionToken: "t", ends: 1)
    let fake = try FakeS3(FakeOptions { $0.credentials = [.standard, temporary, ended] })
    var client = CurlClient(fake: fake)
    let get = { (client: CurlClient) in try await client.call("GET", "/bucket?list-type=2") }
    #expect(try await get(client).status == 200)
    client.credential.secret = "wrong"
    let refused = try await get(client)
    #expect(refused.status == 403)
    #expect(refused.code == "SignatureDoesNotMatch")
    #expect(refused.headers["x-amz-request-id"]?.utf8.count == 16)
    #expect(refused.headers["x-amz-id-2"] != nil)
    #expect(refused.headers["date"] != nil)
    client.credential.keyID = "AKIANOBODY"
    #expect(try await get(client).code == "InvalidAccessKeyId")
    client.credential = temporary
    #expect(try await get(client).status == 200)
    client.credential.sessionToken = "other"
    #expect(try await get(client).code == "InvalidToken")
    client.credential.sessionToken = nil
    #expect(try await get(client).code == "InvalidAccessKeyId")
    client.credential = ended
    let expired = try await get(client)
    #expect((expired.status, expired.code ?? "") == (400, "ExpiredToken"))
    client.credential = .standard
    client.region = "eu-west-1"
    let elsewhere = try await get(client)
    #expect(elsewhere.code == "AuthorizationHeaderMalformed")
    #expect(elsewhere.between("<Region>", "</Region>") == "us-east-1")
    #expect(elsewhere.headers["x-amz-bucket-region"] == "us-east-1")
    client.region = "us-east-1"
    fake.setClockOffset(1000)
    #expect(try await get(client).code == "RequestTimeTooSkewed")
    fake.setClockOffset(0)
    client.signs = false
    #expect(try await get(client).code == "AccessDenied")
  }
}
