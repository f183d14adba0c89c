import Foundation
@testable import MultipartCore
import Support
import Testing

/// `--notify`: the result of a run is sent to a URL, and the delivery does not affect the run.
@Suite(.timeLimit(.minutes(15))) struct NotifyTests {
  private func told(_ service: LocalService) -> [[String: Any]] {
    service.asked.compactMap { (try? JSONSerialization.jsonObject(with: Data($0.body))) as? [String: Any] }
  }

  @Test("Put, get and verify report how they ended, with the object that --json prints")
  func results() async throws {
    let box = try BlackBox()
    let service = try LocalService { _ in .init(200) }
    let notify = ["--notify", service.url + "/hook?k=v"]
    try box.sample("f", 3000)
    let put = try await box.run(["put", "f", "s3://bucket/k", "--json"] + notify)
    put.expectSuccess()
    try await box.run(["get", "s3://bucket/k", "g", "-q"] + notify).expectSuccess()
    try await box.run(["verify", "f", "s3://bucket/k"] + notify).expectSuccess()
    #expect(String(decoding: service.asked[0].body, as: UTF8.self) + "\n" == put.output)
    #expect(told(service).map { $0["event"] as? String } == ["completed", "completed", "verified"])
    for asked in service.asked {
      #expect(asked.method == "POST" && asked.target == "/hook?k=v")
      #expect(asked.headers["Content-Type"] == "application/json" && asked.headers["X-S3up-Signature-256"] == nil)
    }
  }

  @Test(
    "For many files the summary is sent, for a ticket the object; a run whose standard output is the object reports too"
  )
  func others() async throws {
    let box = try BlackBox()
    let service = try LocalService { _ in .init(204) }
    let notify = ["--notify", service.url]
    for name in ["t/a", "t/b"] { try box.sample(name, 100) }
    try await box.run(["put", "-r", "t", "s3://bucket/p/"] + notify).expectSuccess()
    try await box.run("ticket", "issue", "t/a", "s3://bucket/by-ticket", "-o", "t.json").expectSuccess()
    #expect(try await box.stranger.run(["put", "t/a", "--ticket", "t.json"] + notify).status == 0)
    let shown = try await box.run(["get", "s3://bucket/p/a", "-"] + notify)
    #expect(shown.status == 0)
    let told = told(service)
    #expect(told.map { $0["event"] as? String } == ["summary", "completed", "completed"])
    #expect(told.first?["uploaded"] as? Int == 2 && told.last?["destination"] as? String == "-")
  }

  @Test("A failure is reported with its exit code; --notify-on chooses")
  func occasions() async throws {
    let box = try BlackBox()
    let service = try LocalService { _ in .init(200) }
    try box.sample("f", 100)
    for (occasion, count) in [("always", 2), ("failure", 1), ("success", 1)] {
      let before = service.asked.count
      let notify = ["--notify", service.url, "--notify-on", occasion]
      try await box.run(["put", "f", "s3://bucket/k"] + notify).expectSuccess()
      try await box.run(["put", "missing", "s3://bucket/k"] + notify).expectFailure(66)
      #expect(service.asked.count - before == count, "\(occasion)")
    }
    let failure = try #require(told(service).first { $0["event"] as? String == "failed" })
    #expect(failure["exit"] as? Int == 66 && failure["source"] as? String == "missing")
  }

  @Test("The body is signed with a secret from a file or a variable, which is never shown")
  func signed() async throws {
    var box = try BlackBox()
    let service = try LocalService { _ in .init(200) }
    try box.sample("f", 100)
    try box.files.write("a secret of hooks\n", to: "secret")
    let put = ["put", "f", "s3://bucket/k", "-vv", "--notify", service.url + "/a-hidden-path"]
    var shown = [try await box.run(put + ["--notify-secret-file", "secret"])]
    box.environment["S3UP_NOTIFY_SECRET"] = "a secret of hooks\n"
    shown.append(try await box.run(put))
    for (result, asked) in zip(shown, service.asked) {
      #expect(result.status == 0)
      let sum = try await box.shell("printf %s \"$1\" | openssl dgst -sha256 -hmac 'a secret of hooks' -r", asked.text)
      #expect(asked.headers["X-S3up-Signature-256"] == "sha256=" + sum.output.prefix(64))
      #expect(!result.errors.contains("secret of hooks") && !result.errors.contains("hidden-path"), "\(result.errors)")
    }
    #expect(service.asked.count == 2)
  }

  @Test("A refusal, a redirect and an echo cost one line without the URL's path, and never change the exit code")
  func refused() async throws {
    let box = try BlackBox()
    try box.sample("f", 100)
    for status in [404, 302, 410] {
      let service = try LocalService { asked in
        .init(status, asked.target, headers: ["Location": "http://127.0.0.1:1/\(asked.target)"])
      }
      let url = service.url + "/hidden/path?token=hunter2"
      let result = try await box.run("put", "f", "s3://bucket/k", "--notify", url)
      #expect(result.status == 0 && service.asked.count == 1)
      #expect(
        result.errors.contains(
          "s3up: --notify: \(service.url) answered \(status); the notification was not delivered\n"))
      #expect(result.errors.split(separator: "\n").count == 1, "\(result.errors)")
      #expect(!result.errors.contains("hidden") && !result.errors.contains("hunter2"), "\(result.errors)")
    }
  }

  @Test("Failures that may pass are retried, and a URL that never answers does not end the run")
  func retried() async throws {
    let box = try BlackBox()
    try box.sample("f", 100)
    let answers = Guarded([500, 429, 200])
    let service = try LocalService { _ in .init(answers.with { $0.isEmpty ? 200 : $0.removeFirst() }) }
    try await box.run("put", "f", "s3://bucket/k", "--notify", service.url).expectSuccess()
    #expect(service.asked.count == 3)
    let silent = try LocalService { _ in .init(200, "", .close) }
    let result = try await box.run("put", "f", "s3://bucket/k", "--notify", silent.url)
    #expect(result.status == 0 && result.errors.contains("the notification was not delivered"), "\(result.errors)")
    #expect((2...5).contains(silent.asked.count))
  }

  @Test("The query of a URL without a path is not shown either, and the host's exemption from a proxy holds")
  func queryAlone() async throws {
    var box = try BlackBox()
    try box.sample("f", 100)
    let service = try LocalService { _ in .init(404, "no hook s3cret-hook") }
    box.environment["http_proxy"] = "http://127.0.0.1:1"
    box.environment["no_proxy"] = "127.0.0.1"
    let result = try await box.run("put", "f", "s3://bucket/k", "--notify", service.url + "?k=s3cret-hook", "-vv")
    #expect(result.status == 0 && result.errors.contains("the notification was not delivered"), "\(result.errors)")
    #expect(service.asked.count == 1 && !result.errors.contains("s3cret"), "\(result.errors)")
  }

  @Test("A signal while a silent URL is waited for ends the program with the run's own code")
  func impatient() async throws {
    let box = try BlackBox()
    try box.sample("f", 100)
    let silent = try LocalService { _ in .init(200, "", .hang) }
    let run = try box.start(["put", "f", "s3://bucket/k", "--notify", silent.url])
    try await until("the URL is asked") { !silent.asked.isEmpty }
    run.signal(SIGTERM)
    #expect(await run.wait().status == 0)
  }

  @Test("A URL that cannot be used is 64 before anything is sent, and its secrets are not shown")
  func wrong() async throws {
    let box = try BlackBox()
    try box.sample("f", 100)
    for url in ["host/s3cret", "ftp://h/s3cret", "https://u:s3cret@h/", "https://h/a b s3cret", "https://"] {
      let result = try await box.run("put", "f", "s3://bucket/k", "--notify", url)
      result.expectFailure(64, "--notify")
      #expect(!result.errors.contains("s3cret"), "\(result.errors)")
    }
    try box.files.write("\n", to: "empty")
    try box.files.write([0xFF, 0x41], to: "binary")
    for (file, word) in [("empty", "is empty"), ("binary", "is not a text")] {
      try await box.run(
        "put", "f", "s3://bucket/k", "--notify", "http://127.0.0.1:1", "--notify-secret-file", file
      ).expectFailure(78, word)
    }
    #expect(box.fake.requests.isEmpty)
  }
}
