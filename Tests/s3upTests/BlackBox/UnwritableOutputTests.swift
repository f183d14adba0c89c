import Foundation
@testable import MultipartCore
import Testing

@testable import Support

/// Ways in which output cannot be written; `{}` is the command.
enum Unwritable: String, CaseIterable, CustomTestStringConvertible {
  case full = "{} >/dev/full"
  case closed = "{} >&-"
  /// A pipe whose only reader was this shell itself.
  case unread = "rm -f pipe; mkfifo pipe; exec 3<>pipe 4>pipe 3<&-; {} >&4"

  var testDescription: String { "\(self)" }

  func line(_ command: String) -> String { rawValue.replacingOccurrences(of: "{}", with: "\"$S3UP\" " + command) }
}

@Suite(.crowd) struct UnwritableOutputTests {
  private let key = "s3://bucket/k"

  private func records(_ box: BlackBox) -> [String] {
    (try? FileManager.default.contentsOfDirectory(atPath: box.binary.home.path + "/.local/state/s3up/uploads")) ?? []
  }

  private func upload(_ box: BlackBox, parts: Int = 1) async throws -> String {
    let id = try #require(try await box.run("create", key).lines.first)
    try box.sample("p", 100)
    for number in 1...parts {
      try await box.run("part", "p", key, "--upload-id", id, "--part", String(number)).expectSuccess()
    }
    return id
  }

  @Test(
    "A published and proven object is a success even if its line cannot be written, and its record is deleted",
    arguments: Unwritable.allCases, [true, false])
  func put(_ how: Unwritable, _ inParts: Bool) async throws {
    let box = try BlackBox()
    let bytes = try box.sample("f", inParts ? 6 * mebi : 100)
    let put = "put f \(key) --part-size 5M"
    let plain = try await box.shell(how.line(put))
    #expect(plain.status == 0, "\(plain.errors)")
    #expect(plain.errors.hasPrefix("s3up: cannot write to standard output: "), "\(plain.errors)")
    #expect(plain.errors.contains("uploaded f to \(key)") && plain.errors.split(separator: "\n").count == 1)
    #expect(records(box) == [])
    let quiet = try await box.shell(how.line(put + " -q"))
    #expect(quiet.status == 0 && quiet.errors == "", "\(quiet.errors)")
    for option in ["--json", "--json=all"] {
      let json = try await box.shell(how.line(put + " " + option))
      json.expectFailure(74, "standard output", "uploaded f to \(key)")
      #expect(records(box) == [])
    }
    #expect(box.fake.object("k")?.holds(bytes) == true)
    #expect(box.fake.unfinishedUploads.isEmpty)
  }

  @Test("A run that is killed before its result is printed still has its record, and the next one sends nothing")
  func killedBefore() async throws {
    let box = try BlackBox()
    try box.sample("f", 6 * mebi)
    let words = ["put", "f", key, "--part-size", "5M"]
    // The pipe is full, and its reader does not read.
    let line = "mkfifo pipe; exec 3<>pipe; dd if=/dev/zero bs=4096 oflag=nonblock >&3 2>/dev/null; "
    let child = try box.beginShell(line + "exec \"$S3UP\" \"$@\" >pipe", words)
    #expect(await box.fake.wait { $0.contains { $0.operation == .completeMultipartUpload } })
    // Until then the run holds the lock of the object.
    let other = try await box.run(words + ["--wait-lock=1s"])
    #expect(other.status == 75 && other.errors.contains("another run"), "\(other.errors)")
    child.signal(SIGKILL)
    #expect(await child.wait().signal == SIGKILL)
    #expect(records(box).contains { $0.hasSuffix(".record") })
    let before = box.fake.requests.count
    try await box.run(words).expectSuccess()
    #expect(box.fake.partsSent(since: before) == [])
    #expect(records(box) == [])
  }

