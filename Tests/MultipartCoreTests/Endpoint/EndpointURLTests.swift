@testable import MultipartCore
import Support
import Testing

@Suite("Endpoint URLs", .timeLimit(.minutes(15)))
struct EndpointURLTests {
  @Test(
    "a typed URL becomes origin and path",
    arguments: [
      ("https://s3.example.com", "https://s3.example.com", "/b/k"),
      ("https://s3.example.com/", "https://s3.example.com", "/b/k"),
      ("HTTP://S3.Example.COM:9000", "http://s3.example.com:9000", "/b/k"),
      ("https://s3.example.com:443", "https://s3.example.com", "/b/k"),
      ("http://s3.example.com:80/", "http://s3.example.com", "/b/k"),
      ("http://s3.example.com:443", "http://s3.example.com:443", "/b/k"),
      ("https://s3.example.com:80", "https://s3.example.com:80", "/b/k"),
      ("http://127.0.0.1:9000", "http://127.0.0.1:9000", "/b/k"),
      ("http://[::1]:9000", "http://[::1]:9000", "/b/k"),
      ("https://[2001:DB8::5]", "https://[2001:db8::5]", "/b/k"),
      ("https://[2001:db8::5]:443/x", "https://[2001:db8::5]", "/x/b/k"),
      ("https://host/storage/v1/s3", "https://host", "/storage/v1/s3/b/k"),
      ("https://host/storage/v1/s3//", "https://host", "/storage/v1/s3/b/k"),
      ("https://host/a%20b", "https://host", "/a%20b/b/k"),
      ("https://my_store.svc:9000", "https://my_store.svc:9000", "/b/k"),
      ("http://localhost:", "http://localhost", "/b/k"),
      (" http://localhost:9000\n", "http://localhost:9000", "/b/k"),
    ])
  func parsed(text: String, origin: String, path: String) throws {
    let endpoint = try EndpointResolver.resolve(bucket: "b", endpointURL: text)
    #expect(endpoint.origin.description == origin)
    #expect(endpoint.path(forKey: "k") == path)
  }

  @Test(
    "a malformed URL is refused with the code of where it was set, and never repeated",
    arguments: [
      "localhost:9000", "ftp://hunter2", "https:/hunter2", "https://", "https:///hunter2", "http://:9000",
      "https://hunter2..example.com", "https://hunter2.", "https://user:hunter2@host", "https://hunter2@host",
      "https://host?hunter2", "https://host/?hunter2", "https://host#hunter2", "http://host:hunter2", "http://host:0",
      "http://host:65536", "http://host:123456", "http://host:-1", "http://host:+80", "http://host: 80",
      "http://[::1", "http://[hunter2]", "http://::1:9000", "http://[::1]9000", "http://[fe80::1%25eth0]",
      "http://[127.0.0.1]", "http://hün-hunter2", "http://host/a b", "http://host/%", "http://host/%4",
      "http://host/%zz",
      "http://host/<hunter2>", "http://ho\u{0}st", "http://host\r\nX: hunter2", "\n", " ",
      "http://" + String(repeating: "a", count: 64), "http://" + String(repeating: "a.", count: 127) + "a",
    ], [Failure.Code.usage, .configuration])
  func refused(text: String, blame: Failure.Code) {
    let failure = #expect(throws: Failure.self) {
      try EndpointResolver.resolve(bucket: "b", endpointURL: text, blame: blame)
    }
    #expect(failure?.code == blame)
    #expect(failure?.message.hasPrefix("the endpoint URL ") == true)
    #expect(failure?.message.contains("hunter2") == false)
    #expect(failure?.remedy?.contains("hunter2") == false)
  }
}
