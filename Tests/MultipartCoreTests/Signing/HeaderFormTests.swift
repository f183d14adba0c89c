import MultipartBasics
@testable import MultipartCore
import Support
import Testing

/// Expected signatures were made by botocore (S3SigV4Auth) at 20260228T235958Z for eu-west-3.
@Suite("Signatures in headers", .timeLimit(.minutes(15)))
struct HeaderFormTests {
  @Test(
    "any key is signed and sent byte for byte",
    arguments: [
      ("/a", "/a", "0e4f4172f14da2a47b95f62cccee4097eaddd9b93e8cf52b3979a6f236ac3196"),
      ("a//b", "a//b", "b3174427aa3a7dd3e91d434183be30879cc59ce71b3c9056fa2bb3ca542871d2"),
      ("../x", "../x", "464913e69b8b280e2c5698c30689f2674af20d182d60024181287c6659989b27"),
      (".", ".", "5af41ff5a632479ffa82a9f715d373f25ada73223b2c38b3f9bd5bd7862d0301"),
      ("a/./b", "a/./b", "726d8a07edf54a6c40a6c407fdfc01bd57533832a2b5cb504aaa4e0b57c41e83"),
      ("a b+c%20d", "a%20b%2Bc%2520d", "0c63ec723596fdcbada87315ea00a5358a155ed5112591211f2465d35f4d3777"),
      (
        "~*'()!$&,;=:@?#[]", "~%2A%27%28%29%21%24%26%2C%3B%3D%3A%40%3F%23%5B%5D",
        "641e1675e373134c77cb419fedbf64492dfd5e12e96ec265fd616716ee9b6614"
      ),
      (
        "naïve/😀", "na%C3%AFve/%F0%9F%98%80", "33aecca89a5f0b6aa7dda217eb5de07e8a3eee4d8f2088dae9c233283699a699"
      ),
      (
        "\\back\"slash\"", "%5Cback%22slash%22", "944f7e9c6da665ace5a65c9a1855ea6ed2686c2f765be758cb5e790955c3c6bc"
      ),
      ("caf\u{e9}", "caf%C3%A9", "183f4bb56d4dd95e56ba8f7b46fd8c4cf368b00bb8b3a018d58942e5078bc667"),
      ("cafe\u{301}", "cafe%CC%81", "3434ccb289dc1141184b7499f54f4a5b1894eaaf6a70a3680fa8c22af08e9a11"),
      ("%2F", "%252F", "5bb7a34ffbd080fce7bc3d317442e3cb779566ab98a0800512ab31665a42c713"),
      ("trailing/", "trailing/", "332e6a73472f412ed8a1a45d5c1b384c238b54f1cfe248020d73c886a605d7c0"),
      ("\u{1}\u{7f}", "%01%7F", "f3b64aef42ade8b6447d5285e96288c3d72447011ad0de5504ff0b6515ea6734"),
    ])
  func keys(key: String, encoded: String, signature: String) throws {
    let request = Request(method: .put, origin: Sample.origin, path: "/" + PercentEncoding.path(key))
    let signed = try Sample.signer.sign(
      request, payloadHash: PayloadHash.unsigned, credentials: Sample.credentials(), at: Sample.time)
    #expect(signed.url == "https://bucket.example.com:9000/" + encoded)
    #expect(signed.signature == signature)
  }

  @Test(
    "a query is sent in the order and encoding in which it is signed",
    arguments: [
      ([QueryItem("uploads")], "uploads", "0e13ed1b88b4319fceb472a5dfe98343d1edda183e0e9f78d091ca90a0919e0f"),
      ([QueryItem("uploads", "")], "uploads=", "0e13ed1b88b4319fceb472a5dfe98343d1edda183e0e9f78d091ca90a0919e0f"),
      (
        [QueryItem("uploadId", "a/b+c==~*'"), QueryItem("partNumber", "3")],
        "partNumber=3&uploadId=a%2Fb%2Bc%3D%3D~%2A%27",
        "58ef73b459a999ac8036a8f5439b8ed1b2f8527891191c533a1114eebe23edf5"
      ),
      (
        [QueryItem("b", "2"), QueryItem("b", "1"), QueryItem("a", "")], "a=&b=1&b=2",
        "c6bf79c9a950594adeb50ceac723be3e221c3fc045576f541452bf582c5059e9"
      ),
      (
        [QueryItem("a-b", "1"), QueryItem("a", "1"), QueryItem("a.", "1"), QueryItem("A", "1")],
        "A=1&a=1&a-b=1&a.=1", "a03208941c819677ac86f25c8212dddfb581234255496e68799c3573ff1725e0"
      ),
      (
        [QueryItem("prefix", "a b/😀+"), QueryItem("list-type", "2")],
        "list-type=2&prefix=a%20b%2F%F0%9F%98%80%2B",
        "2c69a245596f0c095a5da96ae9703680436232c381d2f2fbd247c0c8f3158d59"
      ),
    ])
  func queries(query: [QueryItem], sent: String, signature: String) throws {
    let request = Request(method: .get, origin: Sample.origin, path: "/", query: query)
    let signed = try Sample.signer.sign(request, credentials: Sample.credentials(), at: Sample.time)
    #expect(signed.url == "https://bucket.example.com:9000/?" + sent)
    #expect(signed.signature == signature)
  }

