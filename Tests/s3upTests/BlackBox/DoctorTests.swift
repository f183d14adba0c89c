import Foundation
import MultipartBasics
@testable import MultipartCore
import Testing

@testable import Support

@Suite(.crowd) struct DoctorTests: DoctorSuite {
  @Test("if everything is fine, each step is named, the exit code is 0, and nothing is left at the store")
  func good() async throws {
    let box = try box()
    let said = try await doctor(box, "s3://bucket/pre/")
    #expect(said.status == 0 && said.failed.isEmpty, "\(said.all)")
    #expect(said["credentials"]?.message.hasPrefix("AKIA…STS1 from environment, temporary") == true, "\(said.all)")
    #expect(said["region"]?.message == "us-east-1 (default)")
    #expect(said["endpoint"]?.message == "\(box.fake.endpoint) (AWS_ENDPOINT_URL_S3), bucket in the path")
    #expect(said["address"]?.message == "127.0.0.1")
    #expect(said["connection"]?.message.contains("127.0.0.1 port \(box.fake.port), round trip") == true)
    #expect(said["tls"]?.message == "none: plain HTTP, within this machine")
    #expect(said["clock"]?.mark == "ok")
    #expect(said["upload"]?.message.contains("CRC64NVME verified by the store") == true)
    #expect(said["upload"]?.message.hasSuffix("listed and ended; nothing is left") == true)
    #expect(said["lifecycle"]?.mark == "ok")
    #expect(said["state"]?.mark == "ok")
    let operations: [FakeOperation] = [
      .headBucket, .createMultipartUpload, .uploadPart, .listParts, .abortMultipartUpload, .listParts,
    ]
    #expect(box.fake.requests.map(\.operation) == operations)
    #expect(box.fake.requests(.uploadPart).first?.key.hasPrefix("pre/.s3up-doctor-") == true)
    #expect(box.fake.requests.first?.headers["authorization"] == nil)
    box.expectNothingLeft()
    // Examining the folder does not create it.
    #expect(!FileManager.default.fileExists(atPath: box.binary.home.path + "/.local"))
  }

  @Test("over TLS it names version and certificate; without verification it warns")
  func secure() async throws {
    let box = try box(secure: true)
    let said = try await doctor(box, "s3://bucket")
    #expect(said.status == 0, "\(said.all)")
    #expect(said["tls"]?.mark == "ok" && said["tls"]?.message.hasPrefix("TLSv1.3, ") == true, "\(said.all)")
    #expect(said["tls"]?.message.hasSuffix(", verified") == true)
    let blind = try await doctor(box, "s3://bucket", "--insecure")
    blind.expect("tls", "warn", exit: 0, says: ["not verified"], mends: "--ca-bundle")
    box.expectNothingLeft()
  }

  @Test("no credentials: 77, with the sources tried, and the rest is examined")
  func noCredentials() async throws {
    var box = try box()
    for name in ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"] { box.environment[name] = nil }
    let said = try await doctor(box, "s3://bucket")
    said.expect("credentials", exit: 77, says: ["no credentials", "the environment"], mends: "AWS_ACCESS_KEY_ID")
    #expect(said["connection"]?.mark == "ok" && said["clock"]?.mark == "ok")
    #expect(box.fake.requests.map(\.operation) == [.headBucket])
  }

  @Test("wrong secret: 77, with the source of the credentials")
  func wrongSecret() async throws {
    var box = try box()
    box.environment["AWS_SECRET_ACCESS_KEY"] = "wrong"
    let said = try await doctor(box, "s3://bucket")
    said.expect(
      "credentials", exit: 77, says: ["AKIA…STS1 from environment", "SignatureDoesNotMatch"], mends: "secret key")
    box.expectNothingLeft()
  }

