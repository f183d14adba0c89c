import Foundation
@testable import MultipartCore
import Testing

@testable import Support

/// State folders that contain more than s3up's files.
@Suite(.crowd) struct StateFolderTests {
  private let put = ["put", "f", "s3://bucket/k", "--part-size", "5M"]

  private func mode(_ path: String) -> mode_t? {
    var status = stat()
    return lstat(path, &status) == 0 ? status.st_mode & 0o7777 : nil
  }

  private func folder(_ box: BlackBox, _ name: String, _ bits: mode_t) throws -> String {
    let path = box.files.path(name)
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    #expect(chmod(path, bits) == 0)
    return path
  }

  /// A box with the credentials of a machine's role, which an earlier version stored in the state folder.
  private func box() throws -> (BlackBox, MetadataServer) {
    let role = MetadataServer.Keys(
      id: FakeCredential.standard.keyID, secret: FakeCredential.standard.secret, token: "role-token",
      expiration: "2099-01-01T00:00:00Z")
    let server = try MetadataServer(.instance(keys: role), token: "t")
    var box = try BlackBox()
    box.fake.setCredentials([FakeCredential(keyID: role.id, secret: role.secret, sessionToken: role.token)])
    try box.sample("f", 6 * mebi)
    box.environment["AWS_REGION"] = "us-east-1"
    for name in ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"] { box.environment[name] = nil }
    box.environment["AWS_EC2_METADATA_DISABLED"] = "false"
    box.environment["AWS_EC2_METADATA_SERVICE_ENDPOINT"] = server.url
    box.environment["AWS_METADATA_SERVICE_TIMEOUT"] = "100"
    return (box, server)
  }

  @Test(
    "An existing folder keeps its mode, whatever is created in it, and whether the command fails or not",
    arguments: [0o755, 0o775, 0o777, 0o1777] as [mode_t])
  func modes(_ bits: mode_t) async throws {
    let (box, server) = try box()
    let shared = try folder(box, "shared", bits)
    let failed = try await box.run("put", "none", "s3://bucket/k", "--state-dir", "shared")
    #expect(failed.status == 66 && mode(shared) == bits)
    try await box.run(put + ["--state-dir", "shared"]).expectSuccess()
    #expect(mode(shared) == bits)
    let here = try await box.shell("cd shared && \"$S3UP\" put ../f s3://bucket/k --part-size 5M --state-dir .")
    here.expectSuccess()
    #expect(mode(shared) == bits && mode(shared + "/uploads") == 0o700)
    server.set(MetadataServer.rolePath, .init(500, ""))
    #expect(try await box.run(put + ["--state-dir", "shared"]).status != 0)
    #expect(mode(shared) == bits)
  }

  @Test("Missing folders are created private, and existing ones keep their mode")
  func missing() async throws {
    let (box, server) = try box()
    let above = try folder(box, "above", 0o775)
    try await box.run(put + ["--state-dir", "above/a/b"]).expectSuccess()
    #expect(mode(above) == 0o775)
    for name in ["/a", "/a/b", "/a/b/uploads"] { #expect(mode(above + name) == 0o700) }
    #expect(server.asked.count == 3)
  }

  @Test("Another program's folder named uploads is not changed; if others can write it, it is refused")
  func otherProgram() async throws {
    let (box, server) = try box()
    let uploads = try folder(box, "site/uploads", 0o755)
    try box.files.write("page", to: "site/uploads/index.html")
    try box.files.write("mine", to: "site/instance")
    try await box.run(put + ["--state-dir", "site"]).expectSuccess()
    #expect(mode(uploads) == 0o755)
    #expect(try FileManager.default.contentsOfDirectory(atPath: uploads) == ["index.html"])
    #expect(try box.files.read("site/instance") == Array("mine".utf8))
    #expect(chmod(uploads, 0o777) == 0)
    try await box.run(put + ["--state-dir", "site"]).expectFailure(78, "other users", "--state-dir")
    #expect(mode(uploads) == 0o777 && !server.asked.isEmpty)
  }

  @Test("Lessons that another user could have written are not trusted, and one message says so")
  func plantedLesson() async throws {
    let box = try BlackBox()
    try box.sample("f", 100)
    let lesson = "s3up stores 1\n\(box.fake.endpoint) none \(Int(Date().timeIntervalSince1970))\n"
    let file = try box.files.write(lesson, to: "state/stores")
    let run = ["put", "f", "s3://bucket/k", "--state-dir", "state"]
    try await box.run(run).expectSuccess()
    #expect(box.fake.requests(.putObject).last?.headers["x-amz-checksum-crc64nvme"] == nil)
    #expect(chmod(file, 0o666) == 0)
    let result = try await box.run(run)
    #expect(result.status == 0 && result.errors.split(separator: "\n").count == 1, "\(result.errors)")
    #expect(result.errors.contains("state/stores") && result.errors.contains("--state-dir"), "\(result.errors)")
    #expect(box.fake.requests(.putObject).last?.headers["x-amz-checksum-crc64nvme"] != nil)
  }

  @Test("No run leaves a machine's credentials on disk")
  func noCredentials() async throws {
    let (box, server) = try box()
    let state = try folder(box, "state", 0o700)
    try await box.run(put + ["--state-dir", "state"]).expectSuccess()
    for case let name as String in FileManager.default.enumerator(atPath: state) ?? .init() {
      let bytes = FileManager.default.contents(atPath: state + "/" + name) ?? Data()
      #expect(!bytes.contains(Data(FakeCredential.standard.secret.utf8)), "\(name)")
    }
    #expect(server.asked.count == 3)
  }
}
