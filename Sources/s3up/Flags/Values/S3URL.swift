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
    try Self.check(key: key ?? "")
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
  func destination(for file: Argument) throws(Failure) -> S3URL {
    guard let key, key.isEmpty || key.utf8.last == UInt8(ascii: "/") else {
      if key != nil { return self }
      throw Failure(
        .usage, "'s3://\(bucket)' names no key",
        remedy: "Write s3://\(bucket)/ to keep the file's name, or s3://\(bucket)/KEY.")
    }
    let name = file.lastComponent
    guard let text = name.utf8Text, !text.isEmpty, file.bytes != [UInt8(ascii: "-")] else {
      throw Failure(
        .usage, "'\(file.text)' provides no name for a key under 's3://\(bucket)/\(key)'",
        remedy: "Give the whole key: s3://\(bucket)/\(key)NAME.")
    }
    try Self.check(key: key + text)
    return S3URL(bucket: bucket, key: key + text)
  }

  /// Checks the bucket's name: 3 to 63 of `a-z 0-9 . -`. Old buckets of AWS also have capitals and underscores, and
  /// access points are named by an ARN; the store decides about those.
  private static func check(bucket: String, of typed: String, _ command: CommandName?) throws(Failure) {
    if bucket.begins(with: "arn:") { return }
    guard !bucket.isEmpty else {
      throw Failure(
        .usage, "'\(typed)' names no bucket",
        remedy: (command == .ls ? "s3up ls alone lists the buckets." : form) + " Is a shell variable not set?")
    }
    // A password before the bucket must not be repeated.
    guard bucket.cut(at: "@")?.before.holds(":") != true else {
      throw Failure(
        .usage, "'\(Redaction.url(typed))' has a user and a password in it",
        remedy: "Leave them out: \(OtherTools.keys).")
    }
    if let host = AWSHost(bucket) { throw AddressAdvice.host(typed, host.bucket) }
    if let failure = AddressAdvice.notBucket(bucket, typed) { throw failure }
    let legal = bucket.utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"):
        true
      default: false
      }
    }
    guard legal, (3...255).contains(bucket.utf8.count), !bucket.begins(with: "."), !bucket.holds("..") else {
      throw Failure(
        .usage, "'\(bucket)' is not a bucket name",
        remedy: "A bucket name has 3 to 63 characters: a-z, digits, dots and hyphens.")
    }
  }

  private static func check(key: String) throws(Failure) {
    guard key.utf8.count <= S3Limits.longestKey else {
      throw Failure(
        .usage, "the key has \(key.utf8.count) bytes; S3 allows \(S3Limits.longestKey)",
        remedy: "Give the object a shorter key."
      )
    }
    guard !key.utf8.contains(0) else { throw Failure(.usage, "the key holds a zero byte", remedy: form) }
  }
}