  @Test("expired credentials: 77, according to the store")
  func ended() async throws {
    let box = try box()
    let ended = FakeCredential(
      keyID: Self.credential.keyID, secret: Self.credential.secret, sessionToken: Self.credential.sessionToken,
      ends: box.fake.now.seconds - 60)
    box.fake.setCredentials([ended])
    try await doctor(box, "s3://bucket").expect(
      "credentials", exit: 77, says: ["ExpiredToken"], mends: "new credentials")
  }

  @Test("wrong region: 78, with the command that corrects it where it was set; the bucket is examined anyway")
  func wrongRegion() async throws {
    var box = try box { $0.region = "eu-test-1" }
    let plain = try await doctor(box, "s3://bucket")
    plain.expect("region", exit: 78, says: ["us-east-1 (default)", "eu-test-1"], mends: "--region eu-test-1")
    #expect(plain["upload"]?.mark == "ok")
    box.environment["AWS_REGION"] = "us-west-2"
    try await doctor(box, "s3://bucket").expect(
      "region", exit: 78, says: ["us-west-2 (AWS_REGION)"], mends: "export AWS_REGION=eu-test-1")
    box.environment["AWS_REGION"] = nil
    try box.binary.home.write("[default]\nregion = us-west-2\n", to: ".aws/config")
    try await doctor(box, "s3://bucket").expect(
      "region", exit: 78, says: ["us-west-2 (profile default)"],
      mends: "aws configure set region eu-test-1 --profile default")
    box.expectNothingLeft()
  }

  @Test("no such bucket: 69")
  func noBucket() async throws {
    let box = try box()
    try await doctor(box, "s3://nobucket/x").expect(
      "bucket", exit: 69, says: ["s3://nobucket does not exist", "NoSuchBucket"], mends: "aws s3 mb s3://nobucket")
    box.expectNothingLeft()
  }

  @Test(
    "a forbidden request is named with the missing permission",
    arguments: [
      (FakeOperation.createMultipartUpload, "upload", "fail", Int32(77), "ACL) on arn:aws:s3:::bucket/pre/*"),
      (.createMultipartUpload, "upload", "fail", 77, "llow s3:PutObject ("),
      (.uploadPart, "upload", "fail", 77, "s3:PutObject"),
      (.listParts, "list", "warn", 0, "s3:ListMultipartUploadParts"),
    ])
  func denied(_ operation: FakeOperation, _ check: String, _ mark: String, _ exit: Int32, _ mend: String) async throws {
    let box = try box(faults: [Fault(.init(operation), .error(status: 403, code: "AccessDenied"))])
    try await doctor(box, "s3://bucket/pre/").expect(check, mark, exit: exit, says: ["AccessDenied"], mends: mend)
    box.expectNothingLeft()
  }

  @Test("an upload that may not be aborted is named, with the command that aborts it once that is allowed")
  func abortDenied() async throws {
    let box = try box(faults: [Fault(.init(.abortMultipartUpload), .error(status: 403, code: "AccessDenied"))])
    let said = try await doctor(box, "s3://bucket")
    said.expect("abort", exit: 77, says: ["is left", "AccessDenied"], mends: "s3:AbortMultipartUpload")
    box.fake.setFaults([])
    let line = try #require(said["abort"]?.hint.components(separatedBy: "run: s3up ").last)
    #expect(try await box.shell("\"$S3UP\" " + line).status == 0)
    box.expectNothingLeft()
  }

  @Test("an unwritable state folder is a warning with a remedy, and the upload is examined")
  func state() async throws {
    let box = try box()
    try box.files.write([1], to: "file")
    try await doctor(box, "s3://bucket", "--state-dir", "file/state").expect(
      "state", "warn", exit: 0, says: ["file/state"], mends: "--state-dir")
    try await doctor(box, "s3://bucket", "--state-dir", "file").expect(
      "state", "warn", exit: 0, says: ["not a folder"], mends: "--state-dir")
  }

