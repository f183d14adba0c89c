import MultipartBasics
import MultipartCore

/// What a `get` of many objects downloads, and where to: its arguments and its selection options.
struct GetSources: Sendable {
  private enum Kind: Sendable {
    case below
    case named
    case list(Argument)
    case manifest(Argument)
  }

  private let kind: Kind
  private let urls: [S3URL]
  let bucket: String
  let folder: Argument
  /// The name of the only file, where the target is not a folder.
  private let name: [UInt8]?

  init(_ invocation: Invocation) throws(Failure) {
    let usage = "Usage: s3up get -r s3://BUCKET/PREFIX/ DIR/"
    var words = invocation.positionals
    var target = Argument(".")
    if let last = words.last, !S3URL.looksLike(last) { target = words.removeLast() }
    try GetCommand.requireName(target)
    if let wrong = words.first(where: { !S3URL.looksLike($0) }) {
      throw words.count == 2 && S3URL.looksLike(words[1])
        ? GetCommand.turned(wrong, words[1], invocation)
        : Failure(
          .usage, "'\(wrong.text)' is not an object",
          remedy: "Only the last argument may be a folder: s3up get s3://BUCKET/KEY… DIR/")
    }
    guard !words.isEmpty else { throw Failure(.usage, "get: the object is missing", remedy: usage) }
    guard target.bytes != Array("-".utf8) else {
      throw Failure(
        .usage, "many objects cannot go to standard output", remedy: "Name a folder, or get one object at a time.")
    }
    let isBelow = invocation.toggle(.recursive) == true
    switch (try invocation.path(.filesFrom), try invocation.path(.manifest)) {
    case (.some, .some):
      throw Failure(
        .usage, "--files-from and --manifest both name the objects", remedy: "Leave one of them out.")
    case (let list?, nil): kind = .list(list)
    case (nil, let manifest?): kind = .manifest(manifest)
    case (nil, nil): kind = isBelow ? .below : .named
    }
    let path = FilePath(bytes: target.bytes)
    if case .named = kind, words.count == 1, target.bytes.last != UInt8(ascii: "/"), !path.isFolder {
      // One object becomes the file that is named, as in a download of one.
      (folder, name) = (Argument(bytes: path.folder.bytes), Array(path.lastName))
    } else {
      (folder, name) = (target, nil)
    }
    if case .named = kind, words.count > 1, words.count == invocation.positionals.count {
      throw Failure(
        .usage, "the folder for the objects is missing",
        remedy:
          "Name it after them, such as ./ for this one: s3up get s3://BUCKET/KEY… DIR/; \(OtherTools.insideStore).")
    }
    var urls: [S3URL] = []
    for word in words {
      let url = try S3URL(word, for: .get)
      if case .named = kind { urls.append(try Self.object(word)) } else { urls.append(Self.prefix(url)) }
    }
    self.urls = urls
    bucket = urls[0].bucket
    if let other = urls.first(where: { !$0.bucket.utf8.elementsEqual(urls[0].bucket.utf8) }) {
      throw Failure(
        .usage, "the objects are in two buckets: \(bucket) and \(other.bucket)",
        remedy: "Run the command once for each.")
    }
    switch kind {
    case .list where urls.count > 1, .manifest where urls.count > 1:
      throw Failure(
        .usage, "a list needs exactly one prefix; '\(words[1].text)' is one too many",
        remedy: "Name the prefix of the keys in the list.")
    default: break
    }
  }

  private static func object(_ word: Argument) throws(Failure) -> S3URL {
    let url = try S3URL(word)
    guard let key = url.key, !key.isEmpty, key.utf8.last != UInt8(ascii: "/") else {
      throw prefix(word)
    }
    return url
  }

  /// The failure for a prefix where an object is needed.
  static func prefix(_ word: Argument) -> Failure {
    Failure(
      .usage, "'\(word.text)' is a prefix, and names no object",
      remedy: "-r downloads everything below it: s3up get -r \(ShellWord.quoted(word.text)) DIR/")
  }

  /// Adds the trailing slash, which may be omitted.
  static func prefix(_ url: S3URL) -> S3URL {
    let key = url.key ?? ""
    return S3URL(bucket: url.bucket, key: key + (key.isEmpty || key.utf8.last == UInt8(ascii: "/") ? "" : "/"))
  }

  private var keys: [String] { urls.map { $0.key ?? "" } }

  /// The common prefix, which the list of failed names omits; nil if the objects have none.
  private var common: String? {
    switch kind {
    case .below, .list, .manifest: return urls.count == 1 ? keys[0] : nil
    case .named:
      let folders = keys.map { key in Array(key.utf8.prefix(upTo: Self.afterSlash(key.utf8))) }
      return folders.allSatisfy { $0 == folders[0] } ? String(decoding: folders[0], as: UTF8.self) : nil
    }
  }

  private static func afterSlash(_ key: String.UTF8View) -> String.Index {
    key.lastIndex(of: UInt8(ascii: "/")).map { key.index(after: $0) } ?? key.startIndex
  }

  /// The sources for the library. A manifest that is an object is downloaded first.
  func sources(_ session: Session, _ selection: SelectionOptions) async throws(Failure) -> DownloadSources {
    let found: DownloadSources.Kind
    switch kind {
    case .below: found = .below(keys)
    case .named: found = .named(keys)
    case .list(let path): found = .list(FilePath(bytes: path.bytes), endsWithZero: selection.endsWithNUL)
    case .manifest(let path): found = .manifest(try await Self.manifest(path, session))
    }
    var sources = DownloadSources(found, prefix: common ?? "")
    sources.name = name
    sources.rules = try GlobRules(selection.rules)
    sources.restoresOddNames = selection.restoresNonUTF8
    sources.shard = selection.shard
    sources.tellsExcluded = selection.isDryRun
    sources.allowsNothing = selection.allowsNothing
    return sources
  }

  static func manifest(_ path: Argument, _ session: Session) async throws(Failure) -> ManifestList {
    guard S3URL.looksLike(path) else { return try ManifestList(FilePath(bytes: path.bytes)) }
    let url = try S3URL.object(path)
    do throws(Failure) {
      return try await .object(
        url.key ?? "", of: try await session.store(url.bucket), folder: session.temporaryFolder)
    } catch {
      var failure = error
      failure.message = "--manifest: " + failure.message
      throw failure
    }
  }

  /// The command that downloads only what has failed; nil if no list can tell which objects these are, or prove them.
  func commandForFailed(_ selection: SelectionOptions, _ invocation: Invocation) -> String? {
    if case .manifest = kind { return nil }
    if name != nil { return nil }
    guard let list = selection.failedTo, let common, let folder = folder.utf8Text else { return nil }
    return invocation.retry(from: list, ["s3://\(bucket)/\(common)", folder])
  }
}
