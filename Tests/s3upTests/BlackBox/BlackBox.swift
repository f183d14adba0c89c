import Foundation
@testable import MultipartCore
import Testing

@testable import Support

let mebi = 1 << 20

/// What a black-box test needs: a fake store, the built program with its own home, and a folder for files.
struct BlackBox: Sendable {
  let fake: FakeS3
  let binary: S3upBinary
  let files: TemporaryDirectory
  let secure: Bool
  /// The environment of the runs; a test may change it.
  var environment: [String: String]

  init(
    secure: Bool = false, faults: [Fault] = [], _ change: (inout FakeOptions) -> Void = { _ in }
  ) throws {
    fake = try FakeS3(FakeOptions(change), faults: faults)
    binary = try S3upBinary()
    files = try TemporaryDirectory("s3up-files")
    self.secure = secure
    environment = [
      "AWS_ACCESS_KEY_ID": FakeCredential.standard.keyID, "AWS_SECRET_ACCESS_KEY": FakeCredential.standard.secret,
      "AWS_ENDPOINT_URL_S3": secure ? fake.tlsEndpoint : fake.endpoint,
    ]
    if secure { environment["AWS_CA_BUNDLE"] = fake.caFile }
  }

  /// The box of a user who has a ticket but no credentials: its own home, and no variable of AWS.
  var stranger: BlackBox {
    var other = self
    other.environment = secure ? ["AWS_CA_BUNDLE": fake.caFile] : [:]
    return other
  }

  func edit(_ file: String, _ edit: (inout String) -> Void) throws {
    var text = String(decoding: try files.read(file), as: UTF8.self)
    edit(&text)
    try files.write(Array(text.utf8), to: file)
  }

  /// Whether memory and time may be judged: a sanitizer's shadow memory is not the program's, and at its pace gigabytes
  /// take minutes.
  static let measures = (try? S3upBinary().path.contains("-sanitizer/")) != true

  func start(_ arguments: [String], input: ChildProcess.Input = .none) throws -> ChildProcess {
    try binary.start(arguments, environment: environment, input: input, directory: files.path)
  }

  @discardableResult
  func run(_ arguments: String..., input: ChildProcess.Input = .none) async throws -> ChildProcess.Result {
    try await run(arguments, input: input)
  }

  @discardableResult
  func run(
    _ arguments: [String], input: ChildProcess.Input = .none, timeout: Duration = .seconds(100)
  ) async throws -> ChildProcess.Result {
    try await start(arguments, input: input).wait(timeout: timeout)
  }

  /// Starts a line of shell in the folder of the files; `$S3UP` is the program, `$@` are the words.
  func beginShell(_ line: String, _ words: [String]) throws -> ChildProcess {
    var environment = Programs.environment(home: binary.home.path).merging(environment) { $1 }
    environment["AWS_EC2_METADATA_DISABLED"] = environment["AWS_EC2_METADATA_DISABLED"] ?? "true"
    environment["S3UP"] = binary.path
    return try ChildProcess(
      Programs.find("sh"), ["-c", line, "sh"] + words, environment: environment, directory: files.path)
  }

  func shell(_ line: String, _ words: String...) async throws -> ChildProcess.Result {
    try await shell(line, words)
  }

  func shell(_ line: String, _ words: [String]) async throws -> ChildProcess.Result {
    try await beginShell(line, words).wait(timeout: .seconds(100))
  }

  /// A file with random bytes at the start of each 512 KiB and at the end, and zeros between: every block differs, and
  /// the fake's checksum of it is fast.
  @discardableResult
  func sample(_ name: String, _ size: Int, seed: UInt64 = 1) throws -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: size)
    for start in stride(from: 0, to: size, by: 512 << 10) {
      let piece = randomBytes(min(4096, size - start), seed: seed &+ UInt64(start))
      bytes.replaceSubrange(start..<start + piece.count, with: piece)
    }
    if let last = bytes.indices.last { bytes[last] = UInt8(truncatingIfNeeded: seed) | 1 }
    try files.write(bytes, to: name)
    return bytes
  }

  func headers(_ operation: FakeOperation) -> HeaderList { fake.requests(operation).first?.headers ?? [:] }

  /// Expects that neither an object nor a part of one is left at the store.
  func expectNothingLeft(where location: SourceLocation = #_sourceLocation) {
    #expect(fake.objectCount == 0, sourceLocation: location)
    #expect(fake.unfinishedUploads.map(\.id) == [], sourceLocation: location)
  }
}

func sha256(_ bytes: some Sequence<UInt8>) -> String { hex(FakeHash.sha256.of(bytes)) }

extension FakeObject {
  /// Whether these are its bytes; false if the store kept only their checksums.
  func holds(_ bytes: some ContiguousBytes) -> Bool { content == bytes.withUnsafeBytes { Data($0) } }
}

extension ChildProcess.Result {
  /// Checks a failure: exit code, one line with what and where, one line with the remedy, nothing on standard output.
  func expectFailure(
    _ exit: Int32, _ words: String..., where location: SourceLocation = #_sourceLocation
  ) {
    #expect(status == exit, "\(errors)", sourceLocation: location)
    #expect(output == "", sourceLocation: location)
    let lines = errors.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    #expect(lines.count == 3 && lines.last == "", "\(errors)", sourceLocation: location)
    guard lines.count >= 2 else { return }
    #expect(lines[0].hasPrefix("s3up: "), "\(errors)", sourceLocation: location)
    #expect(!lines[1].isEmpty && !lines[1].hasPrefix("s3up: "), "\(errors)", sourceLocation: location)
    for word in words { #expect(errors.contains(word), "\(errors)", sourceLocation: location) }
  }

  /// Expects exit code 0, and nothing on standard error.
  func expectSuccess(where location: SourceLocation = #_sourceLocation) {
    #expect(status == 0 && errors == "", "\(String(describing: status)) \(errors)", sourceLocation: location)
  }

  /// The one JSON object on standard output.
  var json: [String: Any] {
    let lines = self.lines
    guard lines.count == 1, let value = try? JSONSerialization.jsonObject(with: Data(lines[0].utf8)) else { return [:] }
    return value as? [String: Any] ?? [:]
  }
}
