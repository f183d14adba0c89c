import Foundation
import MultipartBasics
@testable import MultipartCore
import Support
import Testing

@Suite(.timeLimit(.minutes(15))) struct GetBucketLifecycleTests {
  private func rules(_ xml: String, status: Int = 200) throws(Failure) -> [GetBucketLifecycle.Rule] {
    try GetBucketLifecycle(BucketAddress("b")).output(from: Response(status: status, body: Array(xml.utf8)))
  }

  private func rule(_ inner: String, status: String = "Enabled", days: String = "7") -> String {
    """
    <Rule><ID>r</ID>\(inner)<Status>\(status)</Status><AbortIncompleteMultipartUpload>\
    <DaysAfterInitiation>\(days)</DaysAfterInitiation></AbortIncompleteMultipartUpload></Rule>
    """
  }

  private func whole(_ rules: String) -> String { "<LifecycleConfiguration>\(rules)</LifecycleConfiguration>" }

  @Test(
    "a rule's prefix may be in any of three places",
    arguments: [
      "<Prefix>p/</Prefix>", "<Filter><Prefix>p/</Prefix></Filter>", "<Filter><And><Prefix>p/</Prefix></And></Filter>",
    ])
  func prefix(_ form: String) throws {
    let found = try rules(whole(rule(form)))
    #expect(found == [.init(id: "r", prefix: "p/", days: 7)])
    #expect(found[0].holds(for: "p/k") && !found[0].holds(for: "q/k"))
  }

  @Test("disabled rules, and those for tags, without days or for something else, do not count")
  func others() throws {
    let text = whole(
      rule("", status: "Disabled") + rule("<Filter><Tag><Key>a</Key></Tag></Filter>") + rule("", days: "many")
        + rule("", days: "0") + "<Rule><Status>Enabled</Status><Expiration><Days>3</Days></Expiration></Rule>")
    #expect(try rules(text).isEmpty)
  }

  @Test("a bucket without rules has none; a refusal and nonsense are failures")
  func answers() throws {
    #expect(try rules("<Error><Code>NoSuchLifecycleConfiguration</Code></Error>", status: 404).isEmpty)
    #expect(try rules(whole("")).isEmpty)
    #expect(throws: Failure.self) { try rules("<Error><Code>AccessDenied</Code></Error>", status: 403) }
    #expect(throws: Failure.self) { try rules("<html/>") }
    #expect(throws: Failure.self) { try rules("") }
  }
}

@Suite(.timeLimit(.minutes(15))) struct HostLookupTests {
  @Test("an address resolves to itself, also in brackets, and a name of this machine has one")
  func found() async throws {
    #expect(try await HostLookup.addresses(of: "127.0.0.1").get() == ["127.0.0.1"])
    #expect(try await HostLookup.addresses(of: "[::1]").get() == ["::1"])
    #expect(try await !HostLookup.addresses(of: "localhost").get().isEmpty)
  }

  @Test("a name without an address is a network failure that names it")
  func missing() async {
    let result = await HostLookup.addresses(of: "nowhere.invalid") { _, answer in answer(.refused(EAI_NONAME)) }
    #expect(throws: Failure.self) { try result.get() }
    if case .failure(let failure) = result {
      #expect(failure.code == .network && failure.message.contains("nowhere.invalid"))
    }
  }

  @Test("a resolver that does not return is waited for only up to the limit")
  func slow() async {
    let result = await HostLookup.addresses(of: "slow.example", limit: .milliseconds(20)) { _, _ in }
    if case .failure(let failure) = result {
      #expect(failure.code == .network)
    } else {
      Issue.record("it was waited for")
    }
  }
}