  @Test("records of unfinished uploads are counted")
  func records() async throws {
    let box = try box(faults: [Fault(.init(.uploadPart, nth: 2), .error(status: 403, code: "AccessDenied"))])
    try box.sample("big", 20 * mebi)
    #expect(try await box.run("put", "big", "s3://bucket/k", "--concurrency", "1").status == 77)
    let said = try await doctor(box, "s3://bucket")
    #expect(said["state"]?.message.contains("1 unfinished recorded") == true, "\(said.all)")
    #expect(box.fake.unfinishedUploads.count == 1)
  }

  @Test("a lost answer to the first step leaves nothing behind")
  func lost() async throws {
    let box = try box(faults: [Fault(.init(.createMultipartUpload, nth: 1), .loseAnswer)])
    let said = try await doctor(box, "s3://bucket")
    #expect(said.status == 75 && said["upload"]?.mark == "fail", "\(said.all)")
    #expect(box.fake.requests(.abortMultipartUpload).count == 1)
    box.expectNothingLeft()
  }

  @Test("a store without checksums is asked with MD5")
  func lesserStore() async throws {
    let box = try box { $0.checksums = .notImplemented }
    let said = try await doctor(box, "s3://bucket")
    #expect(said.status == 0 && said["upload"]?.mark == "ok", "\(said.all)")
    #expect(box.fake.requests(.uploadPart).last?.headers["content-md5"] != nil)
    box.expectNothingLeft()
  }

  @Test("a store that takes no checksum at all is asked without one, as an upload would")
  func leastStore() async throws {
    let refusal = Fault.Action.error(status: 501, code: "NotImplemented")
    let box = try box(
      faults: [Fault(.init(.createMultipartUpload, nth: 1), refusal), Fault(.init(.uploadPart, nth: 1), refusal)])
    let said = try await doctor(box, "s3://bucket")
    #expect(said.status == 0 && said["upload"]?.mark == "ok", "\(said.all)")
    let last = box.fake.requests(.uploadPart).last?.headers
    #expect(last != nil && last?["content-md5"] == nil && last?["x-amz-checksum-crc64nvme"] == nil)
    box.expectNothingLeft()
  }

  @Test(
    "a part's answer that an upload would not accept is a failure",
    arguments: [
      (["x-amz-checksum-crc64nvme": "AAAAAAAAAAA="], 65, "received other bytes"),
      (["ETag": ""], 75, "without an ETag"),
      (["ETag": "\"d41d8cd98f00b204e9800998ecf8427e\"", "x-amz-checksum-crc64nvme": ""], 65, "not the MD5"),
    ] as [([String: String], Int32, String)])
  func falseAnswer(_ headers: [String: String], _ status: Int32, _ words: String) async throws {
    let box = try box(faults: [Fault(.init(.uploadPart), .headers(headers))])
    let said = try await doctor(box, "s3://bucket")
    #expect(said.status == status && said["upload"]?.mark == "fail", "\(said.all)")
    #expect(said["upload"]?.message.contains(words) == true, "\(said.all)")
    box.expectNothingLeft()
  }

  @Test("SIGINT aborts the upload that was begun: 130")
  func interrupted() async throws {
    let box = try box(faults: [Fault(.init(.uploadPart), .stall())])
    let child = try box.start(["doctor", "s3://bucket", "--stall-timeout", "60s"])
    #expect(await box.fake.wait { $0.contains { $0.operation == .uploadPart } })
    child.signal(SIGINT)
    #expect(await child.wait(timeout: .seconds(30)).status == 130)
    box.expectNothingLeft()
  }

