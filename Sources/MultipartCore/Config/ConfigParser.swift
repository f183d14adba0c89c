import MultipartBasics

/// The grammar of AWS's shared files:
///
/// - `[section]`, its name in quotes or not; only a comment may follow.
/// - `name = value`; the case of names does not matter. `:` works like `=`, as in the AWS CLI's own parser.
/// - A line with more indentation than the pair above continues it: below an empty value, `name = value` is a pair of
///   its block; otherwise it adds a line to the value. Blank lines do not end it.
/// - `#` and `;` begin a comment at the start of a line and after white space, except in `credential_process`, which
///   may contain a shell script.
///
/// Any other line is a failure with the file and the line number, but without the text, which may be a secret whose
/// name is missing.
struct ConfigParser {
  /// Whether section names are preceded by a kind (`~/.aws/config`) or are names only (`~/.aws/credentials`).
  let hasKinds: Bool
  let shown: String

  private static let command = "credential_process"

  private var sections: [SectionName: ConfigSection] = [:]
  private var lineNumber = 0
  /// The section that pairs belong to; nil before the first header.
  private var current: SectionName?
  /// The pair that an indented line continues, and its own indentation.
  private var open: (name: String, indent: Int)?

  static func parse(_ bytes: [UInt8], hasKinds: Bool, shown: String) throws(Failure) -> [SectionName: ConfigSection] {
    var parser = ConfigParser(hasKinds: hasKinds, shown: shown)
    let bom: [UInt8] = [0xEF, 0xBB, 0xBF]
    let text = bytes.starts(with: bom) ? bytes.dropFirst(bom.count) : bytes[...]
    for line in text.split(separator: 0x0A, omittingEmptySubsequences: false) {
      try parser.read(line)
    }
    return parser.sections
  }

  private init(hasKinds: Bool, shown: String) {
    self.hasKinds = hasKinds
    self.shown = shown
  }

  private func broken(_ what: String, _ way: String? = nil) -> Failure {
    Failure(
      .configuration, "\(shown):\(lineNumber): \(what)", remedy: Wording(way ?? "fix line \(lineNumber) of \(shown)")
    ).at(Place(file: shown))
  }

  /// A pair that no header precedes.
  private var homeless: Failure {
    let header = hasKinds ? "[default] or [profile NAME]" : "[default] or [NAME]"
    return broken("a setting before the first section", "begin \(shown) with a line such as \(header)")
  }

  private mutating func read(_ raw: ArraySlice<UInt8>) throws(Failure) {
    lineNumber += 1
    guard !raw.contains(0), String(validating: raw, as: UTF8.self) != nil else {
      throw broken("the line is not text in UTF-8")
    }
    let indent = raw.prefix(while: isBlank).count
    let text = withoutComment(raw)
    guard let first = text.first else { return }
    if let open, indent > open.indent {
      try readContinuation(open.name == Self.command ? ASCII.trimmed(raw) : text, of: open.name)
    } else if first == UInt8(ascii: "[") {
      try readHeader(text)
    } else {
      try readPair(text, whole: ASCII.trimmed(raw), indent: indent)
    }
  }

