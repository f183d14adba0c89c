import Testing

@testable import Support

/// libcurl is loaded by the program and not by the linker, so the program has to say that it cannot be.
@Suite(.crowd) struct LibraryTests: DoctorSuite {
  /// A folder whose libcurl is no library.
  private static func withoutLibcurl(_ box: BlackBox) throws -> BlackBox {
    var box = box
    try box.files.write("", to: "libcurl.so.4")
    box.environment["LD_LIBRARY_PATH"] = box.files.path
    return box
  }

  @Test("Without libcurl everything that sends ends in 75 with its name, and what sends nothing works")
  func missing() async throws {
    let box = try Self.withoutLibcurl(try BlackBox())
    try box.sample("f", 6 * mebi)
    for words in [
      ["put", "f", "s3://bucket/k"], ["put", "f", "s3://bucket/k", "--part-size", "5M"], ["create", "s3://bucket/k"],
      ["uploads", "s3://bucket"],
    ] {
      try await box.run(words).expectFailure(75, "libcurl cannot be loaded", "libcurl.so.4", "Install libcurl")
    }
    try await box.run("--version").expectSuccess()
    try await box.run("presign", "s3://bucket/k").expectSuccess()
    #expect(box.fake.requests.isEmpty)
  }

  @Test("doctor says so too, and what it could find out all the same")
  func doctor() async throws {
    let said = try await doctor(try Self.withoutLibcurl(try box()), "s3://bucket")
    said.expect("connection", exit: 75, says: ["libcurl cannot be loaded"], mends: "libcurl4")
    #expect(said["version"]?.mark == "ok" && said["credentials"]?.mark == "ok")
  }
}