  static let headerCases: [(HeaderList, String?, String)] = [
    (
      ["x-amz-meta-a": "  two   words\t here "], nil, "c2ee4fb0e837f27f11889159d2177fbc5f391bea1b8d6458ae67634bd33de7db"
    ),
    (["x-amz-meta-name": "Zoë 😀"], nil, "bf806c72bc5001b3dcfaba3652233149693e5cdcc5fa9a274ba9b4fa7bd4b8b1"),
    (
      ["x-amz-meta-d": "1", "X-Amz-Meta-D": "2"], nil,
      "ebc2064ceb41cc8847928661c0e27fdddcecc7ee2fb6d7fc3af719b302331122"
    ),
    (
      [
        "Content-Type": "text/plain; charset=utf-8", "Content-MD5": "1B2M2Y8AsgTpgAmY7PhCfg==",
        "Expect": "100-continue", "User-Agent": "u",
      ], nil, "24645689a35019c3e81f5777c051d94ec8eabae306c2f78e3161fee920d01bbb"
    ),
    ([:], "IQoJb3JpZ2luX2VjEP//+token/==", "46c4c3786ae221adb4bfb26c8c73aa8de6617c2901f30d6b6431098363b3b6e7"),
    (["x-amz-meta-empty": ""], "t", "0bd1d179951eadff4c5be984de4d6bbe937ea50e86908d34e742f6e6c78024d4"),
  ]

  @Test("headers and the session token are signed as AWS folds them, and sent as given", arguments: headerCases)
  func headers(headers: HeaderList, token: String?, signature: String) throws {
    let request = Request(method: .put, origin: Sample.origin, path: "/k", headers: headers)
    let signed = try Sample.signer.sign(
      request, payloadHash: PayloadHash.unsigned, credentials: Sample.credentials(token: token), at: Sample.time)
    #expect(signed.signature == signature)
    #expect(Array(signed.headers.fields.prefix(headers.fields.count)) == headers.fields)
    #expect(signed.headers["x-amz-security-token"] == token)
  }

  @Test("a caller's values for the signer's own headers are replaced, never doubled")
  func ownHeadersReplaced() throws {
    let given: HeaderList = [
      "Host": "other", "authorization": "Basic abc", "X-Amz-Date": "19700101T000000Z", "x-amz-security-token": "old",
      "X-Amz-Content-Sha256": "00",
    ]
    let request = Request(method: .put, origin: Sample.origin, path: "/k", headers: given)
    let plain = Request(method: .put, origin: Sample.origin, path: "/k")
    let credentials = Sample.credentials(token: "new")
    let signed = try Sample.signer.sign(request, credentials: credentials, at: Sample.time)
    #expect(try signed.asSent == Sample.signer.sign(plain, credentials: credentials, at: Sample.time).asSent)
  }

  @Test("a header signature is valid for a quarter of an hour, and not longer than its credentials")
  func expiry() throws {
    let request = Request(method: .get, origin: Sample.origin, path: "/k")
    let free = try Sample.signer.sign(request, credentials: Sample.credentials(), at: Sample.time)
    #expect(free.expires == Timestamp(seconds: Sample.time.seconds + 900))
    let end = Timestamp(seconds: Sample.time.seconds + 20)
    let short = try Sample.signer.sign(request, credentials: Sample.credentials(until: end), at: Sample.time)
    #expect(short.expires == end)
  }

  @Test("without credentials nothing is added")
  func unsigned() throws {
    let request = Request(
      method: .get, origin: Sample.origin, path: "/a//b", query: [QueryItem("versionId", "x y")],
      headers: ["Range": "bytes=0-1"])
    let signed = try request.unsigned()
    #expect(signed.url == "https://bucket.example.com:9000/a//b?versionId=x%20y")
    #expect(signed.headers == ["Range": "bytes=0-1"])
    #expect(signed.expires == nil)
  }

  @Test(
    "a header that would become two is refused, and its value is not shown",
    arguments: [
      ("x-amz-meta-a", "one\r\nx-amz-acl: public-read"), ("x-amz-meta-a", "one\ntwo"), ("x-amz-meta-a", "a\u{0}b"),
      ("x-amz-meta-a: b", "one"), ("", "one"), ("näme", "one"),
    ])
  func injection(name: String, value: String) throws {
    let request = Request(method: .get, origin: Sample.origin, path: "/k", headers: [name: value])
    let attempts: [() throws -> Request] = [
      { try Sample.signer.sign(request, credentials: Sample.credentials(), at: Sample.time) },
      {
        try Sample.signer.presign(
          request, credentials: Sample.credentials(), at: Sample.time, expiresIn: .seconds(60))
      },
      { try request.unsigned() },
    ]
    for attempt in attempts {
      let failure = #expect(throws: Failure.self) { try attempt() }
      #expect(failure?.code == .usage)
      #expect(failure?.message.contains("one") == false)
    }
  }
}
