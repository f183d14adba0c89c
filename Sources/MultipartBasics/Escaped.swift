/// Escapes text for use in another language: one function for each, in addition to `SafeText` for terminals,
/// `ShellWord` for shells, `JSON` and `PercentEncoding` for URLs.
///
/// All of them work byte by byte. Swift's `Character` joins a quote or a `<` with an accent that follows it, or with a
/// U+0600 before it, and then equals neither; a shell, a browser or a parser still sees the quote.
public enum Escaped {
  /// HTML, as text or within a quoted attribute.
  public static func html(_ text: String) -> String {
    replaced(text) { byte in
      switch byte {
      case UInt8(ascii: "&"): "&amp;"
      case UInt8(ascii: "<"): "&lt;"
      case UInt8(ascii: ">"): "&gt;"
      case UInt8(ascii: "\""): "&quot;"
      case UInt8(ascii: "'"): "&#39;"
      default: nil
      }
    }
  }

  /// JSON within a script element, which `</script` or `<!--` would end or change. The four characters occur only in
  /// strings of JSON, where an escape is equivalent.
  public static func jsonInHTML(_ json: String) -> String {
    replaced(json) { byte in
      switch byte {
      case UInt8(ascii: "<"): "\\u003c"
      case UInt8(ascii: ">"): "\\u003e"
      case UInt8(ascii: "&"): "\\u0026"
      case UInt8(ascii: "'"): "\\u0027"
      default: nil
      }
    }
  }

  /// Text of an XML element, where the quotes of an ETag may stay. Control characters, which XML 1.0 does not allow,
  /// and line breaks, which a parser would normalise, are written as references, which stores can read.
  public static func xml(_ text: String) -> String {
    replaced(text) { byte in
      switch byte {
      case UInt8(ascii: "&"): "&amp;"
      case UInt8(ascii: "<"): "&lt;"
      case UInt8(ascii: ">"): "&gt;"
      case 0..<0x20, 0x7F: "&#x\(String(byte, radix: 16, uppercase: true));"
      default: nil
      }
    }
  }

  /// Text within the quotes of a curl config file, where a line break would begin another option.
  public static func curlConfig(_ text: String) -> String {
    replaced(text) { byte in
      switch byte {
      case UInt8(ascii: "\\"): "\\\\"
      case UInt8(ascii: "\""): "\\\""
      case UInt8(ascii: "\n"): "\\n"
      case UInt8(ascii: "\r"): "\\r"
      case UInt8(ascii: "\t"): "\\t"
      default: nil
      }
    }
  }

  /// Text within single quotes of a POSIX shell. Other bytes of `more` get a backslash.
  public static func singleQuoted(_ text: String, backslashing more: String = "") -> String {
    replaced(text) { byte in
      if byte == UInt8(ascii: "'") { return "'\\''" }
      return more.utf8.contains(byte) ? "\\" + String(Unicode.Scalar(byte)) : nil
    }
  }

  /// Text within `$'…'`.
  static func dollarQuoted(_ text: String) -> String {
    replaced(text) { byte in
      switch byte {
      case UInt8(ascii: "\\"), UInt8(ascii: "'"): "\\" + String(Unicode.Scalar(byte))
      case 0..<0x20, 0x7F: "\\x" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
      default: nil
      }
    }
  }

  /// Text in which each of the ASCII characters of `marks` gets a backslash.
  public static func backslashed(_ text: String, _ marks: String) -> String {
    replaced(text) { marks.utf8.contains($0) ? "\\" + String(Unicode.Scalar($0)) : nil }
  }

  /// The message of a command to GitHub's runner, which ends at the end of the line.
  public static func workflowCommand(_ text: String) -> String {
    replaced(text) { byte in
      switch byte {
      case UInt8(ascii: "%"): "%25"
      case UInt8(ascii: "\r"): "%0D"
      case UInt8(ascii: "\n"): "%0A"
      default: nil
      }
    }
  }

  /// A property of such a command: `file=…,title=…::`.
  public static func workflowProperty(_ text: String) -> String {
    replaced(workflowCommand(text)) { byte in
      switch byte {
      case UInt8(ascii: ":"): "%3A"
      case UInt8(ascii: ","): "%2C"
      default: nil
      }
    }
  }

  /// Text of Markdown, also in a table. A character reference is never interpreted as structure.
  public static func markdown(_ text: String) -> String {
    replaced(text) { byte in
      byte >= 0x80 || byte == UInt8(ascii: " ") || ASCII.isAlphanumeric(byte) ? nil : "&#\(byte);"
    }
  }

  private static func replaced(_ text: String, _ replacement: (UInt8) -> String?) -> String {
    // Most texts have nothing to escape.
    guard let first = text.utf8.firstIndex(where: { replacement($0) != nil }) else { return text }
    var out = Array(text.utf8[..<first])
    out.reserveCapacity(text.utf8.count + 32)
    for byte in text.utf8[first...] {
      if let piece = replacement(byte) { out += piece.utf8 } else { out.append(byte) }
    }
    return String(decoding: out, as: UTF8.self)
  }
}

/// Quotes the words of a command that a user may copy into a shell: a key can contain spaces, and the store chooses the
/// upload id.
public enum ShellWord {
  /// The text as one word that can be shown: control characters, which no terminal should get, are written as in
  /// `$'\x1b'`, which bash, zsh and ksh read, but not every shell.
  public static func visible(_ text: String) -> String {
    let hasControls = text.utf8.contains { $0 < 0x20 || $0 == 0x7F }
    return hasControls ? "$'" + Escaped.dollarQuoted(text) + "'" : quoted(text)
  }

  /// The text as one word: as it is if it contains nothing special, otherwise in single quotes.
  public static func quoted(_ text: String) -> String {
    let isPlain: (UInt8) -> Bool = { ASCII.isAlphanumeric($0) || "-._/:=@%+,".utf8.contains($0) }
    if !text.isEmpty, text.utf8.allSatisfy(isPlain) { return text }
    return "'" + Escaped.singleQuoted(text) + "'"
  }
}