  @Test(
    "A file that failed or was not reached decides the exit status, even if the result cannot be written",
    arguments: Unwritable.allCases, ["", "--json", "--json=all"])
  func failedFile(_ how: Unwritable, _ option: String) async throws {
    let box = try BlackBox()
    try box.sample("f", 100)
    let put = try await box.shell(how.line("put f none s3://bucket/ \(option)"))
    #expect(put.status == 66, "\(put.errors)")
    #expect(put.errors.contains("the result is: 1 file uploaded, 1 failed"), "\(put.errors)")
    let verify = try await box.shell(how.line("verify f none s3://bucket/ \(option)"))
    #expect(verify.status == 66 && verify.errors.contains("the result is: 1 file verified, 1 failed"))
    for name in ["a", "b"] { try box.sample(name, 100) }
    box.fake.setFaults([Fault(.init(.putObject, key: "b"), .stall())])
    let late = try await box.shell(how.line("put a b s3://bucket/ --deadline 2s \(option)"))
    #expect(late.status == 75 && late.errors.contains("the result is: 1 file uploaded"), "\(late.errors)")
    for result in [put, verify, late] { #expect(!result.errors.contains("succeeded"), "\(result.errors)") }
  }

  @Test("A ticket's failure decides the exit status, and a ticket whose result cannot be printed has not failed")
  func tickets() async throws {
    let box = try BlackBox()
    for name in ["a", "b"] { try box.sample("d/" + name, 10) }
    try await box.run("ticket", "issue", "-r", "d", "s3://bucket/p", "-o", "t.jsonl").expectSuccess()
    let denied = Fault(.init(key: "p/a"), .error(status: 403, code: "AccessDenied"))
    for (action, done) in [("show", Int32(75)), ("revoke", 74)] {
      box.fake.setFaults([denied])
      let refused = try await box.shell(Unwritable.full.line("ticket \(action) t.jsonl --json"))
      #expect(refused.status == 77 && refused.errors.contains("1 of 2 tickets failed"), "\(refused.errors)")
      box.fake.setFaults([])
      let all = try await box.shell(Unwritable.full.line("ticket \(action) t.jsonl --json"))
      #expect(all.status == done && !all.errors.contains("tickets failed"), "\(all.errors)")
    }
    #expect(box.fake.unfinishedUploads.isEmpty)
  }

  @Test("A trouble that doctor finds decides its exit status, and is told", arguments: ["", "--json"])
  func doctor(_ option: String) async throws {
    let box = try BlackBox()
    let result = try await box.shell(Unwritable.full.line("doctor s3://nobucket \(option)"))
    #expect(result.status == 69 && result.errors.contains("NoSuchBucket"), "\(result.errors)")
  }

  @Test("uploads --clean whose list was cut short is 75 even if it cannot print what it aborted")
  func cutList() async throws {
    let box = try BlackBox()
    let id = try await upload(box)
    let page =
      "<ListMultipartUploadsResult><IsTruncated>true</IsTruncated><NextKeyMarker>k</NextKeyMarker>"
      + "<Upload><Key>k</Key><UploadId>\(id)</UploadId><Initiated>2020-01-01T00:00:00Z</Initiated></Upload>"
      + "</ListMultipartUploadsResult>"
    box.fake.setFaults([
      Fault(.init(.listMultipartUploads), .document(status: 200, text: page, type: "application/xml"))
    ])
    let result = try await box.shell(
      Unwritable.full.line("uploads s3://bucket --clean --all --older-than 7d --json"))
    #expect(result.status == 75 && result.errors.contains("more uploads than are read here"), "\(result.errors)")
    #expect(!result.errors.contains("itself succeeded"), "\(result.errors)")
    #expect(result.errors.contains("the result is: aborted 1 upload"), "\(result.errors)")
    #expect(box.fake.unfinishedUploads.isEmpty)
  }

  @Test("A published stream is a success even if its line cannot be written", arguments: Unwritable.allCases)
  func stream(_ how: Unwritable) async throws {
    let box = try BlackBox()
    let result = try await box.shell(how.line("put --from-command \(key) -- echo words"))
    #expect(result.status == 0 && result.errors.contains("standard output"), "\(result.errors)")
    let json = try await box.shell(how.line("put --json --from-command \(key) -- echo words"))
    json.expectFailure(74, "standard output")
    #expect(box.fake.object("k")?.size == 6)
  }

  @Test("complete and abort succeed even if their lines cannot be written", arguments: Unwritable.allCases)
  func steps(_ how: Unwritable) async throws {
    let box = try BlackBox()
    for (command, was) in [("complete", "completed \(key)"), ("abort", "aborted \(key)")] {
      for option in ["", "--json"] {
        let id = try await upload(box)
        let result = try await box.shell(how.line("\(command) \(key) --upload-id '\(id)' \(option)"))
        #expect(result.status == (option.isEmpty ? 0 : 74), "\(result.errors)")
        #expect(result.errors.contains("standard output") && result.errors.contains(was), "\(result.errors)")
        #expect(box.fake.unfinishedUploads.isEmpty)
      }
    }
  }

  @Test("a part whose ETag cannot be printed is 74, and at the store", arguments: Unwritable.allCases)
  func part(_ how: Unwritable) async throws {
    let box = try BlackBox()
    let id = try await upload(box)
    for option in ["", "--json"] {
      let result = try await box.shell(how.line("part p \(key) --upload-id '\(id)' --part 2 \(option)"))
      result.expectFailure(74, "the part is at the store", "s3up parts")
    }
    #expect(box.fake.unfinishedUploads.first?.parts.count == 2)
  }

  @Test(
    "A step whose purpose is its output fails if it cannot be written", arguments: Unwritable.allCases,
    [
      "presign s3://bucket/k", "presign s3://bucket/k --json", "parts s3://bucket/k --upload-id '{id}'",
      "parts s3://bucket/k --upload-id '{id}' --json", "uploads s3://bucket", "uploads s3://bucket --json", "help",
      "completions bash", "--version",
    ])
  func purpose(_ how: Unwritable, _ command: String) async throws {
    let box = try BlackBox()
    let id = try await upload(box)
    let result = try await box.shell(how.line(command.replacingOccurrences(of: "{id}", with: id)))
    result.expectFailure(75, "standard output")
    #expect(box.fake.unfinishedUploads.count == 1)
  }

  @Test("create aborts the upload if its id cannot be printed, or names it", arguments: Unwritable.allCases)
  func create(_ how: Unwritable) async throws {
    let box = try BlackBox()
    for option in ["", "--json"] {
      let result = try await box.shell(how.line("create \(key) \(option)"))
      result.expectFailure(75, "standard output", "has been aborted")
    }
    box.expectNothingLeft()
    box.fake.setFaults([Fault(.init(.abortMultipartUpload), .error(status: 403, code: "AccessDenied"))])
    let result = try await box.shell(how.line("create \(key)"))
    let id = try #require(box.fake.unfinishedUploads.first?.id)
    result.expectFailure(75, "s3up abort \(key) --upload-id=", id)
  }

  @Test("uploads --clean aborts all uploads even if it cannot print them", arguments: ["", "--json"])
  func clean(_ option: String) async throws {
    let box = try BlackBox()
    for _ in 1...3 { try await box.run("create", key).expectSuccess() }
    let result = try await box.shell(
      Unwritable.full.line("uploads s3://bucket --clean --all --older-than 1ms \(option)"))
    #expect(result.status == (option.isEmpty ? 0 : 74), "\(result.errors)")
    #expect(
      result.errors.contains("standard output") && result.errors.contains("aborted 3 uploads"), "\(result.errors)")
    box.expectNothingLeft()
  }

