import MultipartBasics

/// Attributes of objects by the names of their files, in the form of `.gitattributes`: each line has a glob, and the
/// attributes of matching objects. For each attribute the last line that matches and names it counts.
/// ```
/// *.html content-type="text/html; charset=utf-8" cache-control=no-cache
/// assets/** cache-control="public, max-age=31536000, immutable"
/// /index.html !cache-control
/// ```
/// A glob with spaces is put in quotes. `!NAME` cancels what earlier lines say.
public final class AttributeRules: Sendable {
  private struct Rule: Sendable {
    var line: Int
    var text: String
    var glob: Glob
    /// The settings of a rule; nil cancels earlier ones.
    var settings: [(name: ObjectAttribute.Name, attribute: ObjectAttribute?)]
  }

  private static let longest = 1 << 16
  private static let most = 10_000

  private let rules: [Rule]
  /// The path of the file, for display.
  public let file: String
  /// Whether each rule has matched, by its number.
  private let matched: Locked<[Bool]>

  /// Reads the rules of a file; throws if a line is not one.
  public init(_ path: FilePath) throws(Failure) {
    let lines = try LineReader(path, title: "the file of attributes", longest: Self.longest)
    var rules: [Rule] = []
    while let line = try lines.next() {
      var line = AttributeLine(Array(line), isFirst: lines.number == 1)
      do {
        guard let rule = try line.read() else { continue }
        rules.append(
          Rule(
            line: lines.number, text: SafeText.oneLine(String(decoding: rule.glob, as: UTF8.self)),
            glob: Glob(rule.glob), settings: rule.settings))
      } catch {
        throw lines.failure(error.what, remedy: error.remedy)
      }
      guard rules.count <= Self.most else { throw lines.failure("there are more than \(Self.most) lines") }
    }
    (self.rules, file, matched) = (rules, path.text, Locked(Array(repeating: false, count: rules.count)))
  }

  /// The attributes of a file by its name, which is relative to the folder on the command line.
  func attributes(of name: [UInt8]) -> [ObjectAttribute] {
    let matching = rules.indices.filter { rules[$0].glob.matches(name, isFolder: false) }
    matched.withLock { matched in for rule in matching { matched[rule] = true } }
    var settings: [(name: ObjectAttribute.Name, attribute: ObjectAttribute?)] = []
    for setting in matching.flatMap({ rules[$0].settings }) {
      settings.removeAll { $0.name == setting.name }
      settings.append(setting)
    }
    return settings.compactMap(\.attribute)
  }

  /// Adds the attributes of a file of this name to the headers of its object.
  public func set(_ object: inout ObjectHeaders, of name: [UInt8]) { object.set(attributes(of: name)) }

  /// A message for each rule that has matched nothing so far.
  var unmatched: [Wording] {
    let matched = matched.withLock { $0 }
    return rules.indices.filter { !matched[$0] }.map { number in
      "\(SafeText.oneLine(file)), line \(rules[number].line): \(rules[number].text) matches no file"
    }
  }

  /// Whether any rule has matched a name so far.
  public var hasMatched: Bool { matched.withLock { $0.contains(true) } }
}

/// One line of a list of attributes, byte by byte.
private struct AttributeLine {
  struct Mistake: Error {
    var what: Wording
    var remedy: Wording?

    init(_ what: Wording, _ remedy: Wording? = nil) { (self.what, self.remedy) = (what, remedy) }
  }

  private static let quote = UInt8(ascii: "\"")
  private static let backslash = UInt8(ascii: "\\")

  private let bytes: [UInt8]
  private var at = 0

  init(_ line: [UInt8], isFirst: Bool) {
    bytes = line
    if isFirst, line.starts(with: [0xEF, 0xBB, 0xBF]) { at = 3 }
  }

  /// Reads the line; nil for a comment or a blank line.
  mutating func read() throws(Mistake) -> (
    glob: [UInt8], settings: [(name: ObjectAttribute.Name, attribute: ObjectAttribute?)]
  )? {
    skipBlanks()
    guard let first = byte, first != UInt8(ascii: "#") else { return nil }
    let glob = first == Self.quote ? try quoted() : word()
    guard glob.first != UInt8(ascii: "!") else {
      throw Mistake("a glob cannot be negated", "write \\! for a name that begins with it")
    }
    guard glob.last != UInt8(ascii: "/") else {
      throw Mistake("the glob is for folders, which have no attributes", "write ** after it for everything in them")
    }
    guard glob.contains(where: { $0 != UInt8(ascii: " ") }) else { throw Mistake("the glob is empty") }
    var settings: [(name: ObjectAttribute.Name, attribute: ObjectAttribute?)] = []
    skipBlanks()
    while byte != nil {
      settings.append(try setting())
      skipBlanks()
    }
    guard !settings.isEmpty else { throw Mistake("no attribute follows the glob", Self.names) }
    return (glob, settings)
  }

  private static let names: Wording = "the attributes are \(ObjectAttribute.Name.list), each with =VALUE"

  private mutating func setting() throws(Mistake) -> (name: ObjectAttribute.Name, attribute: ObjectAttribute?) {
    let takesBack = byte == UInt8(ascii: "!")
    if takesBack { at += 1 }
    let word = word(until: UInt8(ascii: "="))
    guard let text = String(validating: word, as: UTF8.self), let name = ObjectAttribute.Name(text) else {
      let shown = SafeText.oneLine(String(decoding: word, as: UTF8.self), limit: 80)
      throw Mistake("there is no attribute \(shown)", Self.names)
    }
    guard byte == UInt8(ascii: "=") else {
      guard takesBack else { throw Mistake("\(text) has no value", "write \(text)=VALUE, or !\(text) to cancel it") }
      return (name, nil)
    }
    guard !takesBack else { throw Mistake("!\(text) cancels the value of earlier lines, and has no value itself") }
    at += 1
    let value = byte == Self.quote ? try quoted() : self.word()
    guard let value = String(validating: value, as: UTF8.self), let attribute = ObjectAttribute(name, value) else {
      throw Mistake("the value of \(text) is empty, not UTF-8, or contains control characters")
    }
    return (name, attribute)
  }

  private var byte: UInt8? { at < bytes.count ? bytes[at] : nil }

  /// Whether the byte is a blank, including the carriage return of a line that was written on Windows.
  private static func isBlank(_ byte: UInt8) -> Bool { " \t\r".utf8.contains(byte) }

  private mutating func skipBlanks() {
    while let byte, Self.isBlank(byte) { at += 1 }
  }

  private mutating func word(until mark: UInt8? = nil) -> [UInt8] {
    let rest = bytes[at...].prefix { !Self.isBlank($0) && $0 != mark }
    at = rest.endIndex
    return Array(rest)
  }

  /// Reads from a quotation mark to the next. A backslash escapes a quotation mark or another backslash. A glob keeps
  /// the backslashes that mean something to it.
  private mutating func quoted() throws(Mistake) -> [UInt8] {
    at += 1
    var text: [UInt8] = []
    while let next = byte, next != Self.quote {
      if next == Self.backslash, at + 1 < bytes.count, [Self.quote, Self.backslash].contains(bytes[at + 1]) { at += 1 }
      text.append(bytes[at])
      at += 1
    }
    guard byte != nil else { throw Mistake("a quotation mark has no end") }
    at += 1
    guard byte.map(Self.isBlank) ?? true else {
      throw Mistake("a quotation mark is directly followed by text", "a space separates attributes")
    }
    return text
  }
}
