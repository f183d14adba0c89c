import Support
import Testing

@testable import MultipartCore

/// An examination as another program calls it.
@Suite(.timeLimit(.minutes(15))) struct ExamineTests {
  private let fake: FakeS3
  private let folder: TemporaryDirectory

  init() throws {
    fake = try FakeS3()
    folder = try TemporaryDirectory()
  }

  private func options() -> StoreOptions {
    var options = StoreOptions()
    options.environment = fake.environment().merging(["HOME": folder.path]) { own, _ in own }
    return options
  }

  @Test("Everything is checked below the prefix, and nothing is left at the store")
  func good() async throws {
    let findings = try await Store.examine(options(), bucket: "bucket") { "pre/" }
    #expect(findings.allSatisfy { $0.mark != .fail }, "\(findings)")
    let upload = try #require(findings.first { $0.check == .upload })
    guard case .string(let key)? = upload.facts["key"] else { throw Failure(.local, "no key: \(upload)") }
    #expect(key.hasPrefix("pre/"))
    #expect(fake.unfinishedUploads.isEmpty && fake.object(key) == nil)
  }

  @Test("A prefix that cannot be found out is a failure of the credentials, and nothing is sent")
  func noPrefix() async throws {
    let findings = try await Store.examine(options(), bucket: "bucket") { () async throws(Failure) in
      throw Failure(.credentials, "no identity")
    }
    let finding = try #require(findings.first { $0.check == .credentials })
    #expect(finding.mark == .fail && finding.code == .credentials && finding.text.contains("no identity"))
    #expect(!fake.requests.contains { $0.operation == .createMultipartUpload })
  }

  @Test("Without signatures it says so in the library's words")
  func unsigned() async throws {
    var options = options()
    options.credentials = .unsigned
    let finding = try await Store.examine(options).first { $0.check == .credentials }
    #expect(finding?.text.contains("as the options say") == true, "\(String(describing: finding))")
  }

  @Test("Cancelling aborts the upload that was begun, and returns what was found until then")
  func cancelled() async throws {
    fake.setFaults([Fault(.init(.uploadPart), .stall())])
    var options = options()
    options.stallTimeout = .seconds(60)
    let task = Task { [options] in try await Store.examine(options, bucket: "bucket") }
    #expect(await fake.wait { $0.contains { $0.operation == .uploadPart } })
    task.cancel()
    let findings = try await task.value
    #expect(findings.contains { $0.check == .connection && $0.mark == .ok }, "\(findings)")
    #expect(fake.unfinishedUploads.isEmpty)
  }

  @Test("An address that is none is a finding, and the state folder is examined all the same")
  func unusable() async throws {
    var options = options()
    options.endpoint = "ftp://example.com"
    let findings = try await Store.examine(options, bucket: "bucket")
    #expect(findings.first { $0.mark == .fail }?.check == .settings, "\(findings)")
    #expect(findings.contains { $0.check == .state })
  }
}
