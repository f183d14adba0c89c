import Testing

@testable import MultipartCore

@Suite("URLs as they are signed", .timeLimit(.minutes(15)))
struct CanonicalURLTests {
  @Test(
    "what is signed is read from the URL that is sent",
    arguments: [
      ("https://h:9000/a//b%3F", "h:9000", "/a//b%3F", ""), ("http://[::1]/?uploads", "[::1]", "/", "uploads="),
      ("https://h/k?partNumber=3&uploadId=a%3D%26b", "h", "/k", "partNumber=3&uploadId=a%3D%26b"),
      ("https://h/k?a&b=", "h", "/k", "a=&b="), ("https://h/k?a=b=c", "h", "/k", "a=b=c"),
    ])
  func read(text: String, host: String, path: String, query: String) {
    let url = CanonicalURL(text)
    #expect(url.host == host && url.path == path && url.signedQuery == query)
    #expect(url.text == text)
  }

  @Test("a query in another order is signed in AWS's")
  func ordered() {
    #expect(CanonicalURL("https://h/?b=2&a&b=1").text == "https://h/?a&b=1&b=2")
  }

  @Test("what is put in is encoded, and replaces the items that it is meant to replace")
  func put() {
    var url = CanonicalURL("https://h/k?old=1&b=%2F")
    url.put([QueryItem("new", "/ ?")], inPlaceOf: { $0 == "old" })
    #expect(url.text == "https://h/k?b=%2F&new=%2F%20%3F")
  }
}
