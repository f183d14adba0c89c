import Glibc
import MultipartBasics
import MultipartCore

/// What a `put` of many files uploads, and where to: its arguments and its selection options.
struct ManySources: Sendable {
  enum Kind: Sendable {
    /// Files, and with `-r` folders.
    case named([Argument])
    case list(Argument)
    case batch(OpenBatch)
  }

  let kind: Kind
  /// The destination. With `--batch`, where each line has its own destination, it is the bucket of the first line; nil
  /// if there are no lines.
  let target: S3URL?
  private let isOneKey: Bool
  private let command: String

  init(_ invocation: Invocation) throws(Failure) {
    command = invocation.command.rawValue
    let usage = "Usage: s3up \(command) -r DIR s3://BUCKET/PREFIX/"
    var words = invocation.positionals
    if let path = try invocation.path(.batch) {
      guard !invocation.has(.filesFrom), words.isEmpty else {
        throw Failure(
          .usage, "--batch names its own files and destinations",
          remedy: "Write s3up put --batch FILE, and nothing else to upload.")
      }
      let batch = try OpenBatch(FilePath(bytes: path.bytes))
      (kind, isOneKey) = (.batch(batch), false)
      target = batch.firstBucket.map { S3URL(bucket: $0, key: nil) }
      return
    }
    if words.count == 2 { try invocation.checkOrder(words) }
    guard let last = words.popLast() else {
      throw Failure(.usage, "\(command): the destination is missing", remedy: usage)
    }
    guard S3URL.looksLike(last) || !words.contains(where: S3URL.looksLike) else {
      throw Failure(
        .usage, "'\(last.text)' stands after the destination",
        remedy: invocation.reason(forExtra: last)
          ?? (invocation.isFile(last)
            ? "The destination comes last: write the file before it."
            : "The destination comes last: leave the word out, or write it before it if it is a file."))
    }
    guard S3URL.looksLike(last) else {
      throw Failure(
        .usage, "'\(last.text)' is not a destination", remedy: "The destination comes last: s3://BUCKET/PREFIX/")
    }
    if let wrong = words.first(where: S3URL.looksLike) {
      throw Failure(.usage, "'\(wrong.text)' is not a file", remedy: "Only the last argument is a destination.")
    }
    let url = try S3URL(last, for: invocation.command)
    let list = try invocation.path(.filesFrom)
    if list != nil, let word = words.first {
      throw Failure(
        .usage, "--files-from names the files; '\(word.text)' is one too many",
        remedy: "Add it to the list, or upload it separately.")
    }
    guard list != nil || !words.isEmpty else {
      throw Failure(.usage, "\(command): FILE is missing", remedy: usage)
    }
    guard words.allSatisfy({ !$0.bytes.isEmpty }) else { throw Self.emptyName }
    if let stream = words.first(where: { $0.bytes == Array("-".utf8) }) {
      if words.count == 1, let option = invocation.optionOfMany {
        throw Failure(
          .usage, "\(option.long) is not for standard input", remedy: "Leave it out: it is for runs of many files.")
      }
      throw Failure(
        .usage, "'\(stream.text)', standard input, cannot be one of several files",
        remedy: "Upload it separately: s3up \(command) - s3://BUCKET/KEY")
    }
    kind = if let list { .list(list) } else { .named(words) }
    let target = try Self.prefix(url, invocation, words)
    isOneKey = !(target.key ?? "").isEmpty && target.key?.utf8.last != UInt8(ascii: "/")
    self.target = target
  }

  /// The sources for the library.
  func inputs(_ selection: SelectionOptions) throws(Failure) -> BatchSources {
    var sources: BatchSources
    switch kind {
    case .named(let words):
      let paths = words.map { FilePath(bytes: $0.bytes) }
      if !selection.isRecursive, let folder = paths.first(where: \.isFolder) {
        throw Self.folder(Argument(bytes: folder.bytes), command, target)
      }
      sources = BatchSources(.named(paths), prefix: isOneKey ? "" : target?.key ?? "")
    case .list(let path):
      sources = BatchSources(
        .list(FilePath(bytes: path.bytes), endsWithZero: selection.endsWithNUL), prefix: target?.key ?? "")
    case .batch(let batch): sources = BatchSources(.batch(batch), prefix: "")
    }
    if isOneKey { sources.key = target?.key }
    sources.rules = try GlobRules(selection.rules)
    sources.followsLinks = selection.followsLinks
    sources.oddNames = selection.oddNames
    sources.shard = selection.shard
    sources.tellsExcluded = selection.isDryRun
    return sources
  }

