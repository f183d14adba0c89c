import MultipartBasics

/// A pattern in the language of gitignore, as git itself matches it.
struct Glob: Sendable {
  private enum Token {
    case byte(UInt8)
    /// `?` and `[…]`, as a table of bytes. It never includes the slash.
    case oneOf([Bool])
    /// `*`: any bytes of one component.
    case star
    /// `**`: any bytes.
    case anything
    /// `**/`: any number of folders, including none.
    case folders
  }

  private static let slash = UInt8(ascii: "/")
  private static let star = UInt8(ascii: "*")
  private static let backslash = UInt8(ascii: "\\")

  private let foldersOnly: Bool
  /// Whether there is a slash at its beginning or in the middle: then it is matched with the whole path, else with the
  /// last component.
  private let isAnchored: Bool
  /// The tokens; nil matches nothing: a set without an end, or an escape of nothing.
  private let tokens: [Token]?

  init(_ pattern: [UInt8]) {
    var bytes = Self.trimmed(pattern)
    foldersOnly = bytes.last == Self.slash
    if foldersOnly { bytes.removeLast() }
    isAnchored = bytes.contains(Self.slash)
    if bytes.first == Self.slash { bytes.removeFirst() }
    tokens = Self.tokens(of: bytes)
  }

  /// The pattern without trailing spaces, unless the first of them is escaped.
  private static func trimmed(_ pattern: [UInt8]) -> [UInt8] {
    var end = 0
    var at = 0
    while at < pattern.count {
      if pattern[at] == backslash { at += 1 } else if pattern[at] == UInt8(ascii: " ") { at += 1; continue }
      at += 1
      end = min(at, pattern.count)
    }
    return Array(pattern[..<end])
  }

  private static func tokens(of bytes: [UInt8]) -> [Token]? {
    var tokens: [Token] = []
    // Git compares everything before the first special byte literally: a `**` after that counts as one at the
    // beginning.
    let plain = bytes.prefix { !"*?[\\".utf8.contains($0) }.count
    var at = 0
    while at < bytes.count {
      let byte = bytes[at]
      at += 1
      switch byte {
      case backslash:
        guard at < bytes.count else { return nil }
        tokens.append(.byte(bytes[at]))
        at += 1
      case UInt8(ascii: "?"): tokens.append(.oneOf((0...255).map { $0 != slash }))
      case UInt8(ascii: "["):
        var set = GlobSet(bytes, at)
        guard set.read() else { return nil }
        set.members[Int(slash)] = false
        tokens.append(.oneOf(set.members))
        at = set.at
      case star:
        let begin = at - 1
        while at < bytes.count, bytes[at] == star { at += 1 }
        let isWhole =
          at - begin > 1 && (begin == plain || bytes[begin - 1] == slash)
          && (at == bytes.count || bytes[at] == slash || bytes[at...].starts(with: [backslash, slash]))
        if !isWhole {
          tokens.append(.star)
        } else if at < bytes.count, bytes[at] == slash {
          tokens.append(.folders)
          at += 1
        } else {
          tokens.append(.anything)
        }
      default: tokens.append(.byte(byte))
      }
    }
    return tokens
  }

  func matches(_ path: [UInt8], isFolder: Bool) -> Bool {
    guard let tokens, isFolder || !foldersOnly else { return false }
    let start = isAnchored ? 0 : path.lastIndex(of: Self.slash).map { $0 + 1 } ?? 0
    return Self.matches(tokens, path, from: start)
  }

