import MultipartBasics

/// One upload of a batch.
struct BatchItem: Sendable, Equatable {
  /// The line that names it.
  var line: [UInt8]
  var source: FilePath
  var bucket: String
  var key: String
  var region: String?
  var contentType: String?
  var metadata: [NamedValue] = []
  var attributes: [ObjectAttribute] = []
}

/// Reads a batch: a JSON object per line, with `localUri` (a path or a `file:` URL), `bucket`, `key`, and optionally
/// `region`, `mimeType`, `metadata` (an object of strings), and the names of `ObjectAttribute`. Blank lines are
/// skipped.
///
/// `@unchecked Sendable` holds because it is used by one task at a time.
final class BatchList: @unchecked Sendable {
  private static let longest = 1 << 20
  private let lines: LineReader

  init(_ path: FilePath) throws(Failure) {
    lines = try LineReader(path, longest: Self.longest)
  }

  /// Reads until a line is complete, however long its writer takes.
  func next() throws(Failure) -> BatchItem? {
    while let line = try lines.next() {
      if !line.allSatisfy({ [0x20, 0x09, 0x0D].contains($0) }) { return try item(Array(line)) }
    }
    return nil
  }

  private func item(_ line: [UInt8]) throws(Failure) -> BatchItem {
    let form: Wording = #"each line is an object such as {"localUri":"FILE","bucket":"BUCKET","key":"KEY"}"#
    guard let json = JSON.parse(line) else { throw lines.failure("it is not JSON", remedy: form) }
    guard case .object(let members) = json else { throw lines.failure("it is not a JSON object", remedy: form) }
    try checkNames(members)
    let attributes = try attributes(members)
    let (source, key) = (try source(text("localUri", in: json)), try text("key", in: json))
    do throws(Failure) { try S3Limits.check(key: key) } catch {
      throw lines.failure(error.message, remedy: error.remedy)
    }
    return BatchItem(
      line: line, source: source, bucket: try text("bucket", in: json), key: key,
      region: try optionalText("region", in: json), contentType: try optionalText("mimeType", in: json),
      metadata: try metadata(json["metadata"]), attributes: attributes)
  }

  private static let known = ["localUri", "bucket", "key", "region", "mimeType", "metadata"]

  private func attributes(_ members: [(String, JSON)]) throws(Failure) -> [ObjectAttribute] {
    var attributes: [ObjectAttribute] = []
    for (member, value) in members where !Self.known.contains(member) {
      guard let name = ObjectAttribute.Name(member) else {
        throw lines.failure(
          "there is no member \(member)",
          remedy: "the members are \(Self.known.joined(separator: ", ")), and \(ObjectAttribute.Name.list)")
      }
      guard let text = value.text, let attribute = ObjectAttribute(name, text) else {
        throw lines.failure("\(member) is not a text, or empty, or has control characters")
      }
      guard !attributes.contains(where: { $0.name == name }) else {
        throw lines.failure("the member \(member) occurs twice")
      }
      attributes.append(attribute)
    }
    return attributes
  }

  private func checkNames(_ members: [(String, JSON)]) throws(Failure) {
    var names: Set<[UInt8]> = []
    for (name, _) in members where !names.insert(Array(name.utf8)).inserted {
      throw lines.failure("the member \(name) occurs twice")
    }
  }

  private func text(_ name: String, in json: JSON) throws(Failure) -> String {
    guard let text = try optionalText(name, in: json) else { throw lines.failure("the member \(name) is missing") }
    return text
  }

  private func optionalText(_ name: String, in json: JSON) throws(Failure) -> String? {
    guard let member = json[name] else { return nil }
    guard let text = member.text, !text.isEmpty else { throw lines.failure("\(name) is not a text, or empty") }
    return text
  }

  private func metadata(_ json: JSON?) throws(Failure) -> [NamedValue] {
    guard let json else { return [] }
    guard case .object(let members) = json, json.isObjectOfStrings else {
      throw lines.failure("metadata is not an object of texts")
    }
    try checkNames(members)
    return members.map { NamedValue($0.0, $0.1.text ?? "") }
  }

  private func source(_ text: String) throws(Failure) -> FilePath {
    // Something else before `://` is part of the name of a file in a folder.
    guard let (scheme, rest) = text.cut(at: "://"),
      scheme.utf8.allSatisfy({ ASCII.isAlphanumeric($0) || "+-.".utf8.contains($0) })
    else { return try path(Array(text.utf8)) }
    guard scheme.lowercased() == "file" else {
      throw lines.failure("localUri is neither a path nor a file: URL", remedy: "copy it into a file first")
    }
    let host = rest.upTo("/")
    guard host.isEmpty || host.lowercased() == "localhost" else {
      throw lines.failure("the file: URL names the host \(host)", remedy: "its path begins with a third slash")
    }
    let encoded = rest[host.endIndex...].utf8
    guard !encoded.isEmpty, PercentEncoding.isWhole(encoded), !encoded.contains(where: { "?#".utf8.contains($0) })
    else {
      throw lines.failure("the file: URL is not percent-encoded", remedy: "write %25 for %, %3F for ?, %23 for #")
    }
    return try path(PercentEncoding.bytes(of: Array(encoded)))
  }

  private func path(_ bytes: [UInt8]) throws(Failure) -> FilePath {
    guard !bytes.contains(0) else { throw lines.failure("localUri has a zero byte") }
    return FilePath(bytes: bytes)
  }
}
