import Foundation
import MultipartBasics
@testable import MultipartCore
import Testing

@testable import Support

/// Which credentials a run takes, and what it says of the services that issue them.
@Suite(.crowd) struct CredentialServiceTests {
  private static let old = FakeCredential(keyID: "AKIAOLDOLDOLDOLD", secret: "OldSecretOldSecret/+0123456789abcdef")
  private static let new = FakeCredential(keyID: "AKIANEWNEWNEWNEW", secret: "NewSecretNewSecret/+0123456789abcdef")
  private static let pod = FakeCredential(keyID: "AKIAPODPODPODPOD", secret: "PodSecretPodSecret/+0123456789abcdef")
  private static let put = ["put", "f", "s3://bucket/k", "--part-size", "5M"]

  private var box: BlackBox

  init() throws {
    box = try BlackBox { $0.credentials = [Self.old, Self.new, Self.pod] }
    box.environment["AWS_ACCESS_KEY_ID"] = nil
    box.environment["AWS_SECRET_ACCESS_KEY"] = nil
  }

  private static func file(_ one: FakeCredential, profile: String = "default") -> String {
    "[\(profile)]\naws_access_key_id = \(one.keyID)\naws_secret_access_key = \(one.secret)\n"
  }

  private func writeCredentials(_ text: String) throws {
    try box.binary.home.write(text, to: ".aws/credentials")
  }

  private func signers() -> Set<String> {
    Set(
      box.fake.requests.compactMap {
        $0.headers["Authorization"]?.split(separator: "=").dropFirst().first.map { String($0.prefix { $0 != "/" }) }
      })
  }

  /// The environment in which a role is assumed at this address.
  private func withRole(at url: String, _ box: BlackBox) throws -> BlackBox {
    var box = box
    box.environment["AWS_ACCESS_KEY_ID"] = nil
    box.environment["AWS_SECRET_ACCESS_KEY"] = nil
    box.environment["AWS_WEB_IDENTITY_TOKEN_FILE"] = try box.files.write("eyJ.jwt.jwt", to: "token")
    box.environment["AWS_ROLE_ARN"] = "arn:aws:iam::1:role/pod"
    box.environment["AWS_ENDPOINT_URL_STS"] = url
    return box
  }