  /// The only file and its key, in a dry run of one file. A pipe is not opened, and what is missing fails later.
  func oneFile(_ selection: SelectionOptions) throws(Failure) -> (path: FilePath, key: String)? {
    guard case .named(let words) = kind, words.count == 1, let target else { return nil }
    let path = FilePath(bytes: words[0].bytes)
    guard path.exists, !path.isFolder, !path.isStream else { return nil }
    return (path, try target.destination(for: words[0], selection.oddNames).key ?? "")
  }

  /// The sources, for people.
  var title: String {
    switch kind {
    case .named(let words) where words.count == 1: SafeText.oneLine(words[0].text)
    case .named(let words): "\(words.count) files and folders, starting with \(SafeText.oneLine(words[0].text))"
    case .list(let list):
      "the files that \(list.bytes == Array("-".utf8) ? Self.input : SafeText.oneLine(list.text)) names"
    case .batch(let batch):
      "the files that \(batch.path.map { SafeText.oneLine($0.text) } ?? Self.input) names, each with its destination"
    }
  }

  private static let input = "standard input"

  /// The destination, for people; nil if each source has its own.
  var targetTitle: String? {
    namesTargets ? nil : target.map { "s3://\($0.bucket)/\(SafeText.oneLine($0.key ?? ""))" } ?? ""
  }

  /// Whether each source names its own destination, as in a batch.
  var namesTargets: Bool {
    if case .batch = kind { true } else { false }
  }

  static let emptyName = Failure(
    .sourceMissing, "a source has an empty name", remedy: "Is a shell variable not set?")

  /// The failure for a folder without `-r`.
  static func folder(_ path: Argument, _ command: String, _ target: S3URL?) -> Failure {
    let below = target.map { target in
      let key = target.key ?? ""
      return "s3://\(target.bucket)/\(key)" + (key.isEmpty || key.utf8.last == UInt8(ascii: "/") ? "" : "/")
    }
    let prefix = ShellWord.quoted(below ?? "s3://BUCKET/PREFIX/")
    let does = ["verify": "compares", "ticket issue": "issues tickets for"][command] ?? "uploads"
    return Failure(
      .usage, "'\(path.text)' is a directory",
      remedy: "-r \(does) its contents: s3up \(command) -r \(ShellWord.quoted(path.text)) \(prefix)")
  }

  /// The command that sends only what has failed; nil if no list of files can say where each of them goes.
  func commandForFailed(_ selection: SelectionOptions, _ invocation: Invocation) -> String? {
    guard let list = selection.failedTo, !isOneKey else { return nil }
    if namesTargets { return invocation.retry(from: list, by: .batch, []) }
    guard let target else { return nil }
    return invocation.retry(from: list, ["s3://\(target.bucket)/\(target.key ?? "")"])
  }

  /// The prefix that files go below. With `-r` the trailing slash may be omitted; without `-r` such a URL would be the
  /// key of one file.
  private static func prefix(_ url: S3URL, _ invocation: Invocation, _ words: [Argument]) throws(Failure) -> S3URL {
    let key = url.key ?? ""
    // A dry run of one file comes here too, and refuses what the upload itself would refuse.
    if url.key == nil, words.count == 1, invocation.toggle(.recursive) != true,
      !FilePath(bytes: words[0].bytes).isFolder
    {
      _ = try url.destination(for: words[0], invocation.oddNames)
    }
    if key.isEmpty || key.utf8.last == UInt8(ascii: "/") { return S3URL(bucket: url.bucket, key: key) }
    if words.count == 1, invocation.toggle(.recursive) != true { return url }
    guard invocation.toggle(.recursive) == true || invocation.has(.filesFrom) else {
      throw Failure(
        .usage, "'s3://\(url.bucket)/\(key)' is a single key for \(words.count) files",
        remedy: "A prefix ends with a slash: s3://\(url.bucket)/\(key)/")
    }
    return S3URL(bucket: url.bucket, key: key + "/")
  }
}
