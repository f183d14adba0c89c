import Foundation
import MultipartBasics
@testable import MultipartCore
import Testing

@testable import Support

@Suite(.crowd) struct SecretTests {
  private static let credential = FakeCredential(
    keyID: "AKIASECRETTESTS", secret: "SecretSecretSecret/+0123456789abcdefABCD",
    sessionToken: "TokenTokenToken/+=0123456789" + String(repeating: "t0Ken", count: 40))
  private static let key = randomBytes(32, seed: 9)

  private func box(faults: [Fault] = []) throws -> BlackBox {
    var box = try BlackBox(secure: true, faults: faults) { $0.credentials = [Self.credential] }
    box.environment["AWS_ACCESS_KEY_ID"] = Self.credential.keyID
    box.environment["AWS_SECRET_ACCESS_KEY"] = Self.credential.secret
    box.environment["AWS_SESSION_TOKEN"] = Self.credential.sessionToken
    try box.sample("f", 6 * mebi)
    try box.files.write(Self.key, to: "key")
    return box
  }

  /// Expects no secret in any form that could have slipped out, and none of the signatures that the store received.
  private func expectNoSecret(
    _ box: BlackBox, _ result: ChildProcess.Result, where location: SourceLocation = #_sourceLocation
  ) {
    let text = result.output + result.errors
    var secrets = [
      Self.credential.secret, Self.credential.sessionToken ?? "", base64(Self.key), hex(Self.key),
      base64(FakeHash.md5.of(Self.key)), hex(FakeHash.md5.of(Self.key)),
      FakeURL.encode((Self.credential.sessionToken ?? "").utf8), FakeURL.encode(Self.credential.secret.utf8),
      FakeURL.encode(base64(Self.key).utf8),
    ]
    for request in box.fake.requests {
      if let header = request.headers["authorization"], let mark = header.range(of: "Signature=") {
        secrets.append(String(header[mark.upperBound...]))
      }
      if let signature = request.query["X-Amz-Signature"] { secrets.append(signature) }
    }
    for secret in secrets {
      #expect(secret.utf8.count >= 24)
      #expect(!text.contains(secret), "\(secret.prefix(8))…", sourceLocation: location)
      // The secret must not be shown in pieces either.
      #expect(!text.contains(secret.prefix(20)), "\(secret.prefix(8))…", sourceLocation: location)
    }
  }

