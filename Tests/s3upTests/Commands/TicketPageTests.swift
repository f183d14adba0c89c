@testable import MultipartCore
import Testing

@testable import s3up

@Suite("A page names its store in its policy", .timeLimit(.minutes(15)))
struct TicketPageTests {
  @Test(
    "A host name or an IPv4 address, with or without a port",
    arguments: ["https://s3.example.com", "http://127.0.0.1:9000", "https://b.s3-eu_1.example:443"])
  func allowed(_ origin: String) throws {
    #expect(try TicketPage.source(origin) == origin)
  }

  @Test(
    "An origin that could add to the policy is refused",
    arguments: [
      "https://a; script-src *", "https://a,https://b", "https://a b", "https://a\u{301};b", "https://\u{600}a",
      "https://a'",
      "https://a/b", "https://a?b", "https://a@b", "https://*.example.com", "https://[::1]:9000", "https://", "ftp://a",
      "https:a", "",
    ])
  func refused(_ origin: String) {
    let failure = #expect(throws: Failure.self) { try TicketPage.source(origin) }
    #expect(failure?.code == .usage)
  }

  @Test("An error code means the same to a ticket's script and page as to the library, by its exit code")
  func errorCodes() throws {
    let digests = ["BadDigest", "InvalidDigest"]
    for (status, codes) in TicketErrors.meanings {
      for code in codes where !digests.contains(code) {
        let known = try #require(S3ErrorTable.codes[code])
        #expect(ExitStatus(known) == ExitStatus(S3ErrorTable.code(status: status)), "\(code)")
      }
    }
    #expect(digests.allSatisfy { S3ErrorTable.codes[$0] == .dataMismatch })
  }
}
