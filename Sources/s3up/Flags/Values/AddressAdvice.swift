import MultipartBasics
import MultipartCore

/// What is wrong with a word that should be `s3://BUCKET/KEY`, and what was probably meant: the failure says both.
enum AddressAdvice {
  private static let form = S3URL.form
  private static let slash = UInt8(ascii: "/")
  private static let backslash = UInt8(ascii: "\\")

  /// `command` is the one that it is an argument of.
  static func failure(_ word: Argument, _ command: CommandName?) -> Failure {
    let typed = word.text
    let lower = typed.lowercased()
    if lower.begins(with: "s3:\\") {
      let path = typed.utf8.dropFirst(3).map { $0 == backslash ? slash : $0 }
      let place = String(decoding: path.drop { $0 == slash }, as: UTF8.self)
      return failure(typed, "it has backslashes", "Write \(shown("s3://" + place)).")
    }
    if let bare = withoutQuotes(typed) {
      return failure(typed, "it has quotes in it, which the shell has not removed", "Write \(shown(bare)).")
    }
    if let mark = ["s3://", "s3:/", "s3//", "s3:", "s3/"].first(where: lower.begins), mark == "s3://" || !exists(word) {
      let place = typed.utf8.dropFirst(mark.utf8.count).drop { $0 == UInt8(ascii: "/") }
      return failure(
        typed, "one begins with s3://, in lower case",
        place.isEmpty ? form : "Write \(shown("s3://" + String(decoding: place, as: UTF8.self))).")
    }
    if let scheme = ["https://", "http://"].first(where: lower.begins) {
      return web(typed, scheme, String(decoding: typed.utf8.dropFirst(scheme.utf8.count), as: UTF8.self), command)
    }
    if lower.begins(with: "arn:") { return failure(typed, "it is an ARN", arn(typed)) }
    if let (scheme, rest) = typed.cut(at: "://") { return other(typed, String(scheme), String(rest)) }
    if exists(word) { return local(typed, "is a \(isFolder(word) ? "folder" : "file") on this machine", command) }
    if ["/", "./", "../", "~"].contains(where: typed.begins) || typed == "." || typed == ".." {
      return local(typed, "is a path on this machine", command)
    }
    return missing(typed, command)
  }

  private static func failure(_ typed: String, _ why: String, _ remedy: String) -> Failure {
    Failure(.usage, "'\(typed)' is not an S3 URL: \(why)", remedy: remedy)
  }

  private static func shown(_ url: String) -> String { ShellWord.quoted(SafeText.oneLine(url)) }

  private static func exists(_ word: Argument) -> Bool { FilePath(bytes: word.bytes).exists }

  private static func isFolder(_ word: Argument) -> Bool { FilePath(bytes: word.bytes).isFolder }

  private static func local(_ typed: String, _ what: String, _ command: CommandName?) -> Failure {
    let remedy =
      switch command {
      case .put, .verify, nil: "An object is written s3://BUCKET/KEY; for two local files there are cp and cmp."
      case .get: "s3up put \(ShellWord.quoted(typed)) s3://BUCKET/KEY uploads it; s3up get s3://BUCKET/KEY downloads."
      case let command?: "Write \(command.form)."
      }
    return Failure(.usage, "'\(typed)' \(what), not an S3 URL", remedy: remedy)
  }

  /// The word without the quotes around it, which were pasted from a text or escaped.
  private static func withoutQuotes(_ typed: String) -> String? {
    let marks = ["\"", "'", "“", "”", "‘", "’", "`"]
    guard let front = marks.first(where: typed.begins) else { return nil }
    let rest = typed.rest(after: front).map { String($0) } ?? ""
    guard S3URL.looksLike(Argument(rest)) else { return nil }
    return marks.first(where: rest.ends).map { String(decoding: rest.utf8.dropLast($0.utf8.count), as: UTF8.self) }
      ?? rest
  }

  private static func web(_ typed: String, _ scheme: String, _ place: String, _ command: CommandName?) -> Failure {
    let (what, remedy) =
      console(place) ?? signed(scheme, place, command) ?? ("is a web address", web(scheme, place))
    return Failure(.usage, "'\(typed)' \(what), not an S3 URL", remedy: remedy)
  }

  /// What an address of AWS's console shows.
  private static func console(_ place: String) -> (what: String, remedy: String)? {
    let words = place.upTo("?#").words(between: "/")
    guard let host = words.first, host.ends(with: "console.aws.amazon.com") else { return nil }
    let isShown = words.count > 3 && words[1].elementsEqual("s3") && ["object", "buckets"].contains(words[2])
    let items = place.cut(at: "?")?.after.upTo("#").words(between: "&") ?? []
    let prefix = items.lazy.compactMap { $0.rest(after: "prefix=") }.first.map { PercentEncoding.decoded(String($0)) }
    let url = isShown ? shown("s3://\(words[3])/\(prefix ?? "")") : "s3://BUCKET/KEY"
    return ("is a page of the AWS console", "Write \(url).")
  }

  /// What to do with a presigned URL, whose signature no message may repeat.
  private static func signed(
    _ scheme: String, _ place: String, _ command: CommandName?
  ) -> (what: String, remedy: String)? {
    let items = place.cut(at: "?")?.after.words(between: "&") ?? []
    guard items.contains(where: { item in ["X-Amz-Signature=", "Signature="].contains { item.begins(with: $0) } })
    else { return nil }
    let own = web(scheme, String(place.upTo("?")))
    return (
      "is a presigned URL",
      command == .put
        ? "To upload with it, if it was signed for PUT: curl -fT FILE 'URL'; with credentials w\(own.dropFirst())"
        : own
    )
  }

  /// A web address names the store, the bucket and the key, in one of two forms.
  private static func web(_ scheme: String, _ place: String) -> String {
    let whole = String(place.upTo("?#"))
    let host = String(whole.upTo("/"))
    let path =
      whole.utf8.count > host.utf8.count
      ? PercentEncoding.decodedPath(String(decoding: whole.utf8.dropFirst(host.utf8.count + 1), as: UTF8.self)) : ""
    if let amazon = AWSHost(host) {
      return "Write \(shown("s3://" + (amazon.bucket.map { $0 + "/" } ?? "") + path))."
    }
    guard !path.isEmpty, !host.holds("@") else {
      return "Write s3://BUCKET/KEY; the store's own address goes into --endpoint-url."
    }
    return "Write \(shown("s3://" + path)) --endpoint-url \(shown(scheme + host)), if that is the address of the store."
  }

  /// The failure for `s3://` before the name of a host.
  static func host(_ typed: String, _ bucket: String?) -> Failure {
    let path = String(typed.utf8.dropFirst("s3://".utf8.count))?.cut(at: "/").map { String($0.after) } ?? ""
    let mended = "s3://" + (bucket.map { $0 + "/" } ?? "") + path
    return Failure(
      .usage, "'\(typed)' names a host of AWS where the bucket's name belongs", remedy: "Write \(shown(mended)).")
  }

  /// The failure for what stands where the bucket's name belongs, if it shows what was meant; nil else.
  static func notBucket(_ bucket: String, _ typed: String) -> Failure? {
    if bucket.holds("$") {
      return Failure(
        .usage, "'\(typed)' holds a variable that the shell has not replaced",
        remedy: "Put it in double quotes instead of single ones.")
    }
    guard let (host, port) = bucket.cut(at: ":"), !host.isEmpty, !port.isEmpty, port.utf8.allSatisfy(ASCII.isDigit)
    else { return nil }
    let isHere =
      host.elementsEqual("localhost") || host.utf8.allSatisfy { ASCII.isDigit($0) || $0 == UInt8(ascii: ".") }
    let path = String(decoding: typed.utf8.dropFirst("s3://".utf8.count + bucket.utf8.count + 1), as: UTF8.self)
    return Failure(
      .usage, "'\(typed)' names a host and a port where the bucket's name belongs",
      remedy: "Write \(path.isEmpty ? "s3://BUCKET/KEY" : shown("s3://" + path)) "
        + "--endpoint-url \(isHere ? "http" : "https")://\(bucket).")
  }

  private static func arn(_ typed: String) -> String {
    guard let name = typed.rest(after: "arn:aws:s3:::"), !name.isEmpty else {
      return "Write s3://ARN/KEY for an access point, and s3://BUCKET/KEY for a bucket."
    }
    return "Write \(shown("s3://" + String(name)))."
  }

  /// The address of another protocol, or of a store that also speaks S3.
  private static func other(_ typed: String, _ scheme: String, _ rest: String) -> Failure {
    let why = "it begins with \(SafeText.oneLine(scheme, limit: 40))://"
    switch scheme.lowercased() {
    case "file": return failure(typed, why, "An object is written s3://BUCKET/KEY, and a file without file://.")
    case "gs", "b2", "r2", "oss", "cos", "obs", "s3a", "s3n", "swift", "minio":
      return failure(
        typed, why, "Write \(shown("s3://" + rest)); --endpoint-url names the store, unless it is AWS S3.")
    default: return failure(typed, why, "An object is written s3://BUCKET/KEY; rclone knows other protocols.")
    }
  }

  /// `s3://` was left out.
  private static func missing(_ typed: String, _ command: CommandName?) -> Failure {
    let why = "s3:// is missing"
    if let (remote, rest) = typed.cut(at: ":"), !remote.isEmpty, !rest.isEmpty,
      remote.utf8.allSatisfy({ ASCII.isAlphanumeric($0) || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_") })
    {
      return failure(
        typed, why, "Write \(shown("s3://" + String(rest))); --profile and --endpoint-url say which store it is.")
    }
    guard typed.utf8.allSatisfy(ASCII.isVisible) else { return failure(typed, why, form) }
    if typed.holds("/") { return failure(typed, why, "Write \(shown("s3://" + typed)).") }
    let key = shown("s3://BUCKET/" + typed)
    guard let command, command.modes.isSubset(of: .ofPrefix) else {
      return failure(typed, why, "Write \(key).")
    }
    return failure(typed, why, "Write \(shown("s3://" + typed)) for the bucket of this name, \(key) for the key.")
  }
}