  @Test("-vv shows the requests and no secret", arguments: ["--json=all", "-q", "--explain"])
  func verbose(_ how: String) async throws {
    let box = try box(faults: [Fault(.init(.uploadPart, partNumber: 2, nth: 1), .loseAnswer)])
    let result = try await box.run(
      "put", "f", "s3://bucket/k", "--part-size", "5M", "--sse-c-key-file", "key", "-vv", how)
    #expect(result.status == 0, "\(result.errors)")
    if how != "-q" { #expect(result.errors.contains("UploadPart")) }
    #expect(box.fake.requests.count >= 5)
    expectNoSecret(box, result)
  }

  @Test(
    "no error shows a secret",
    arguments: [
      Fault.Action.error(status: 403, code: "SignatureDoesNotMatch", message: "it was"),
      .error(status: 400, code: "InvalidArgument", message: "odd"), .garbage(), .etag(),
    ])
  func errors(_ action: Fault.Action) async throws {
    let box = try box(faults: [Fault(.init(.uploadPart), action)])
    let result = try await box.run(
      "put", "f", "s3://bucket/k", "--part-size", "5M", "--sse-c-key-file", "key", "-vv", "--retries", "1", "--json")
    #expect(result.status != 0)
    expectNoSecret(box, result)
  }

  @Test("secrets that a store sends back are not shown")
  func echoed() async throws {
    let message = "you sent \(base64(Self.key)) and \(Self.credential.sessionToken ?? "")"
    let box = try box(faults: [
      Fault(
        .init(.createMultipartUpload),
        .error(
          status: 403, code: "AccessDenied", message: message,
          headers: ["x-amz-security-token": Self.credential.sessionToken ?? ""]))
    ])
    let result = try await box.run(
      "put", "f", "s3://bucket/k", "--part-size", "5M", "--sse-c-key-file", "key", "-vv", "--json")
    #expect(result.status == 77)
    expectNoSecret(box, result)
  }

  /// The texts that the store echoes: each secret that it received or knows, in each encoding.
  private static var echoes: [String] {
    [base64(key), hex(key), base64(FakeHash.md5.of(key)), hex(FakeHash.md5.of(key))] + echoesOfCredentials
  }

  /// The echoes of secrets in commands without a customer key.
  private static var echoesOfCredentials: [String] {
    let token = credential.sessionToken ?? ""
    return [
      credential.secret, token, "{signature}",
      FakeURL.encode(token.utf8), FakeURL.encode(credential.secret.utf8).lowercased(), base64(Array(token.utf8)),
      base64(Array(("x" + credential.secret).utf8)), hex(Array(credential.secret.utf8)).uppercased(),
      String(token.map { "&#\($0.asciiValue ?? 32);" }.joined()),
      "Token" + "\\u0054okenToken/+=0123456789" + String(repeating: "t0Ken", count: 40),
      "\(token.prefix(30)) \(token.dropFirst(30))",
    ]
  }

  /// For each echo, the text that must not be shown, and the letters of the encoded ones.
  private func expectNoEcho(
    _ box: BlackBox, _ result: ChildProcess.Result, of echoes: [String] = Self.echoes,
    where location: SourceLocation = #_sourceLocation
  ) {
    expectNoSecret(box, result, where: location)
    let text = result.output + result.errors
    let letters = String(text.filter { $0.isLetter || $0.isNumber })
    for secret in echoes where secret != "{signature}" {
      let wanted = String(secret.filter { $0.isLetter || $0.isNumber })
      let middle = wanted.dropFirst(wanted.count / 2 - 8).prefix(16)
      #expect(!letters.contains(middle), "\(middle) of \(secret.prefix(12))… in \(text)", sourceLocation: location)
    }
    let records = (try? FileManager.default.subpathsOfDirectory(atPath: box.binary.home.path)) ?? []
    for path in records {
      guard let bytes = FileManager.default.contents(atPath: box.binary.home.path + "/" + path) else { continue }
      let kept = String(decoding: bytes, as: UTF8.self)
      for secret in echoes where secret != "{signature}" {
        #expect(!kept.contains(secret.prefix(16)), "\(path)", sourceLocation: location)
      }
    }
  }

  /// All echoes in one field.
  private static let echo = echoes.joined(separator: " and ")

  private static let refusals: [(String, Fault.Action)] = [
    ("Message", .error(status: 403, code: "AccessDenied", message: echo)),
    (
      "headers",
      .error(
        status: 403, code: "AccessDenied",
        headers: ["x-amz-request-id": echo, "x-amz-id-2": echo, "x-echo": echo, "Location": "/b?x=" + echo])
    ),
    (
      "HTML",
      .document(
        status: 502, text: "<html><head><title>\(echo)</title></head><body>\(echo)</body></html>", type: "text/html")
    ),
    ("JSON", .document(status: 400, text: "{\"message\": \"\(echo)\"}", type: "application/json")),
    ("no HTTP", .garbage(text: echo)),
    (
      "redirect",
      .document(
        status: 307,
        text: "<Error><Code>TemporaryRedirect</Code><Endpoint>\(echoesOfCredentials[1])</Endpoint></Error>",
        type: "text/xml")
    ),
  ]

  @Test("no refusal shows secrets that a gateway echoes", arguments: refusals.map(\.0), ["-vv", "--json=all"])
  func refusal(_ field: String, _ how: String) async throws {
    let action = try #require(Self.refusals.first { $0.0 == field }?.1)
    for operation in [FakeOperation.createMultipartUpload, .uploadPart, .completeMultipartUpload] {
      let box = try box(faults: [Fault(.init(operation), action)])
      let result = try await box.run(
        "put", "f", "s3://bucket/k", "--part-size", "5M", "--sse-c-key-file", "key", how, "--retries", "1")
      // A complete whose answer is lost may have succeeded, and is then proven by a HEAD.
      #expect(result.status != 0 || operation == .completeMultipartUpload, "\(operation)")
      expectNoEcho(box, result)
    }
  }

  @Test(
    "no element of an error shows secrets that a gateway echoes",
    arguments: ["Code", "Message", "RequestId", "Resource", "Region", "Endpoint"])
  func element(_ name: String) async throws {
    for echo in Self.echoes {
      let fields = ["Code": "AccessDenied", "Message": "no"].merging([name: echo]) { $1 }
      let text = "<Error>" + fields.map { "<\($0)>\($1)</\($0)>" }.joined() + "</Error>"
      let box = try box(faults: [Fault(.init(.putObject), .document(status: 403, text: text, type: "text/xml"))])
      try box.sample("g", 10)
      let result = try await box.run(
        "put", "g", "s3://bucket/k", "--sse-c-key-file", "key", "-vv", "--json", "--retries", "1")
      #expect(result.status != 0)
      expectNoEcho(box, result)
    }
  }

  @Test("no success shows secrets that a gateway echoes", arguments: ["-vv", "--json=all", "-v"])
  func success(_ how: String) async throws {
    let headers = ["x-amz-version-id": Self.echo, "x-amz-request-id": Self.echo, "x-echo": Self.echo]
    let box = try box(faults: [Fault(.all, .headers(headers))])
    try box.sample("g", 10)
    for words in [["f", "s3://bucket/k", "--part-size", "5M"], ["g", "s3://bucket/g"]] {
      let result = try await box.run(["put"] + words + ["--sse-c-key-file", "key", how])
      #expect(result.status == 0, "\(result.errors)")
      #expect(box.fake.objectCount > 0)
      expectNoEcho(box, result)
    }
    // In fields that are used for more than display, an echo is not a success.
    for fault in [
      Fault(.init(.createMultipartUpload), .uploadID(Self.echoesOfCredentials[1])),
      Fault(.init(.uploadPart), .etag(Self.echoesOfCredentials[1])),
    ] {
      box.fake.setFaults([fault])
      let result = try await box.run("put", "f", "s3://bucket/other", "--part-size", "5M", how, "--retries", "1")
      #expect(result.status != 0)
      expectNoEcho(box, result)
    }
  }

  @Test("a key that shares letters with the secret is uploaded, listed and shown unchanged")
  func alike() async throws {
    let credential = FakeCredential(keyID: "minioadmin", secret: "minioadmin")
    var box = try BlackBox { $0.credentials = [credential] }
    box.environment["AWS_ACCESS_KEY_ID"] = credential.keyID
    box.environment["AWS_SECRET_ACCESS_KEY"] = credential.secret
    let key = "minioadmin/backup of minioadmin.tar"
    let id = try #require(try await box.run("create", "s3://bucket/\(key)").lines.first)
    let listed = try await box.run("uploads", "s3://bucket/", "--json")
    #expect(listed.json["key"] as? String == key && listed.json["upload_id"] as? String == id, "\(listed.output)")
    try box.sample("f", 6 * mebi)
    let result = try await box.run("put", "f", "s3://bucket/\(key)", "--part-size", "5M", "--json")
    #expect(result.status == 0 && result.json["key"] as? String == key, "\(result.errors)")
    #expect(box.fake.object(key) != nil)
  }

  @Test("the single steps, listings and doctor show no secrets that a gateway echoes")
  func steps() async throws {
    let box = try box()
    let id = try #require(try await box.run("create", "s3://bucket/k").lines.first)
    let echoes = Self.echoesOfCredentials
    let echo = echoes.joined(separator: " and ")
    let headers = Fault(.all, .headers(["x-amz-version-id": echo, "ETag": echo, "x-amz-request-id": echo]))
    let list = Fault(.all, .uploadID(echoes[1]))
    let refused = Fault(.all, .error(status: 403, code: "AccessDenied", message: echo))
    for fault in [headers, list, refused] {
      box.fake.setFaults([fault])
      for words in [
        ["part", "f", "s3://bucket/k", "--upload-id", id, "--part", "1"],
        ["parts", "s3://bucket/k", "--upload-id", id],
        ["uploads", "s3://bucket"], ["create", "s3://bucket/k2"], ["doctor", "s3://bucket"],
        ["complete", "s3://bucket/k", "--upload-id", id], ["abort", "s3://bucket/k", "--upload-id", id],
      ] {
        for how in ["-vv", "--json"] {
          let tries = words.first == "doctor" ? [] : ["--retries", "1"]
          let result = try await box.run(words + [how] + tries)
          #expect(result.status != 64, "\(words) \(result.errors)")
          expectNoEcho(box, result, of: echoes)
        }
      }
    }
  }

  @Test("a password that a proxy repeats is not shown")
  func proxy() async throws {
    let password = "Proxy/Pass+Word=0123456789"
    var box = try BlackBox(
      secure: true, faults: [Fault(.all, .error(status: 407, code: "No", message: "it was \(password)!"))])
    try box.sample("f", 10)
    box.environment["https_proxy"] = "http://user:\(FakeURL.encode(password.utf8))@127.0.0.1:\(box.fake.port)"
    box.environment["no_proxy"] = ""
    let result = try await box.run("put", "f", "s3://bucket/k", "--retries", "1", "-vv")
    #expect(result.status != 0)
    #expect(!box.fake.requests.isEmpty)
    for secret in [password, FakeURL.encode(password.utf8), base64(Array("user:\(password)".utf8))] {
      #expect(!result.errors.contains(secret.prefix(16)), "\(result.errors)")
    }
  }

  @Test("the process list shows no secret of a running upload, and no presigned URL from the environment")
  func processList() async throws {
    var box = try box(faults: [Fault(.init(.uploadPart, partNumber: 1), .stall(stage: .withinBody))])
    let child = try box.start(["put", "f", "s3://bucket/k", "--part-size", "5M", "--sse-c-key-file", "key"])
    #expect(await box.fake.wait { $0.contains { $0.operation == .uploadPart } })
    let words = try String(contentsOfFile: "/proc/\(child.pid)/cmdline", encoding: .utf8)
    #expect(words.contains("s3://bucket/k"))
    for secret in [Self.credential.secret, base64(Self.key), Self.credential.sessionToken ?? ""] {
      #expect(!words.contains(secret))
    }
    child.signal(SIGTERM)
    _ = await child.wait()

    box.fake.setFaults([])
    let id = try #require(try await box.run("create", "s3://bucket/k").lines.first)
    let url = try #require(
      try await box.run("presign", "s3://bucket/k", "--upload-id", id, "--part", "1").lines.first)
    box.environment["S3UP_URL"] = url
    let result = try await box.run("part", "f", "-vv")
    #expect(result.status == 0, "\(result.errors)")
    #expect(box.fake.requests.last?.presigned == true)
    expectNoSecret(box, result)
  }

