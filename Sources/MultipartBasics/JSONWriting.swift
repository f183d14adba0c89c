extension JSON {
  /// A whole number.
  public static func int(_ value: Int64) -> JSON { .number(String(value)) }

  /// A number with the shortest digits that are parsed back to it, without an exponent. NaN and infinity become null.
  public static func double(_ value: Double) -> JSON { value.isFinite ? .number(plain(value)) : .null }

  /// The text; null if there is none.
  public static func optional(_ text: String?) -> JSON { text.map { .string($0) } ?? .null }
  /// The number; null if there is none.
  public static func optional(_ number: Int?) -> JSON { number.map { .int(Int64($0)) } ?? .null }

  /// An object with its names sorted by their bytes.
  public static func sorted(_ fields: [String: JSON]) -> JSON {
    .object(fields.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }.map { ($0.key, $0.value) })
  }

  /// The JSON on one line, without spaces.
  public var encoded: String {
    var out = ""
    write(to: &out)
    return out
  }

  private func write(to out: inout String) {
    switch self {
    case .null: out += "null"
    case .bool(let value): out += value ? "true" : "false"
    case .number(let digits): out += digits
    case .string(let text): Self.quote(text, to: &out)
    case .array(let values):
      out += "["
      for (index, value) in values.enumerated() {
        if index > 0 { out += "," }
        value.write(to: &out)
      }
      out += "]"
    case .object(let fields):
      out += "{"
      for (index, field) in fields.enumerated() {
        if index > 0 { out += "," }
        Self.quote(field.0, to: &out)
        out += ":"
        field.1.write(to: &out)
      }
      out += "}"
    }
  }

  private static func quote(_ text: String, to out: inout String) {
    out += "\""
    guard !isPlain(text) else {
      out += text + "\""
      return
    }
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": out += "\\\""
      case "\\": out += "\\\\"
      case "\n": out += "\\n"
      case "\r": out += "\\r"
      case "\t": out += "\\t"
      default:
        // JSON does not require it, but what could move a terminal's cursor is escaped too.
        guard SafeText.isHarmful(scalar) else {
          out.unicodeScalars.append(scalar)
          continue
        }
        for unit in String(scalar).utf16 {
          let digits = String(unit, radix: 16)
          out += "\\u" + String(repeating: "0", count: 4 - digits.utf8.count) + digits
        }
      }
    }
    out += "\""
  }

  /// Whether the text needs no escapes, as most do not.
  private static func isPlain(_ text: String) -> Bool {
    text.utf8.allSatisfy { (0x20..<0x7F).contains($0) && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") }
  }

  private static func plain(_ value: Double) -> String {
    let text = String(value.magnitude)
    let sign = value.sign == .minus && value != 0 ? "-" : ""
    let halves = text.split(separator: "e")
    var digits = halves[0].split(separator: ".").map(String.init)
    guard halves.count == 2, let exponent = Int(halves[1]) else {
      return sign + (digits.count == 2 && digits[1] == "0" ? digits[0] : text)
    }
    if digits.count == 1 || digits[1] == "0" { digits = [digits[0], ""] }
    if exponent < 0 {
      return sign + "0." + String(repeating: "0", count: -exponent - 1) + digits[0] + digits[1]
    }
    return sign + digits[0] + digits[1] + String(repeating: "0", count: max(0, exponent - digits[1].utf8.count))
  }
}
