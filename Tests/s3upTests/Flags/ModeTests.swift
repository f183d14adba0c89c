import Foundation
@testable import MultipartCore
import Support
import Testing

@testable import s3up

/// Which mode a command has, and which options belong to it.
@Suite(.timeLimit(.minutes(15))) struct ModeTests {
  private func parse(_ line: String, _ environment: [String: String] = [:]) throws -> Invocation {
    try Parser.parse(line.split(separator: " ").map { Argument(String($0)) }, environment: environment)
  }

  private func refusal(_ line: String, _ environment: [String: String] = [:]) -> Failure? {
    do {
      _ = try parse(line, environment)
      return nil
    } catch {
      return error as? Failure
    }
  }

  @Test(
    "Arguments and options determine what a command does",
    arguments: [
      ("put f s3://b/k", .putOne), ("put f s3://b/k --skip-same", .putOne), ("put a b s3://b/p/", .putMany),
      ("put -r d s3://b/", .putMany), ("put f s3://b/k --dry-run", .putMany), ("put --batch l", .putMany),
      ("put f s3://b/k --no-fail-fast", .putOne), ("put --from-command s3://b/k -- a b c", .putOne),
      ("put f --ticket t", .putByTicket), ("put / --ticket t", .putByTickets),
      ("put --ticket t --from-command -- /", .putByTicket), ("part f s3://b/k --upload-id i --part 1", .partSigned),
      ("part f --url https://h/", .partByURL), ("ticket issue f s3://b/k -o t", .issueOne),
      ("ticket issue -r d s3://b/ -o t", .issueMany), ("ticket issue --files-from l s3://b/ -o t", .issueMany),
      ("ticket show t", .showTicket), ("ticket renew t", .renewTicket), ("ticket finish t", .finishTicket),
      ("ticket revoke t", .revokeTicket), ("help put", .help),
    ] as [(String, Mode)])
  func found(_ line: String, _ mode: Mode) throws {
    #expect(try parse(line).mode == mode)
  }

  @Test(
    "An option that does not fit the mode is refused by its name, with what to do instead",
    arguments: [
      ("put -r d s3://b/ --expect-size 3", "--expect-size is not for a run of many files", "by itself"),
      ("put f s3://b/p --dry-run --expect-size 3", "--expect-size is not for", "leave out --dry-run"),
      ("put a b s3://b/p/ --if-match x", "--if-match is not for a run of many files", "by itself"),
      ("put -r d s3://b/ --website-redirect /x", "--website-redirect is not for a run of many files", "by itself"),
      ("put --from-command s3://b/k -r -- cat", "-r is not for an upload of one file or stream", "a run of many files"),
      ("put f s3://b/k --parts 1-3", "--parts is not for an upload of one file or stream", "--ticket"),
      ("put f --ticket t --acl private", "--acl is not for an upload by the ticket of one file", "was settled when"),
      (
        "put f --ticket t --dry-run", "--dry-run is not for an upload by the ticket of one file",
        "Leave it out: it is for a run of many files"
      ),
      ("put f --ticket t --region r", "--region is not for an upload by the ticket", "was settled when"),
      ("put f --ticket t --verify", "--verify is not for an upload by the ticket", "was settled when"),
      ("put f --ticket t --failed-to l", "--failed-to is not for an upload by the ticket", "folder"),
      (
        "put / --ticket t --shard 1/2", "--shard is not for a folder that is uploaded by its tickets",
        "it is for the ticket of one file"
      ),
      ("put / --ticket t --tag a=b", "--tag is not for a folder that is uploaded by its tickets", "was settled when"),
      ("part f --url https://h/ --part 1", "--part is not for a part that is sent to a presigned URL", "names its"),
      ("ticket show t --tag a=b", "--tag is not for ticket show", "the ticket of one file"),
      ("ticket finish t --part-size 8M", "--part-size is not for ticket finish", "the ticket of one file"),
      ("ticket revoke t --as-it-is", "--as-it-is is not for ticket revoke", "it is for ticket finish"),
      ("ticket renew t --size 3", "--size is not for ticket renew", "the ticket of one file"),
      ("ticket issue -r d s3://b/ --size 3", "--size is not for the tickets of many files", "one by one"),
      ("ticket issue -r d s3://b/ --if-match x", "--if-match is not for the tickets of many files", "one by one"),
    ])
  func refused(_ line: String, _ message: String, _ remedy: String) throws {
    let failure = try #require(refusal(line))
    #expect(failure.code == .usage)
    #expect(failure.message.hasPrefix(message), "\(failure)")
    #expect(failure.remedy?.contains(remedy) == true, "\(failure)")
  }

  @Test("A variable that only says how a run of many goes makes no run of many; one that names files or outputs does")
  func variablesOfMany() throws {
    let manners = [
      "S3UP_FAIL_FAST": "1", "S3UP_NON_UTF8": "restore", "S3UP_ALLOW_EMPTY": "1", "S3UP_EXCLUDE": "*.tmp",
    ]
    for (line, mode) in [
      ("get s3://b/k f", Mode.getOne), ("get s3://b/k -", .getOne), ("put f s3://b/k", .putOne),
      ("verify f s3://b/k", .verifyOne), ("ticket issue f s3://b/k -o t", .issueOne),
    ] { #expect(try parse(line, manners).mode == mode, "\(line)") }
    #expect(try parse("put f s3://b/k", ["S3UP_DRY_RUN": "1"]).mode == .putMany)
    #expect(try parse("get s3://b/k f", ["S3UP_DRY_RUN": "1"]).mode == .getMany)
    #expect(try parse("put d s3://b/p/", ["S3UP_RECURSIVE": "1"]).mode == .putMany)
    #expect(try parse("put -r d s3://b/p/", manners).given[.failFast] != nil)
  }

  @Test("A variable about one file is refused for many, and others that do not fit the mode are ignored")
  func variables() throws {
    let size = ["S3UP_EXPECT_SIZE": "3"]
    #expect(refusal("put -r d s3://b/", size)?.message.hasPrefix("S3UP_EXPECT_SIZE is not for") == true)
    #expect(refusal("put / --ticket t", size)?.message.hasPrefix("S3UP_EXPECT_SIZE is not for") == true)
    #expect(try parse("ticket show t", ["S3UP_SIZE": "x", "S3UP_TAG": "a=b"]).given.isEmpty)
    let all = ["S3UP_ACL": "private", "AWS_REGION": "r", "S3UP_VERIFY": "1", "S3UP_STATE_DIR": "/s"]
    #expect(try parse("put f --ticket t", all).given.keys.sorted { "\($0)" < "\($1)" } == [.ticket])
    #expect(try parse("put / --ticket t", all).given.keys.sorted { "\($0)" < "\($1)" } == [.ticket])
    #expect(try parse("put f s3://b/k", ["S3UP_PARTS": "1-3"]).given.isEmpty)
    #expect(try parse("put -r d s3://b/", ["S3UP_WEBSITE_REDIRECT": ""]).mode == .putMany)
  }

  @Test("Each option is for a mode of its command, and each mode belongs to one command")
  func belongs() {
    for flag in FlagList.all { #expect(!flag.modes.commands.isEmpty, "\(flag.long)") }
    for mode in Mode.allCases { #expect(ModeSet(mode).commands.count == 1, "\(mode)") }
  }
}