  @Test("a failed presigned URL is shown without its signature")
  func presignedFailure() async throws {
    var box = try box()
    let id = try #require(try await box.run("create", "s3://bucket/k").lines.first)
    let url = try #require(
      try await box.run("presign", "s3://bucket/k", "--upload-id", id, "--part", "1").lines.first)
    box.environment["S3UP_URL"] = url
    box.fake.setClockOffset(86_400)
    let result = try await box.run("part", "f", "-vv", "--json")
    #expect(result.status == 77, "\(result.errors)")
    #expect(result.errors.contains("presigned URL"))
    expectNoSecret(box, result)
    // Now the host of the URL cannot be reached.
    box.fake.stop()
    let unreachable = try await box.run("part", "f", "-vv", "--retries", "1")
    #expect(unreachable.status == 75)
    expectNoSecret(box, unreachable)
  }

  @Test("help and usage errors show nothing of the environment")
  func help() async throws {
    let box = try box()
    for words in [
      ["help", "put"], ["put", "--nonsense"], ["put", "f", "s3://bucket/k", "--explain", "--retries", "0"],
    ] {
      expectNoSecret(box, try await box.run(words))
    }
  }

  @Test("a secret with a line break is refused without being shown")
  func brokenSecret() async throws {
    var box = try box()
    box.environment["AWS_SECRET_ACCESS_KEY"] = "Secret0Secret0Secret0Secret0Secret0\nX-Evil: 1"
    let result = try await box.run("put", "f", "s3://bucket/k", "-vv")
    #expect(result.status == 77)
    #expect(!result.errors.contains("Secret0Secret0"))
    #expect(box.fake.requests.isEmpty)
  }
}