  @Test("a lifecycle rule is found by the store's date, or by the bucket's rules, or is missing, or is unknown")
  func lifecycle() async throws {
    func rules(_ prefix: String) -> String {
      "<LifecycleConfiguration><Rule><ID>tidy</ID><Filter><Prefix>\(prefix)</Prefix></Filter><Status>Enabled</Status>"
        + "<AbortIncompleteMultipartUpload><DaysAfterInitiation>7</DaysAfterInitiation></AbortIncompleteMultipartUpload>"
        + "</Rule></LifecycleConfiguration>"
    }
    let box = try box {
      $0.abortDate = nil
      $0.lifecycle = rules("pre/")
    }
    let found = try await doctor(box, "s3://bucket/pre/")
    #expect(found["lifecycle"]?.message == "the rule tidy aborts unfinished uploads after 7 days", "\(found.all)")
    try await doctor(box, "s3://bucket/other/").expect(
      "lifecycle", "warn", exit: 0, says: ["no rule"], mends: "AbortIncompleteMultipartUpload")
    box.fake.setFaults([Fault(.init(.getBucketLifecycle), .error(status: 403, code: "AccessDenied"))])
    try await doctor(box, "s3://bucket/pre/").expect(
      "lifecycle", "warn", exit: 0, says: ["not known", "AccessDenied"], mends: "s3:GetLifecycleConfiguration")
  }

  @Test("STS reports who signs, and its refusal is one of the credentials")
  func identity() async throws {
    let isWrong = Guarded(false)
    let sts = try LocalService { _ in
      isWrong.with { $0 }
        ? .init(
          403, "<ErrorResponse><Error><Code>InvalidClientTokenId</Code><Message>no</Message></Error></ErrorResponse>")
        : .init(
          200,
          "<GetCallerIdentityResponse><GetCallerIdentityResult><Arn>arn:aws:iam::123456789012:user/ci</Arn>"
            + "<Account>123456789012</Account></GetCallerIdentityResult></GetCallerIdentityResponse>")
    }
    var box = try box()
    box.environment["AWS_ENDPOINT_URL_STS"] = sts.url
    let said = try await doctor(box)
    #expect(said.status == 0, "\(said.all)")
    #expect(said["identity"]?.message == "account 123456789012, arn:aws:iam::123456789012:user/ci")
    #expect(sts.asked.first?.form["Action"] == "GetCallerIdentity")
    isWrong.with { $0 = true }
    try await doctor(box).expect("credentials", exit: 77, says: ["InvalidClientTokenId"], mends: "id and secret")
  }

  @Test("without a bucket no signed request is sent, and state, proxy and versions are reported")
  func noBucketNamed() async throws {
    let box = try box()
    let said = try await doctor(box)
    #expect(said.status == 0, "\(said.all)")
    #expect(said["version"]?.message.contains("libcurl ") == true && said["proxy"]?.message == "none")
    #expect(said["endpoint"]?.message == "\(box.fake.endpoint) (AWS_ENDPOINT_URL_S3)")
    #expect(said["bucket"] == nil && said["upload"] == nil)
    #expect(box.fake.requests.allSatisfy { $0.headers["authorization"] == nil })
  }

  @Test("for people each finding is a line with its mark and one with its remedy; -q shows only problems")
  func lines() async throws {
    let box = try box { $0.abortDate = nil }
    let all = try await box.run("doctor", "s3://bucket")
    #expect(all.status == 0 && all.errors == "", "\(all.errors)")
    #expect(all.lines.first?.hasPrefix("ok    version      s3up ") == true, "\(all.output)")
    let quiet = try await box.run("doctor", "s3://bucket", "-q", "--color", "always")
    #expect(quiet.lines.count == 2, "\(quiet.output)")
    #expect(quiet.lines.first?.hasPrefix("\u{1b}[33mwarn\u{1b}[0m  lifecycle") == true)
    #expect(quiet.lines.last?.hasPrefix("                   add a rule") == true)
  }

  @Test("unusable settings are 78, an invalid bucket is 64")
  func settings() async throws {
    var box = try box()
    try await box.run("doctor", "bucket").expectFailure(64, "s3://")
    try await box.run("doctor", "s3://bucket", "s3://other").expectFailure(64, "too many")
    box.environment["AWS_PROFILE"] = "nobody"
    let said = try await doctor(box, "s3://bucket")
    #expect(said.status == 78 && said["settings"]?.message.contains("nobody") == true, "\(said.all)")
    #expect(said["state"]?.mark == "ok")
  }
}