  /// Matches without backtracking exponentially: after a mismatch the last star takes one more byte, and if it cannot,
  /// the last `**` does, because what precedes them has already matched the shortest text.
  private static func matches(_ tokens: [Token], _ text: [UInt8], from start: Int) -> Bool {
    var next = 0
    var at = start
    var narrow: (next: Int, at: Int)?
    var wide: (next: Int, at: Int, isFolders: Bool)?
    while true {
      if next == tokens.count {
        if at == text.count { return true }
      } else {
        switch tokens[next] {
        case .star:
          next += 1
          narrow = (next, at)
          continue
        case .anything, .folders:
          let isFolders = if case .folders = tokens[next] { true } else { false }
          next += 1
          (narrow, wide) = (nil, (next, at, isFolders))
          continue
        case .byte(let byte):
          if at < text.count, text[at] == byte {
            next += 1
            at += 1
            continue
          }
        case .oneOf(let members):
          if at < text.count, members[Int(text[at])] {
            next += 1
            at += 1
            continue
          }
        }
      }
      if let last = narrow, last.at < text.count, text[last.at] != slash {
        (next, at) = (last.next, last.at + 1)
        narrow = (next, at)
      } else if let last = wide, let end = last.isFolders ? text[last.at...].firstIndex(of: slash) : last.at,
        end < text.count
      {
        (next, at) = (last.next, end + 1)
        (narrow, wide) = (nil, (next, at, last.isFolders))
      } else {
        return false
      }
    }
  }
}

/// A set in a pattern: `[abc]`, `[a-z]`, `[!a]` or `[^a]`, `[[:digit:]]`, with a `]` at the beginning or escaped.
private struct GlobSet {
  private let bytes: [UInt8]
  /// The position after the opening bracket, later after the closing one.
  private(set) var at: Int
  var members = [Bool](repeating: false, count: 256)

  init(_ bytes: [UInt8], _ at: Int) {
    self.bytes = bytes
    self.at = at
  }

  private var byte: UInt8? { at < bytes.count ? bytes[at] : nil }

  /// Reads the set; false if it has no end, or names an unknown class.
  mutating func read() -> Bool {
    let isNegated = byte == UInt8(ascii: "!") || byte == UInt8(ascii: "^")
    if isNegated { at += 1 }
    let begin = at
    // The byte before a `-`.
    var low: UInt8?
    while let first = byte {
      if first == UInt8(ascii: "]"), at > begin { break }
      if let low = low.take(), first == UInt8(ascii: "-"), at + 1 < bytes.count, bytes[at + 1] != UInt8(ascii: "]") {
        at += 1
        guard let high = unescaped() else { return false }
        if low <= high { for byte in low...high { members[Int(byte)] = true } }
      } else if first == UInt8(ascii: "["), let name = className {
        guard let isMember = Self.classes[name] else { return false }
        for byte in UInt8(0)..<0x80 where isMember(byte) { members[Int(byte)] = true }
        at += name.utf8.count + 3
      } else if let byte = unescaped() {
        members[Int(byte)] = true
        low = byte
      } else {
        return false
      }
      at += 1
    }
    guard byte != nil else { return false }
    at += 1
    if isNegated { for byte in members.indices { members[byte].toggle() } }
    return true
  }

  /// The byte at the position, or the one that a backslash at the position escapes.
  private mutating func unescaped() -> UInt8? {
    if byte == UInt8(ascii: "\\") { at += 1 }
    return byte
  }

  /// The class name in `[:name:]`, if there is one at the position.
  private var className: String? {
    guard bytes[at...].dropFirst().first == UInt8(ascii: ":"),
      let end = bytes[(at + 2)...].firstIndex(of: UInt8(ascii: "]")), end > at + 2, bytes[end - 1] == UInt8(ascii: ":")
    else { return nil }
    return String(decoding: bytes[(at + 2)..<(end - 1)], as: UTF8.self)
  }

  private static func isLetter(_ byte: UInt8) -> Bool { ASCII.isAlphanumeric(byte) && !ASCII.isDigit(byte) }

  private static let classes: [String: @Sendable (UInt8) -> Bool] = [
    "alnum": ASCII.isAlphanumeric, "digit": ASCII.isDigit, "alpha": isLetter, "graph": ASCII.isVisible,
    "upper": { isLetter($0) && $0 < 0x60 }, "lower": { isLetter($0) && $0 > 0x60 },
    "xdigit": { Hex.value(of: $0) != nil }, "punct": { ASCII.isVisible($0) && !ASCII.isAlphanumeric($0) },
    "print": { $0 >= 0x20 && $0 < 0x7F }, "cntrl": { $0 < 0x20 || $0 == 0x7F }, "blank": { $0 == 0x20 || $0 == 0x09 },
    // As in git, without the vertical tab and the form feed.
    "space": { $0 == 0x20 || $0 == 0x09 || $0 == 0x0A || $0 == 0x0D },
  ]
}