  private mutating func readHeader(_ text: ArraySlice<UInt8>) throws(Failure) {
    var words: [[UInt8]] = []
    var rest = text.dropFirst().drop(while: isBlank)
    let start = rest.startIndex
    var end = start
    while let byte = rest.first, byte != UInt8(ascii: "]") {
      let word: ArraySlice<UInt8>
      if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
        word = rest.dropFirst().prefix { $0 != byte }
        guard word.endIndex < rest.endIndex else { throw broken("a section whose quotes are not closed") }
        rest = rest[(word.endIndex + 1)...]
      } else {
        word = rest.prefix { !isBlank($0) && $0 != UInt8(ascii: "]") }
        rest = rest[word.endIndex...]
      }
      words.append(Array(word))
      end = rest.startIndex
      rest = rest.drop(while: isBlank)
    }
    guard !rest.isEmpty else { throw broken("a section without its closing bracket") }
    if let next = rest.dropFirst().first(where: { !isBlank($0) }), next != UInt8(ascii: "#"), next != UInt8(ascii: ";")
    {
      throw broken("there is text after the closing bracket of a section")
    }
    let whole = words.count == 1 ? words[0] : Array(text[start..<end])
    guard !whole.isEmpty else { throw broken("a section without a name") }
    let name =
      hasKinds && words.count == 2
      ? SectionName(kind: string(words[0]), name: string(words[1])) : SectionName(kind: nil, name: string(whole))
    current = name
    open = nil
    if sections[name] == nil { sections[name] = ConfigSection() }
  }

  private mutating func readPair(
    _ text: ArraySlice<UInt8>, whole: ArraySlice<UInt8>, indent: Int
  ) throws(Failure) {
    guard var (name, value) = pair(text, "=:"), let section = current else {
      throw current == nil ? homeless : broken("the line is neither a section nor a pair NAME = VALUE")
    }
    if name == Self.command { (name, value) = pair(whole, "=:") ?? (name, value) }
    sections[section]?.merge(ConfigSection(values: [name: value]))
    open = (name, indent)
  }

  private mutating func readContinuation(_ text: ArraySlice<UInt8>, of name: String) throws(Failure) {
    guard let section = current else { throw homeless }
    let more = string(Array(text))
    if let value = sections[section]?.values[name], !value.isEmpty {
      sections[section]?.values[name] = value + "\n" + more
      return
    }
    guard let (inner, value) = pair(text, "=") else {
      throw broken("the line is not a pair NAME = VALUE of the block above it")
    }
    sections[section]?.values[name] = nil
    sections[section]?.nested[name, default: [:]][inner] = value
  }

  /// The name in lower case and the value, if there is a separator preceded by a name. Names of several words have no
  /// meaning, but AWS's tools accept them.
  private func pair(_ text: ArraySlice<UInt8>, _ separators: String) -> (String, String)? {
    guard let at = text.firstIndex(where: { separators.utf8.contains($0) }) else { return nil }
    let name = ASCII.trimmed(text[..<at])
    guard !name.isEmpty else { return nil }
    return (string(Array(name)).lowercased(), string(Array(ASCII.trimmed(text[(at + 1)...]))))
  }

  /// The line without its comment and the white space at its ends. A `#` inside a word is part of the word.
  private func withoutComment(_ raw: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    var afterBlank = true
    for index in raw.indices {
      let byte = raw[index]
      if afterBlank && (byte == UInt8(ascii: "#") || byte == UInt8(ascii: ";")) { return ASCII.trimmed(raw[..<index]) }
      afterBlank = isBlank(byte)
    }
    return ASCII.trimmed(raw)
  }

  private func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0D }

  private func string(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }
}

/// One section of a shared file: `name = value` pairs, and blocks such as `s3 =` with their own pairs.
struct ConfigSection: Sendable, Equatable {
  var values: [String: String] = [:]
  var nested: [String: [String: String]] = [:]

  /// Merges a section that occurs again later in the file: the last value of a name counts.
  mutating func merge(_ later: ConfigSection) {
    for (name, value) in later.values {
      values[name] = value
      nested[name] = nil
    }
    for (name, block) in later.nested {
      nested[name] = block
      values[name] = nil
    }
  }

  /// The value; nil if it is missing or empty.
  subscript(name: String) -> String? {
    values[name].flatMap { $0.isEmpty ? nil : $0 }
  }
}

/// Shows only names: the values may be keys.
extension ConfigSection: CustomStringConvertible, CustomReflectable {
  var description: String { "section of " + names.joined(separator: ", ") }
  var customMirror: Mirror { Mirror(self, children: ["names": names]) }

  private var names: [String] { (Array(values.keys) + Array(nested.keys)).sorted() }
}

/// The text between the brackets of a section: `[profile dev]` is (profile, dev), `[default]` is (nil, default).
struct SectionName: Sendable, Hashable {
  var kind: String?
  var name: String
}
