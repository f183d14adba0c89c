import COpenSSL
import CTLS
import Foundation
@testable import MultipartCore
import Support
import Testing

/// The system's certificates, as a bundle and as a folder. Two fake stores have authorities with the same name and
/// different keys.
@Suite(.timeLimit(.minutes(10))) struct SystemTrustTests {
  private let store: FakeS3
  private let stranger: FakeS3

  init() throws {
    store = try FakeS3()
    stranger = try FakeS3()
  }

  /// A folder as OpenSSL's tools make it: each certificate under the hash of its name.
  private func folder(_ files: [String]) throws -> String {
    let folder = store.directory.path("certificates-\(UUID().uuidString)")
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    for (number, file) in files.enumerated() {
      let bio = try #require(BIO_new_file(file, "r"))
      defer { BIO_free(bio) }
      let certificate = try #require(PEM_read_bio_X509(bio, nil, nil, nil))
      defer { X509_free(certificate) }
      let hash = String(X509_subject_name_hash(certificate), radix: 16)
      let name = String(repeating: "0", count: 8 - hash.count) + hash + ".\(number)"
      try FileManager.default.copyItem(atPath: file, toPath: folder + "/" + name)
    }
    return folder
  }

  /// A bundle at a unique path, because a bundle is read once per process.
  private func bundle(_ files: [String]) throws -> String {
    let text = try files.map { try String(contentsOfFile: $0, encoding: .utf8) }.joined()
    return try store.directory.write(text, to: "bundle-\(UUID().uuidString).pem")
  }

  private func transport(
    bundle: String, folder: String, _ change: (inout TransportOptions) -> Void = { _ in }
  ) throws -> CurlTransport {
    try plainTransport {
      $0.systemTrust = { SystemTrust(bundle: bundle, folder: folder) }
      change(&$0)
    }
  }

  private func ask(_ transport: CurlTransport) async -> Result<Response, Failure> {
    await outcome(transport, Request(method: .get, url: store.tlsEndpoint + "/bucket"))
  }

  private func wasRead(_ bundle: String) -> Bool { ctls_trust_was_read(ctls_trust_bundle(bundle)) == 1 }

  @Test("A certificate in the folder is found there, and the bundle is not read")
  func folderIsEnough() async throws {
    let bundle = try bundle([store.caFile])
    let transport = try transport(bundle: bundle, folder: try folder([store.caFile]))
    #expect(await ask(transport).status == 403)
    #expect(!wasRead(bundle))
  }

  @Test("A certificate missing in the folder is found in the bundle, for every connection")
  func bundleHelps() async throws {
    let bundle = try bundle([stranger.caFile, store.caFile])
    let folder = try folder([])
    for _ in 0..<2 {
      #expect(await ask(try transport(bundle: bundle, folder: folder)).status == 403)
    }
    #expect(wasRead(bundle))
  }

  @Test("A certificate of the right name and the wrong key in the folder does not hide the right one in the bundle")
  func sameName() async throws {
    let folder = try folder([stranger.caFile])
    #expect(await ask(try transport(bundle: try bundle([store.caFile]), folder: folder)).status == 403)
  }

  @Test("Both of two certificates with one name in the folder are tried")
  func twoOfOneName() async throws {
    let bundle = try bundle([stranger.caFile])
    let folder = try folder([stranger.caFile, store.caFile])
    #expect(await ask(try transport(bundle: bundle, folder: folder)).status == 403)
    #expect(!wasRead(bundle))
  }

  @Test("An authority in neither is refused, and no request is sent")
  func refused() async throws {
    let bundle = try bundle([stranger.caFile])
    let result = await ask(try transport(bundle: bundle, folder: try folder([stranger.caFile])))
    #expect(result.code == .tls, "\(result)")
    #expect(store.requests.isEmpty)
    // A bundle that has disappeared since the process began, or is empty, trusts no certificate.
    let gone = store.directory.path("gone.pem")
    #expect(await ask(try transport(bundle: gone, folder: try folder([]))).code == .tls)
  }

  @Test("A trusted certificate for another name is still refused")
  func wrongName() async throws {
    let proxy = try RawServer { [port = store.tlsPort] connection, _ in
      guard connection.readHead() != nil else { return }
      connection.write("HTTP/1.1 200 OK\r\n\r\n")
      connection.splice(to: port)
    }
    var settings = ProxySettings()
    settings.https = proxy.url
    let through = settings
    let transport = try transport(bundle: try bundle([store.caFile]), folder: try folder([store.caFile])) {
      $0.proxy = through
    }
    let result = await outcome(transport, Request(method: .get, url: "https://other.example/bucket"))
    #expect(result.code == .tls, "\(result)")
    #expect(store.requests.isEmpty)
  }

  @Test("With the user's own bundle the system's certificates do not count")
  func ownBundle() async throws {
    let system = try bundle([store.caFile])
    let own = stranger.caFile
    let transport = try transport(bundle: system, folder: try folder([store.caFile])) { $0.caBundle = own }
    #expect(await ask(transport).code == .tls)
    #expect(!wasRead(system))
  }

  @Test("OpenSSL's variables name a bundle and a folder; each replaces that of the system")
  func variables() async throws {
    let system = try #require(SystemTrust.ofSystem)
    #expect(SystemTrust.chosen(by: ["SSL_CERT_FILE": "", "HOME": "/"])() == system)
    #expect(SystemTrust.chosen(by: ["SSL_CERT_FILE": "a"])() == SystemTrust(bundle: "a", folder: system.folder))
    #expect(SystemTrust.chosen(by: ["SSL_CERT_DIR": "b"])() == SystemTrust(bundle: system.bundle, folder: "b"))
    let folder = try folder([store.caFile])
    for trust in [SystemTrust(bundle: store.caFile, folder: nil), SystemTrust(bundle: nil, folder: folder)] {
      let transport = try plainTransport { $0.systemTrust = { trust } }
      #expect(await ask(transport).status == 403, "\(trust)")
    }
  }

  @Test("libcurl's own place counts before those of the distributions, and any bundle before a folder alone")
  func places() {
    let own = SystemTrust(bundle: "own", folder: "own/")
    let others = [SystemTrust(bundle: "one", folder: "one/"), SystemTrust(bundle: "two", folder: "two/")]
    func found(_ there: String...) -> SystemTrust? {
      SystemTrust.first(of: own, orOf: others) { there.contains($0) }
    }
    #expect(found("two", "two/", "own", "one/") == SystemTrust(bundle: "own", folder: nil))
    #expect(found("own/", "one/", "two", "two/") == SystemTrust(bundle: "two", folder: "two/"))
    #expect(found("one/", "two/") == SystemTrust(bundle: nil, folder: "one/"))
    #expect(found() == nil)
  }

  @Test("Concurrent connections on several loops all find a certificate that only the bundle has")
  func together() async throws {
    let bundle = try bundle([store.caFile])
    let folder = try folder([])
    let transport = try plainTransport(loops: 3) { $0.systemTrust = { SystemTrust(bundle: bundle, folder: folder) } }
    let answers = await withTaskGroup(of: Int?.self) { group in
      for _ in 0..<12 { group.addTask { await ask(transport).status } }
      return await group.reduce(into: []) { $0.append($1) }
    }
    #expect(answers == Array(repeating: 403, count: 12))
  }
}
