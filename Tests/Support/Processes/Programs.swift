import Foundation

/// The built executable, run as a user would, with its own home and a clean environment.
package struct S3upBinary: Sendable {
  package let path: String
  /// HOME of the runs, and their working directory.
  package let home: TemporaryDirectory

  /// Finds the program: `S3UP_BINARY` names it; otherwise it is in the build folder of the test bundle.
  package init() throws {
    var folder = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
    var found = ProcessInfo.processInfo.environment["S3UP_BINARY"]
    if let bundle = Self.bundleFolder() { folder = bundle }
    for _ in 0..<4 where found == nil {
      let candidate = folder.appendingPathComponent("s3up").path
      var isDirectory: ObjCBool = false
      if FileManager.default.fileExists(atPath: candidate, isDirectory: &isDirectory), !isDirectory.boolValue,
        FileManager.default.isExecutableFile(atPath: candidate)
      {
        found = candidate
      }
      folder.deleteLastPathComponent()
    }
    guard let found else { throw SystemError("no s3up beside the test bundle", ENOENT) }
    path = found
    home = try TemporaryDirectory("s3up-home")
  }

  /// The test bundle is an argument of the runner, if it is not the runner itself.
  private static func bundleFolder() -> URL? {
    guard let bundle = CommandLine.arguments.first(where: { $0.hasSuffix(".xctest") }) else { return nil }
    return URL(fileURLWithPath: bundle).deletingLastPathComponent()
  }

  package func start(
    _ arguments: [String], environment: [String: String] = [:], input: ChildProcess.Input = .none,
    directory: String? = nil
  ) throws -> ChildProcess {
    try ChildProcess(
      path, arguments,
      // The machine that runs the tests may have a role.
      environment: Programs.environment(home: home.path).merging(["AWS_EC2_METADATA_DISABLED": "true"]) { $1 }
        .merging(environment) { $1 },
      directory: directory ?? home.path, input: input,
      onEnd: arguments.prefix { $0 != "--" }.contains { $0.hasPrefix("--json") } ? Self.keepJSON : nil)
  }

  /// Appends the output to the file that `S3UP_JSON_LINES` names, for the check that the documented schema describes
  /// every line that is ever printed.
  @Sendable private static func keepJSON(_ result: ChildProcess.Result) {
    // A program that was killed may have printed part of a line.
    guard let path = ProcessInfo.processInfo.environment["S3UP_JSON_LINES"],
      let end = result.stdout.lastIndex(of: UInt8(ascii: "\n"))
    else { return }
    let file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
    _ = Glibc.write(file, result.stdout, end + 1)
    close(file)
  }

  package func run(
    _ arguments: [String], environment: [String: String] = [:], input: ChildProcess.Input = .none,
    directory: String? = nil, timeout: Duration = .seconds(600)
  ) async throws -> ChildProcess.Result {
    try await start(arguments, environment: environment, input: input, directory: directory).wait(timeout: timeout)
  }
}

package enum Programs {
  /// The environment of a child: the tests' PATH, a HOME, and the sanitizers' options; nothing else.
  package static func environment(home: String) -> [String: String] {
    let own = ProcessInfo.processInfo.environment
    var environment = ["PATH": own["PATH"] ?? "/usr/bin:/bin", "HOME": home]
    environment["TSAN_OPTIONS"] = own["TSAN_OPTIONS"]
    return environment
  }

  package static func find(_ name: String) throws -> String {
    let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
    for folder in path.split(separator: ":") {
      let candidate = "\(folder)/\(name)"
      if access(candidate, X_OK) == 0 { return candidate }
    }
    throw SystemError(name, ENOENT)
  }

  /// The interpreter itself: what PATH leads to may be a script that looks for it, at more cost than it has to start.
  package static func python() throws -> String { try interpreter.get() }
  private static let interpreter = Result<String, any Error> {
    let found = Process()
    let output = Foundation.Pipe()
    found.executableURL = URL(fileURLWithPath: try find("python3"))
    found.arguments = ["-c", "import sys; print(sys.executable, end='')"]
    found.standardOutput = output
    try found.run()
    found.waitUntilExit()
    return String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
  }
}

/// Runs the system's curl: quiet, without a configuration file, without proxies.
package func curl(
  _ arguments: [String], input: ChildProcess.Input = .none, timeout: Duration = .seconds(600)
) async throws -> ChildProcess.Result {
  try await ChildProcess(
    Programs.find("curl"), ["-q", "-sS", "--noproxy", "*"] + arguments,
    environment: Programs.environment(home: "/nonexistent"), input: input
  ).wait(timeout: timeout)
}
