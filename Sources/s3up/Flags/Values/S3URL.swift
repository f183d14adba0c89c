import MultipartBasics
import MultipartCore

/// `s3://BUCKET/KEY`. The key is everything after the first slash, byte for byte: `//`, `..`, spaces, `?`, `#` and `%` have
/// no special meaning.
struct S3URL: Sendable, Hashable {
  let bucket: String
  /// The key; nil for `s3://BUCKET`, empty for `s3://BUCKET/`.
  let key: String?

  static let form = "The form is " + written
  static let written = "s3://BUCKET/KEY, the key as it is, with nothing escaped."

  /// Compares bytes: Swift's own comparison considers different encodings of an accent equal.
  static func == (a: S3URL, b: S3URL) -> Bool {
    a.bucket.utf8.elementsEqual(b.bucket.utf8) && (a.key == nil) == (b.key == nil)
      && (a.key ?? "").utf8.elementsEqual((b.key ?? "").utf8)
  }

  func hash(into hasher: inout Hasher) {
    hasher.combine(Array(bucket.utf8))
    hasher.combine(key.map { Array($0.utf8) })
  }

  /// Whether the word is meant as an object or bucket rather than a file, even if it is misspelled.
  static func looksLike(_ word: Argument) -> Bool { word.text.lowercased().begins(with: "s3://") }

  /// Whether the word is a web address, such as a presigned URL.
  static func isWeb(_ word: Argument) -> Bool {
    let text = word.text.lowercased()
    return text.begins(with: "https://") || text.begins(with: "http://")
  }

  init(bucket: String, key: String?) {
    self.bucket = bucket
    self.key = key
  }

  /// Parses a bucket, with or without a key or prefix; `command` is the one that it is an argument of.
  init(_ word: Argument, for command: CommandName? = nil) throws(Failure) {
    guard let text = word.utf8Text else {
      throw Failure(.usage, "'\(word.text)' is not UTF-8, as every S3 key must be", remedy: Self.form)
    }
    guard let rest = text.rest(after: "s3://")?.utf8 else { throw AddressAdvice.failure(word, command) }
    let slash = Self.end(ofBucket: rest)
    bucket = String(Substring(rest[..<(slash ?? rest.endIndex)]))
    key = slash.map { String(Substring(rest[rest.index(after: $0)...])) }
    try Self.check(bucket: bucket, of: text, command)
    try S3Limits.check(key: key ?? "", remedy: "Give the object another key.")
  }

  /// The slash before the key. An ARN contains slashes itself: one after `accesspoint`, three after `outpost`.
  private static func end(ofBucket rest: Substring.UTF8View) -> Substring.UTF8View.Index? {
    var slash = rest.firstIndex(of: UInt8(ascii: "/"))
    guard let inner = slash, Substring(rest).begins(with: "arn:") else { return slash }
    let front = rest[..<inner]
    let own =
      front.suffix(12).elementsEqual(":accesspoint".utf8) ? 1 : front.suffix(8).elementsEqual(":outpost".utf8) ? 3 : 0
    for _ in 0..<own {
      guard let past = slash else { return nil }
      slash = rest[rest.index(after: past)...].firstIndex(of: UInt8(ascii: "/"))
    }
    return slash
  }

  /// Parses an object, which must have a key.
  static func object(_ word: Argument, for command: CommandName? = nil) throws(Failure) -> S3URL {
    let url = try S3URL(word, for: command)
    guard let key = url.key, !key.isEmpty else {
      let bucket = ShellWord.quoted("s3://\(url.bucket)")
      throw Failure(
        .usage, "'\(word.text)' names a bucket and no key",
        remedy: "Write s3://\(url.bucket)/KEY; s3up ls \(bucket) lists the keys.")
    }
    return url
  }

  /// The destination for a file of this name: below the prefix, if the URL ends with a slash.
  func destination(
    for file: Argument, _ oddNames: BatchSources.OddNames = .escape
  ) throws(Failure) -> S3URL {
    guard let key, key.isEmpty || key.utf8.last == UInt8(ascii: "/") else {
      if key != nil { return self }
      throw Failure(
        .usage, "'s3://\(bucket)' names no key",
        remedy: "Write s3://\(bucket)/ to keep the file's name, or s3://\(bucket)/KEY.")
    }
    guard !file.bytes.isEmpty else { throw ManySources.emptyName }
    if file.lastComponent.bytes.isEmpty || file.bytes == [UInt8(ascii: "-")] { return try unnamed("'\(file.text)'") }
    let name = try FilePath(bytes: file.bytes).nameInKey(oddNames)
    try S3Limits.check(key: key + name, remedy: "Give the object another key.")
    return S3URL(bucket: bucket, key: key + name)
  }

  /// The destination for something without a name of its own, which a prefix is not enough for.
  func unnamed(_ what: String) throws(Failure) -> S3URL {
    if let last = key?.utf8.last, last != UInt8(ascii: "/") { return self }
    let prefix = "s3://\(bucket)/\(key ?? "")"
    throw Failure(
      .usage, "\(what) provides no name for a key under '\(prefix)'", remedy: "Give the whole key: \(prefix)NAME.")
  }

  /// Refuses what is typed instead of a bucket's name. Which names are allowed depends on the store, so the library decides.
  private static func check(bucket: String, of typed: String, _ command: CommandName?) throws(Failure) {
    if bucket.begins(with: "arn:") { return }
    guard !bucket.isEmpty else {
      throw Failure(
        .usage, "'\(typed)' names no bucket",
        remedy: (command == .ls ? "s3up ls alone lists the buckets." : form) + " Is a shell variable not set?")
    }
    // A password before the bucket must not be repeated.
    guard !Redaction.hasUser(typed) else {
      throw Failure(
        .usage, "'\(Redaction.url(typed))' has a user or a password in it",
        remedy: "Leave them out: \(OtherTools.keys).")
    }
    if let host = AWSHost(bucket) { throw AddressAdvice.host(typed, host.bucket) }
    if let failure = AddressAdvice.notBucket(bucket, typed) { throw failure }
  }
}
