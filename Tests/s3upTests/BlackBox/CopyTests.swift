import Foundation
import Testing

@testable import Support

/// How often the program copies a byte of a part between the mapping and the socket.
@Suite(.crowd, .enabled(if: BlackBox.measures)) struct CopyTests {
  private static let size = 64 * mebi

  /// Whether it contains a libcurl that can borrow the bytes it sends. The system's is a shared library.
  private func lends(_ box: BlackBox) throws -> Bool {
    let program = try Data(contentsOf: URL(fileURLWithPath: box.binary.path), options: .alwaysMapped)
    return program.range(of: Data("libcurl.so".utf8)) == nil
  }

  private func copied(isSecure: Bool) async throws -> (times: Double, lends: Bool) {
    var box = try BlackBox(secure: isSecure)
    let source = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .appending(path: "../../Acceptance/Packaging/copies.c").standardizedFileURL.path
    let counter = box.files.path("copies.so")
    let compiler = try ChildProcess(
      Programs.find("cc"), ["-shared", "-fPIC", "-O2", "-fno-builtin", "-o", counter, source],
      environment: Programs.environment(home: "/"))
    let made = await compiler.wait()
    try #require(made.status == 0, "\(made.errors)")
    box.environment["LD_PRELOAD"] = counter
    box.environment["COPIES"] = box.files.path("copies")
    let bytes = try box.sample("f", Self.size)
    try await box.run("put", "f", "s3://bucket/k", "--part-size", "8M", "--payload-signing", "never").expectSuccess()
    #expect(box.fake.object("k")?.bytes == bytes)
    let sum = try Data(contentsOf: URL(fileURLWithPath: box.files.path("copies")))
    let count = sum.withUnsafeBytes { $0.loadUnaligned(as: UInt64.self) }
    return (Double(count) / Double(Self.size), try lends(box))
  }

  @Test("over HTTP a byte is copied once, into libcurl's buffer, or not at all if libcurl borrows it")
  func plain() async throws {
    let copies = try await copied(isSecure: false)
    #expect(copies.lends ? copies.times < 0.05 : (1...1.1).contains(copies.times), "\(copies)")
  }

  @Test("over TLS OpenSSL copies it into a record, and records are copied once to be sent together")
  func secure() async throws {
    let copies = try await copied(isSecure: true)
    #expect((copies.lends ? 1.9...2.1 : 2.9...3.1).contains(copies.times), "\(copies)")
  }
}
