import Foundation
import MultipartBasics
@testable import MultipartCore
import Testing

@testable import s3up

@Suite("What the library names, in options and commands", .timeLimit(.minutes(15)))
struct CommandWordsTests {
  @Test("each setting has its own existing option", arguments: Setting.allCases)
  func options(_ setting: Setting) {
    #expect(FlagList.find(setting.flag, for: nil) != nil)
    #expect(Setting.allCases.filter { $0.flag == setting.flag } == [setting])
  }

  @Test("an option to be switched off has a --no form", arguments: [Setting.accelerate, .dualstack, .fips])
  func off(_ setting: Setting) {
    #expect(FlagList.find(setting.flag, for: nil)?.negatable == true)
    #expect(setting.option(.off) == "--no-\(setting.flag.rawValue)")
  }

  @Test("settings become options, and actions become commands quoted for a shell")
  func text() {
    let settings: Wording = "\(.region, "eu-west-1") \(.stateFolder) \(off: .verifiesTLS) \(off: .signsRequests)"
    #expect(settings.commandText == "--region eu-west-1 --state-dir --insecure (S3UP_INSECURE) --no-sign-request")
    #expect(("\(secret: .proxy)" as Wording).commandText == "S3UP_PROXY")
    let actions: [(RemedyAction, String)] = [
      (.abort(bucket: "b", key: "a b", uploadID: "u'1"), #"s3up abort 's3://b/a b' --upload-id='u'\''1'"#),
      (.listUploads(bucket: "b", key: "k"), "s3up uploads s3://b/k"),
      (.listUploads(bucket: "b"), "s3up uploads s3://b"),
      (.listRecordedUploads, "s3up uploads"), (.examine, "s3up doctor"),
      (.cleanUp(bucket: "b", olderThanDays: 7), "s3up uploads s3://b --clean --all --older-than 7d"),
    ]
    for (action, line) in actions { #expect(action.commandLine() == line) }
    let place = Place(bucket: "b", key: "a/b c/d")
    #expect(RemedyAction.listObjects.commandLine(at: place) == "s3up ls 's3://b/a/b c/'")
    #expect(RemedyAction.listObjects.commandLine(at: Place(bucket: "b", key: "k")) == "s3up ls s3://b/")
  }

  @Test("A command in a remedy is never cut, however long its key and upload id are")
  func whole() {
    let key = String(repeating: "k", count: 1024)
    let id = String(repeating: "i", count: 128)
    let failure = Failure(
      .network, "reset", remedy: "abort the upload: \(run: .abort(bucket: "b", key: key, uploadID: id))")
    #expect(ErrorText.lines(for: failure).last?.hasSuffix(" --upload-id=\(id)") == true)
  }

  /// Texts that only look like an option or a command: suffixes of buckets, other programs' commands, file headers.
  private static let others = [
    "--x-s3", "--xa-s3", "--op-s3", "--ol-s3", "base--zone", "base--usw2-az1", "--profile \\(name)\"",
    "--profile \\(ShellWord.quoted(", "--profile \\(profile) --format env", "--sso-session \\(ShellWord.quoted(",
    "\" --region \\(place.region)\" : \" --endpoint-url \\(place.origin)\"", "Array(\"s3up doctor\\n\".utf8)",
    "S3UP_OFFER_FILE_ENDED",
  ]

  @Test("no text of the library names an option, a command or a variable of the command line")
  func library() throws {
    let root = URL(filePath: #filePath).appending(path: "../../../../Sources/MultipartCore").standardizedFileURL
    let files = try #require(FileManager.default.enumerator(at: root, includingPropertiesForKeys: nil))
      .compactMap { $0 as? URL }.filter { $0.pathExtension == "swift" }
    #expect(files.count > 200)
    let commands = CommandName.allCases.map(\.rawValue).joined(separator: "|")
    let name = try Regex("--(no-)?([a-z]|\\\\\\()|S3UP_|s3up (\(commands))\\b")
    for file in files {
      for line in try String(contentsOf: file, encoding: .utf8).split(separator: "\n") {
        guard !line.drop(while: { $0 == " " }).hasPrefix("//") else { continue }
        let code = Self.others.reduce(String(line)) { $0.replacingOccurrences(of: $1, with: "") }
        #expect(code.firstMatch(of: name) == nil, "\(file.lastPathComponent): \(line)")
      }
    }
  }
}
