import MultipartBasics
@testable import MultipartCore
import Testing

/// AWS: "Signature Calculations for the Authorization Header: Transferring Payload in a Single Chunk" and
/// "Authenticating Requests: Using Query Parameters".
@Suite("AWS's published S3 examples, to the byte", .timeLimit(.minutes(15)))
struct PublishedExamplesTests {
  struct Example: Sendable, CustomTestStringConvertible {
    var name: String
    var request: Request
    var canonical: String
    var stringToSign: String
    var signature: String
    var testDescription: String { name }
    /// The last line of the canonical request.
    var payloadHash: String { canonical.split(separator: "\n").last.map(String.init) ?? "" }

    init(
      _ name: String, _ method: HTTPMethod, _ path: String, query: [QueryItem] = [], headers: HeaderList = [:],
      body: RequestBody = .none, canonical: [String], digest: String, signature: String
    ) {
      self.name = name
      self.request = Request(
        method: method, origin: Published.origin, path: path, query: query, headers: headers, body: body)
      self.canonical = canonical.joined(separator: "\n")
      self.stringToSign = "AWS4-HMAC-SHA256\n20130524T000000Z\n20130524/us-east-1/s3/aws4_request\n" + digest
      self.signature = signature
    }
  }

  static let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
  static let welcome = "44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072"

  static let examples = [
    Example(
      "GET Object with Range", .get, "/test.txt", headers: ["Range": "bytes=0-9"],
      canonical: [
        "GET", "/test.txt", "", "host:examplebucket.s3.amazonaws.com", "range:bytes=0-9",
        "x-amz-content-sha256:" + empty, "x-amz-date:20130524T000000Z", "",
        "host;range;x-amz-content-sha256;x-amz-date",
        empty,
      ], digest: "7344ae5b7ee6c3e7e6b0fe0640412a37625d1fbfff95c48bbb2dc43964946972",
      signature: "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"),
    Example(
      "PUT Object", .put, PercentEncoding.path("/test$file.text"),
      headers: ["Date": "Fri, 24 May 2013 00:00:00 GMT", "x-amz-storage-class": "REDUCED_REDUNDANCY"],
      body: .bytes(Array("Welcome to Amazon S3.".utf8)),
      canonical: [
        "PUT", "/test%24file.text", "", "date:Fri, 24 May 2013 00:00:00 GMT", "host:examplebucket.s3.amazonaws.com",
        "x-amz-content-sha256:" + welcome, "x-amz-date:20130524T000000Z", "x-amz-storage-class:REDUCED_REDUNDANCY", "",
        "date;host;x-amz-content-sha256;x-amz-date;x-amz-storage-class", welcome,
      ], digest: "9e0e90d9c76de8fa5b200d8c849cd5b8dc7a3be3951ddb7f6a76b4158342019d",
      signature: "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd"),
    Example(
      "GET Bucket Lifecycle", .get, "/", query: [QueryItem("lifecycle")],
      canonical: [
        "GET", "/", "lifecycle=", "host:examplebucket.s3.amazonaws.com", "x-amz-content-sha256:" + empty,
        "x-amz-date:20130524T000000Z", "", "host;x-amz-content-sha256;x-amz-date", empty,
      ], digest: "9766c798316ff2757b517bc739a67f6213b4ab36dd5da2f94eaebf79c77395ca",
      signature: "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"),
    Example(
      "GET Bucket (List Objects)", .get, "/", query: [QueryItem("prefix", "J"), QueryItem("max-keys", "2")],
      canonical: [
        "GET", "/", "max-keys=2&prefix=J", "host:examplebucket.s3.amazonaws.com", "x-amz-content-sha256:" + empty,
        "x-amz-date:20130524T000000Z", "", "host;x-amz-content-sha256;x-amz-date", empty,
      ], digest: "df57d21db20da04d7fa30298dd4488ba3a2b47ca3a489c74750e0f1e7df1b9b7",
      signature: "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"),
  ]

  @Test("each stage gives AWS's text", arguments: examples)
  func stages(example: Example) throws {
    var headers = example.request.headers
    headers.add("X-Amz-Date", Published.time.amzTime)
    headers.add("x-amz-content-sha256", example.payloadHash)
    let canonical = SigV4.canonicalRequest(
      example.request.method, example.request.url, headers: headers, payloadHash: example.payloadHash)
    #expect(canonical.text == example.canonical)
    let scope = SigV4.Scope(at: Published.time, region: "us-east-1", service: "s3")
    let text = try SigV4.stringToSign(canonical, at: Published.time, scope: scope)
    #expect(text == example.stringToSign)
    let key = try SigV4.signingKey(secret: Published.credentials.secretAccessKey, scope: scope)
    #expect(try SigV4.signature(text, key: key) == example.signature)
  }

  @Test("the signer gives AWS's Authorization header", arguments: examples)
  func authorization(example: Example) throws {
    let signed = try Published.signer.sign(example.request, credentials: Published.credentials, at: Published.time)
    let names = example.canonical.split(separator: "\n", omittingEmptySubsequences: false).suffix(2)
    #expect(
      signed.headers["Authorization"]
        == "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request, "
        + "SignedHeaders=\(names.first ?? ""), Signature=\(example.signature)")
    #expect(signed.headers["x-amz-date"] == "20130524T000000Z")
    #expect(signed.headers["x-amz-content-sha256"] == example.payloadHash)
    #expect(signed.headers["host"] == nil)
  }

  @Test("the presigned GET is AWS's URL")
  func presigned() throws {
    let request = Request(method: .get, origin: Published.origin, path: "/test.txt")
    let signed = try Published.signer.presign(
      request, credentials: Published.credentials, at: Published.time, expiresIn: .seconds(86400))
    #expect(
      signed.url
        == "https://examplebucket.s3.amazonaws.com/test.txt?X-Amz-Algorithm=AWS4-HMAC-SHA256"
        + "&X-Amz-Credential=AKIAIOSFODNN7EXAMPLE%2F20130524%2Fus-east-1%2Fs3%2Faws4_request"
        + "&X-Amz-Date=20130524T000000Z&X-Amz-Expires=86400&X-Amz-SignedHeaders=host"
        + "&X-Amz-Signature=aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404")
    #expect(signed.headers.fields.isEmpty)
    #expect(signed.expires == Timestamp(seconds: Published.time.seconds + 86400))
  }
}
