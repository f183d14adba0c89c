import Foundation
import MultipartBasics
import Support
import Testing

@testable import MultipartCore

@Suite("credential_process", .timeLimit(.minutes(15)))
struct CredentialProcessTests {
  private func find(_ command: String, uptime: (@Sendable () -> Duration)? = nil) async throws -> Result<
    Credentials, Failure
  > {
    let home = try ConfigHome(config: "[default]\ncredential_process = \(command)\n")
    let world = try CredentialWorld(home, uptime: uptime)
    let chain = world.chain()
    do throws(Failure) {
      let found = try await chain.credentials()
      #expect(!world.log.contains("hunter2"))
      return .success(found)
    } catch {
      #expect(!error.message.contains("hunter2") && error.remedy?.contains("hunter2") != true)
      return .failure(error)
    }
  }

  /// A script to be run by a named shell, because a file that was just written cannot be executed while a process that
  /// another test is starting still has it open.
  private func script(_ text: String) throws -> (folder: TemporaryDirectory, path: String) {
    let folder = try TemporaryDirectory("s3up process")
    let path = try folder.write(text, to: "give keys")
    return (folder, path)
  }

  @Test("the program's JSON gives the credentials, with token and expiry")
  func whole() async throws {
    let (folder, path) = try script(
      """
      [ "$1" = "two words" ] && [ "$2" = 'a"b\\c' ] && [ "$3" = '$HOME' ] && [ $# = 3 ] || exit 9
      cat <<'X'
      {"Version": 1, "AccessKeyId": "PROC", "SecretAccessKey": "s-hunter2", "SessionToken": "t-hunter2",
       "Expiration": "2025-06-15T18:06:40+02:00", "AccountId": "1"}
      X
      """)
    let found = try await find("/bin/sh \"\(path)\" 'two words' \"a\\\"b\\c\" $HOME").get()
    #expect(
      found
        == Credentials(
          accessKeyID: "PROC", secretAccessKey: Secret("s-hunter2"), sessionToken: Secret("t-hunter2"),
          expiration: Timestamp(seconds: CredentialWorld.now.seconds + 3600),
          source: "credential_process of profile default"))
    _ = folder
  }

  @Test("without an expiry the credentials are static")
  func endless() async throws {
    let found = try await find(#"/bin/echo '{"Version":1,"AccessKeyId":"P","SecretAccessKey":"s","Expiration":null}'"#)
      .get()
    #expect(found.expiration == nil)
    #expect(found.sessionToken == nil)
  }

  @Test("it is run again each time")
  func anew() async throws {
    let home = try ConfigHome(config: "[default]\ncredential_process = /bin/cat \"keys file\"\n")
    try home.write(
      Array("[default]\ncredential_process = /bin/cat '\(home.path)/keys file'\n".utf8), to: ".aws/config")
    let chain = try CredentialWorld(home).chain()
    for id in ["ONE", "TWO"] {
      try home.write(Array(#"{"Version":1,"AccessKeyId":"\#(id)","SecretAccessKey":"s"}"#.utf8), to: "keys file")
      #expect(try await chain.credentials().accessKeyID == id)
    }
  }

  @Test(
    "the message says what went wrong, but not what the program printed",
    arguments: [
      ("/bin/echo hunter2", "its output is not a JSON object"),
      ("/bin/echo '[\"hunter2\"]'", "its output is not a JSON object"),
      ("/bin/echo '{\"Version\":2,\"AccessKeyId\":\"hunter2\"}'", "its output is not of Version 1"),
      ("/bin/echo '{\"AccessKeyId\":\"hunter2\"}'", "its output is not of Version 1"),
      ("/bin/echo '{\"Version\":1,\"AccessKeyId\":\"hunter2\"}'", "its output has no SecretAccessKey"),
      ("/bin/echo '{\"Version\":1,\"SecretAccessKey\":\"hunter2\"}'", "its output has no AccessKeyId"),
      (
        #"/bin/echo '{"Version":1,"AccessKeyId":"A","SecretAccessKey":"hunter2","Expiration":"soon"}'"#,
        "its output has an invalid Expiration"
      ),
      (
        #"/bin/echo '{"Version":1,"AccessKeyId":"A","SecretAccessKey":"hunter2 x"}'"#,
        "the process returned credentials with characters that no key has"
      ),
      ("/bin/sh -c 'echo hunter2; exit 3'", "it ended with exit code 3"),
      ("/bin/sh -c 'echo hunter2; kill -9 $$'", "it was ended by signal 9"),
      ("/no/such/program hunter2", "the command was not found"),
      ("/usr/bin/yes hunter2", "its output is too long"),
    ])
  func wrong(command: String, message: String) async throws {
    guard case .failure(let found) = try await find(command) else {
      Issue.record("it worked")
      return
    }
    #expect(found.code == .credentials)
    #expect(found.message == "the credential_process of profile default: \(message)")
    #expect(found.remedy != nil)
  }

  @Test("a command that cannot be split into words is a configuration failure", arguments: ["a 'b", "\"\"", "a \\"])
  func noWords(command: String) async throws {
    guard case .failure(let found) = try await find(command) else {
      Issue.record("it worked")
      return
    }
    #expect(found.code == .configuration)
  }

  @Test("expired credentials are refused with the time")
  func ended() async throws {
    let result = try await find(
      #"/bin/echo '{"Version":1,"AccessKeyId":"A","SecretAccessKey":"s","Expiration":"2025-06-15T15:06:40Z"}'"#)
    guard case .failure(let found) = result else {
      Issue.record("it worked")
      return
    }
    #expect(found.code == .credentialsExpired)
    #expect(found.message.hasSuffix("returned credentials that expired at 2025-06-15T15:06:40Z"))
  }

  @Test("a program that does not end is killed, even if it ignores the first signal, and no process of it remains")
  func tooSlow() async throws {
    let (folder, path) = try script("trap '' TERM\necho $$ >\"$(dirname \"$0\")/pid\"\nwhile :; do sleep 0.05; done\n")
    // Its time is over as soon as it runs.
    let uptime: @Sendable () -> Duration = {
      access(folder.path("pid"), F_OK) == 0 ? .seconds(61) : .zero
    }
    guard case .failure(let found) = try await find("/bin/sh '\(path)'", uptime: uptime) else {
      Issue.record("it worked")
      return
    }
    #expect(found.message == "the credential_process of profile default: it took too long")
    let pid = try #require(
      Int32(String(decoding: folder.read("pid"), as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)))
    #expect(kill(pid, 0) == -1 && errno == ESRCH)
  }

  @Test(
    "a program that runs on is ended if it takes too long or is stopped, also when it has closed its output",
    .timeLimit(.minutes(1)), arguments: [false, true], [false, true])
  func runsOn(isStopped: Bool, closesOutput: Bool) async throws {
    let output = closesOutput ? "exec >&-" : ""
    let (folder, path) = try script(
      "cd \"$(dirname \"$0\")\"\n\(output)\necho $$ >new\nmv new pid\nexec sleep 1000\n")
    let begun: @Sendable () -> Bool = { access(folder.path("pid"), F_OK) == 0 }
    let world = World(
      now: { CredentialWorld.now }, uptime: { !isStopped && begun() ? .seconds(601) : .zero },
      sleep: { try await Task.sleep(for: $0) }, random: { 0 }, environment: [:])
    let words = ["/bin/sh", path].map { Array($0.utf8) }
    let run = Task { () async throws(Failure) in
      try await ProgramOutput.of(words, within: .seconds(600), world: world)
    }
    try await until("the program runs") { begun() }
    if isStopped { run.cancel() }
    guard case .failure = await run.result else {
      Issue.record("it worked")
      return
    }
    let pid = try #require(
      Int32(String(decoding: folder.read("pid"), as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)))
    #expect(kill(pid, 0) == -1 && errno == ESRCH)
  }

  @Test("processes that it has started, such as an agent, may continue and are not waited for")
  func agent() async throws {
    let (folder, path) = try script(
      """
      here=$(dirname "$0")
      # For as long as the test has its folder.
      while [ -d "$here" ]; do sleep 1; done &
      echo $! >"$here/pid"
      echo '{"Version":1,"AccessKeyId":"A","SecretAccessKey":"s"}'
      """)
    let found = try await find("/bin/sh '\(path)'").get()
    #expect(found.accessKeyID == "A")
    let pid = try #require(
      Int32(String(decoding: folder.read("pid"), as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)))
    // The process still exists: nothing waited for its end.
    #expect(kill(pid, SIGKILL) == 0)
  }

  @Test(
    "a command is split into words as by AWS's tools",
    arguments: [
      ("a b", ["a", "b"]), ("  a\tb \n c ", ["a", "b", "c"]), ("'a b' c", ["a b", "c"]), ("a'b c'd", ["ab cd"]),
      (#""a \"b\" \c \\""#, [#"a "b" \c \"#]), (#"'a\b'"#, [#"a\b"#]), (#"a\ b \'"#, ["a b", "'"]), ("''", [""]),
      ("a #b", ["a", "#b"]), ("$X ~ *", ["$X", "~", "*"]), ("\"a'b\" 'c\"d'", ["a'b", "c\"d"]), ("", []),
      ("é ü", ["é", "ü"]), ("'a", nil), ("\"a", nil), ("a\\", nil),
    ] as [(String, [String]?)])
  func words(text: String, words: [String]?) {
    #expect(CommandWords.split(text)?.map { String(decoding: $0, as: UTF8.self) } == words)
  }

  @Test(
    "times are read in all the forms that caches and programs write",
    arguments: [
      ("2025-06-15T15:06:40Z", 1_750_000_000), ("2025-06-15T15:06:40.123Z", 1_750_000_000),
      ("2025-06-15T15:06:40UTC", 1_750_000_000), ("2025-06-15T15:06:40+00:00", 1_750_000_000),
      ("2025-06-15 15:06:40Z", 1_750_000_000), ("2025-06-15T17:06:40+02:00", 1_750_000_000),
      ("2025-06-15T09:36:40.5-0530", 1_750_000_000), ("2025-06-15T15:06:40", nil), ("", nil), ("soon", nil),
      ("2025-13-15T15:06:40Z", nil), ("2025-06-15T15:06:40+99:00", nil), ("2025-06-15T15:06:40Zx", nil),
    ] as [(String, Int64?)])
  func moments(text: String, seconds: Int64?) {
    #expect(DateText.iso8601(text)?.seconds == seconds)
  }
}