  @Test("Standard error that cannot be written changes no exit code", arguments: Unwritable.allCases)
  func standardError(_ how: Unwritable) async throws {
    let box = try BlackBox()
    try box.sample("f", 6 * mebi)
    let line = { (command: String) in how.line(command).replacingOccurrences(of: " >", with: " 2>") }
    let done = try await box.shell(line("put f \(key) --part-size 5M -vv --progress plain --explain"))
    #expect(done.status == 0 && done.lines.count == 1)
    #expect(try await box.shell(line("put none \(key)")).status == 66)
    #expect(try await box.shell(line("put f s3://bucket/k --no-such-option")).status == 64)
    let both = try await box.shell(line("put f \(key) --part-size 5M") + " >/dev/full")
    #expect(both.status == 0 && both.output == "" && both.errors == "")
    #expect(records(box) == [])
  }

  private static let compiler = try? Programs.find("cc")

  /// As on a network file system, `write` succeeds, and `close` of a descriptor reports the failure.
  @Test(
    "A line that is lost only when the file is closed counts as not written",
    .enabled(if: compiler != nil))
  func lostAtClose() async throws {
    var box = try BlackBox()
    try box.files.write(
      """
      #define _GNU_SOURCE
      #include <dlfcn.h>
      #include <errno.h>
      #include <sys/stat.h>
      #include <unistd.h>
      int close(int fd) {
        struct stat a, b;
        int lost = fd > 2 && !fstat(fd, &a) && !fstat(1, &b) && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
        int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, "close");
        int result = real(fd);
        if (!lost) return result;
        errno = EDQUOT;
        return -1;
      }

      """, to: "close.c")
    let library = box.files.path("close.so")
    let made = try await ChildProcess(
      try #require(Self.compiler), ["-shared", "-fPIC", "-o", library, box.files.path("close.c"), "-ldl"],
      environment: Programs.environment(home: box.files.path)
    ).wait(timeout: .seconds(100))
    #expect(made.status == 0, "\(made.errors)")
    try box.sample("f", 100)
    box.environment["LD_PRELOAD"] = library
    let run = { (command: String) in try await box.shell("\"$S3UP\" \(command) >out") }
    let put = try await run("put f \(key)")
    #expect(put.status == 0 && put.errors.contains("standard output: Disk quota exceeded"), "\(put.errors)")
    try await run("put f \(key) --json").expectFailure(74, "Disk quota exceeded")
    try await run("presign \(key)").expectFailure(75, "Disk quota exceeded")
    try await run("create \(key)").expectFailure(75, "Disk quota exceeded", "has been aborted")
    #expect(box.fake.unfinishedUploads.isEmpty)
  }
}
