import Support
import Testing

/// Resources that the machine refuses to the program, or is configured to handle differently.
@Suite(.crowd) struct MachineLimitTests {
  // A sanitizer starts its own threads before main.
  @Test(
    "if no thread can be started, that is reported with 75 at once, and nothing hangs", .enabled(if: BlackBox.measures))
  func noThread() async throws {
    let box = try BlackBox()
    try box.sample("f", 100)
    // The limit of the stack is the size of every thread's: 128 TiB are more than the address space of a process.
    let result = try await box.shell(#"ulimit -s 137438953472 && exec "$S3UP" put f s3://bucket/k"#)
    result.expectFailure(75, "no thread could be started")
    #expect(box.fake.requests.isEmpty)
  }

  /// Runs a command without /proc, where this user may make name spaces.
  private static let withoutProc = ["-rm", "sh", "-c", "mount -t tmpfs none /proc && exec \"$@\"", "sh"]

  private static func canHideProc() async -> Bool {
    let hidden = try? await ChildProcess(
      Programs.find("unshare"), withoutProc + ["true"], environment: Programs.environment(home: "/nonexistent")
    ).wait()
    return hidden?.status == 0
  }

  // A sanitizer reads /proc itself, and complains.
  @Test(
    "Without /proc, as in a chroot, it fails at the start: it would have no command line and no threads",
    .enabled("name spaces can be made") { if BlackBox.measures { await canHideProc() } else { false } })
  func noProc() async throws {
    let box = try BlackBox()
    try box.sample("f", 100)
    let words = Self.withoutProc + [box.binary.path, "put", "f", "s3://bucket/k"]
    let result = try await box.shell(#"exec unshare "$@""#, words)
    result.expectFailure(75, "/proc is not mounted", "mount -t proc")
    #expect(box.fake.requests.isEmpty)
  }

  @Test("a signature that OpenSSL's configured providers cannot make is 75, and not made without them")
  func noProvider() async throws {
    var box = try BlackBox()
    try box.sample("f", 100)
    box.environment["OPENSSL_CONF"] = try box.files.write(fipsOnly, to: "openssl.cnf")
    try await box.run("put", "f", "s3://bucket/k").expectFailure(75, "OpenSSL cannot compute SHA-256", "OPENSSL_CONF")
    #expect(box.fake.requests.isEmpty)
  }

  @Test("With few open files allowed a run of many works, and with too few it fails at the start")
  func fewDescriptors() async throws {
    let box = try BlackBox()
    for number in 0..<60 { try box.sample("t/\(number)", 2000, seed: UInt64(number)) }
    let few = try await box.shell(#"ulimit -n 48; exec "$S3UP" put -r t s3://bucket/p/"#)
    few.expectSuccess()
    #expect(box.fake.objectCount == 60)
    let raised = try await box.shell(#"ulimit -S -n 16; exec "$S3UP" put -r t s3://bucket/q/"#)
    raised.expectSuccess()
    for number in 0..<300 { try box.sample("wide/\(number)/f", 10) }
    let wide = try await box.shell(#"ulimit -n 96; exec "$S3UP" put -r wide s3://bucket/w/"#)
    wide.expectSuccess()
    #expect(box.fake.objectCount == 420)
    let before = box.fake.requests.count
    let none = try await box.shell(#"ulimit -n 16; exec "$S3UP" put -r t s3://bucket/r/"#)
    none.expectFailure(75, "this process may have 16 files open, and needs 48", "ulimit -n 48")
    let json = try await box.shell(#"ulimit -n 16; exec "$S3UP" put -r t s3://bucket/r/ --json"#)
    #expect(json.status == 75 && json.json["event"] as? String == "failed", "\(json.output) \(json.errors)")
    #expect(json.json["hint"] as? String == "raise the limit: ulimit -n 48 or more")
    #expect(box.fake.requests.count == before)
  }
}