@Suite(.timeLimit(.minutes(15))) struct ProxyExemptionTests {
  @Test(
    "NO_PROXY excludes names with their subdomains, addresses and blocks",
    arguments: [
      ("*", "s3.example.com", true), ("example.com", "s3.example.com:9000", true),
      (".example.com", "example.com", true),
      ("ample.com", "example.com", false), ("a.b, Example.COM", "s3.EXAMPLE.com", true), ("", "example.com", false),
      ("10.0.0.0/8", "10.1.2.3:9000", true), ("10.0.0.0/8", "11.1.2.3", false), ("10.1.2.3", "10.1.2.3", true),
      ("2.3", "10.1.2.3", false), ("::1", "[::1]:9000", true), ("[::1]", "[::1]", true),
      ("10.0.0.0/99", "10.0.0.0", false), ("0.0.0.0/0", "10.1.2.3", true), ("10.0.0.0/9", "10.128.0.1", false),
      ("fd00::/8", "[fd12::3]:9000", true), ("fd00::/8", "[fe80::1]", false), ("[fd00::]/8", "[fd12::3]", true),
      ("0:0:0:0:0:0:0:1", "[::1]", true), ("::/0", "10.1.2.3", false), ("10.0.0.0/", "10.0.0.0", false),
    ])
  func exempts(_ list: String, _ host: String, _ isExempt: Bool) {
    var settings = ProxySettings()
    settings.bypass = list
    settings.https = "http://proxy"
    for url in ["https://\(host)/key", "HTTPS://\(host)?query=/x"] {
      #expect(settings.configured(for: url) == "http://proxy")
      #expect((settings.proxy(for: url) == nil) == isExempt, "\(url)")
    }
  }

  @Test("without a list no host is excluded")
  func none() { #expect(!ProxySettings().exempts("http://h")) }
}

@Suite(.timeLimit(.minutes(15))) struct StateFolderReportTests {
  @Test("an existing folder is tested by writing and left as it was")
  func writable() throws {
    let folder = try TemporaryDirectory("state")
    let report = StateFolderReport.look(at: folder.path)
    guard case .writable = report.use else {
      Issue.record("\(report)")
      return
    }
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
  }

  @Test("a missing folder is not created")
  func absent() throws {
    let folder = try TemporaryDirectory("state")
    let report = StateFolderReport.look(at: folder.path + "/a/b")
    guard case .canBeMade = report.use else {
      Issue.record("\(report)")
      return
    }
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
  }

  @Test("a file in its place, a file above it, and a read-only file system are reported as unusable")
  func unusable() throws {
    let folder = try TemporaryDirectory("state")
    let file = try folder.write("x", to: "file")
    for path in [file, file + "/below", "/proc/s3up", "/proc"] {
      guard case .unusable = StateFolderReport.look(at: path).use else {
        Issue.record("\(path)")
        continue
      }
    }
    #expect(StateFolderReport.look(at: nil).path == nil)
  }
}

@Suite(.timeLimit(.minutes(10))) struct StoreVisitTests {
  private func world() -> World {
    World(
      now: { Timestamp(seconds: Int64(time(nil))) }, uptime: { .sinceBoot() }, sleep: { try await Task.sleep(for: $0) },
      random: { 0.5 }, environment: [:])
  }

  private func visit(_ fake: FakeS3, trusts: Bool) async throws -> StoreVisit {
    var options = TransportOptions()
    if trusts { options.caBundle = fake.caFile }
    var blind = options
    blind.verifiesTLS = false
    let origin = Origin(scheme: .https, host: "localhost:\(fake.tlsPort)")
    return await StoreVisit.make(
      "\(origin)/bucket", origin: origin, transport: try CurlTransport(options: options),
      blind: try CurlTransport(options: blind), world: world(), limit: .seconds(20))
  }

  @Test("a visit reports version, cipher and certificate, the address, the times and the clock")
  func trusted() async throws {
    let fake = try FakeS3()
    let visit = try await visit(fake, trusts: true)
    #expect(visit.connection.tls?.version.hasPrefix("TLSv1.") == true)
    #expect(visit.connection.tls?.cipher.isEmpty == false && visit.connection.tls?.subject == "localhost")
    #expect(visit.connection.tls?.end != nil && visit.connection.tls?.issuer != nil)
    #expect(visit.connection.address == "127.0.0.1" && visit.connection.port == fake.tlsPort)
    #expect(visit.connection.handshake > .zero && visit.connection.tlsHandshake > .zero)
    #expect(visit.clockAhead.map { abs($0) <= 2 } == true)
    #expect(visit.distrusted == nil)
  }

  @Test("an untrusted certificate is shown with OpenSSL's reason, and the request is not sent")
  func distrusted() async throws {
    let fake = try FakeS3()
    let visit = try await visit(fake, trusts: false)
    #expect(visit.distrusted?.subject == "localhost" && visit.connection.verifyError != 0)
    #expect(visit.connection.isConnected && visit.clockAhead == nil)
    #expect(fake.requests.allSatisfy { $0.bucket != "bucket" })
  }
}