  @Test("A run whose credentials file is gone at a renewal waits for it, and never takes the container's keys")
  func keeps() async throws {
    let container = try LocalService { _ in
      .init(200, #"{"AccessKeyId": "\#(Self.pod.keyID)", "SecretAccessKey": "\#(Self.pod.secret)"}"#)
    }
    var box = box
    box.environment["AWS_CONTAINER_CREDENTIALS_FULL_URI"] = container.url + "/keys"
    try writeCredentials(Self.file(Self.old))
    try box.sample("f", 20 * mebi)
    let gate = try box.files.write("", to: "gate")
    box.fake.setFaults([
      Fault(.init(.createMultipartUpload), .hold(file: gate, stage: .beforeAnswer)),
      Fault(.init(.uploadPart, keyID: Self.old.keyID), .error(status: 400, code: "ExpiredToken")),
    ])
    let child = try box.start(Self.put + ["--wait-for-credentials", "5m"])
    try await until("the upload has begun", within: .seconds(100)) {
      child.ended || !box.fake.requests(.createMultipartUpload).isEmpty
    }
    try FileManager.default.removeItem(atPath: box.binary.home.path(".aws/credentials"))
    try FileManager.default.removeItem(atPath: gate)
    try await until("new credentials are waited for", within: .seconds(100)) {
      child.ended || String(decoding: child.stderr, as: UTF8.self).contains("waiting for new credentials")
    }
    // The new id with the old secret, as a file that is being rewritten has them for a moment.
    try writeCredentials(Self.file(FakeCredential(keyID: Self.new.keyID, secret: Self.old.secret)))
    try await until("the half-written keys are refused", within: .seconds(100)) {
      child.ended || box.fake.requests.contains { $0.errorCode == "SignatureDoesNotMatch" }
    }
    try writeCredentials(Self.file(Self.new))
    let result = await child.wait(timeout: .seconds(100))
    #expect(result.status == 0, "\(result.errors)")
    #expect(signers() == [Self.old.keyID, Self.new.keyID])
    #expect(container.asked.isEmpty)
  }

  @Test("S3UP_PROFILE wins over the environment's keys like --profile, and AWS_PROFILE does not")
  func profileVariable() async throws {
    var box = box
    try writeCredentials(Self.file(Self.new, profile: "dev"))
    try box.sample("f", 100)
    box.environment["AWS_ACCESS_KEY_ID"] = Self.old.keyID
    box.environment["AWS_SECRET_ACCESS_KEY"] = Self.old.secret
    box.environment["AWS_PROFILE"] = "dev"
    try await box.run(Self.put).expectSuccess()
    #expect(signers() == [Self.old.keyID])
    box.environment["S3UP_PROFILE"] = "dev"
    #expect(try await box.run("head", "s3://bucket/k").status == 0)
    #expect(signers() == [Self.old.keyID, Self.new.keyID])
  }

  @Test("The default profile's settings count although the environment has region, endpoint and keys")
  func defaultProfile() async throws {
    var box = box
    box.environment["AWS_ACCESS_KEY_ID"] = Self.old.keyID
    box.environment["AWS_SECRET_ACCESS_KEY"] = Self.old.secret
    box.environment["AWS_REGION"] = "us-east-1"
    try box.sample("f", 12 * mebi)
    try box.binary.home.write(
      "[default]\ns3 =\n  multipart_chunksize = 5MB\n", to: ".aws/config")
    try await box.run("put", "f", "s3://bucket/k").expectSuccess()
    #expect(box.fake.requests(.uploadPart).count == 3)
    // An unusable file that nothing is needed from does not matter.
    try box.binary.home.write("[default\n", to: ".aws/config")
    try await box.run("put", "f", "s3://bucket/l").expectSuccess()
  }

  @Test("--insecure is for the store: STS is verified, with the authority of --ca-bundle")
  func insecure() async throws {
    let secure = try BlackBox(secure: true)
    var box = try withRole(at: secure.fake.tlsEndpoint, secure)
    box.environment["AWS_CA_BUNDLE"] = nil
    try box.sample("f", 100)
    let put = ["put", "f", "s3://bucket/k", "--insecure", "--retries", "1"]
    try await box.run(put).expectFailure(69, "AssumeRoleWithWebIdentity of STS", "--ca-bundle")
    let exam = try await box.run("doctor", "s3://bucket", "--insecure")
    #expect(exam.output.contains("AssumeRoleWithWebIdentity of STS"), "\(exam.output)")
    #expect(!box.fake.requests.contains { $0.method == "POST" })
    // With the authority the request is sent; the fake store is no STS.
    let trusted = try await box.run(put + ["--ca-bundle", box.fake.caFile])
    #expect(trusted.status != 69, "\(trusted.errors)")
    #expect(box.fake.requests.contains { $0.method == "POST" })
  }

  @Test("A service of credentials that does not answer is named, with where its address comes from")
  func unanswered() async throws {
    let box = try withRole(at: "http://127.0.0.1:1", box)
    try box.sample("f", 100)
    try await box.run(Self.put).expectFailure(
      75, "s3up: no answer to AssumeRoleWithWebIdentity of STS from http://127.0.0.1:1: ",
      "\nCheck the network, and the address, which is set by AWS_ENDPOINT_URL_STS\n")
    #expect(box.fake.requests.isEmpty)
  }

  @Test("With --wait-for-credentials a source that fails for a while is waited for at the first look too")
  func waitsAtFirst() async throws {
    let count = Guarded(0)
    let sts = try LocalService { _ in
      guard
        count.with({ count in
          count += 1; return count > 5
        })
      else { return .init(503) }
      return .init(
        200,
        """
        <R><Credentials><AccessKeyId>\(Self.new.keyID)</AccessKeyId><SecretAccessKey>\(Self.new.secret)</SecretAccessKey>
        <Expiration>2100-01-01T00:00:00Z</Expiration></Credentials></R>
        """)
    }
    let box = try withRole(at: sts.url, box)
    try box.sample("f", 100)
    let result = try await box.run(Self.put + ["--wait-for-credentials", "2m"])
    #expect(result.status == 0 && result.errors.contains("waiting for new credentials"), "\(result.errors)")
    #expect(signers() == [Self.new.keyID])
  }
}
