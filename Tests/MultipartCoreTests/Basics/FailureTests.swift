import Glibc
import Support
import Testing

@testable import MultipartCore

@Suite(.timeLimit(.minutes(15))) struct FailureTests {
  @Test("a system failure has its errno, in its text and as a value")
  func system() throws {
    let failure = #expect(throws: Failure.self) { try SourceFile(FilePath("/nowhere/file")) }
    #expect(failure?.underlying == .system(ENOENT))
    #expect(failure?.message.description == "the source cannot be read: No such file or directory")
  }

  @Test("an error of a disk, of memory or of the system's limits is not the fault of the name that was given")
  func machine() {
    for error in [EIO, ESTALE, ENOMEM, ENOSPC, EDQUOT, EMFILE, ENFILE] {
      #expect(Failure.system(.usage, error, "it cannot be written").code == .local)
      let isLimit = [EMFILE, ENFILE].contains(error)
      #expect(Failure.system(.sourceMissing, error, "it cannot be read").code == (isLimit ? .local : .sourceMissing))
    }
    #expect(Failure.system(.usage, EACCES, "it cannot be written").code == .usage)
  }

  @Test("a refused connection has libcurl's code and the errno")
  func connection() async throws {
    let transport = try CurlTransport(options: TransportOptions())
    defer { transport.stop() }
    do throws(Failure) {
      _ = try await transport.send(Request(method: .head, url: "http://127.0.0.1:9/"))
      Issue.record("somebody answered")
    } catch {
      // CURLE_COULDNT_CONNECT
      #expect(error.underlying == .libcurl(7, errno: ECONNREFUSED), "\(error)")
    }
  }

  @Test("a failure's description is one line: what, where and the remedy, without a control character")
  func description() {
    var failure = Failure(.refused, "no\u{1b}[2J such bucket", remedy: "check \(.region)")
    failure.place = Place(file: "f", bucket: "b", key: "k", part: 3)
    #expect("\(failure)" == "part 3: no\u{fffd}[2J such bucket (f, s3://b/k); check region")
    #expect("\(Failure(.local, "no"))" == "no")
  }
}
