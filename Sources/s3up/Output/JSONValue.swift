import MultipartCore

/// A JSON value, its keys in the order they were given.
enum JSONValue: Sendable {
  case null
  case bool(Bool)
  case int(Int64)
  /// Not a number and the infinities become null.
  case double(Double)
  case string(String)
  case array([JSONValue])
  case object([(String, JSONValue)])

  /// Bytes that should be text; what is not UTF-8 becomes U+FFFD.
  static func text(_ bytes: [UInt8]) -> JSONValue { .string(String(decoding: bytes, as: UTF8.self)) }
  static func text(_ argument: Argument) -> JSONValue { .string(argument.text) }
  static func optional(_ text: String?) -> JSONValue { text.map { .string($0) } ?? .null }
  static func optional(_ number: Int?) -> JSONValue { number.map { .int(Int64($0)) } ?? .null }

  /// On one line, without spaces.
  var text: String {
    var out = ""
    write(to: &out)
    return out
  }

  private func write(to out: inout String) {
    switch self {
    case .null: out += "null"
    case .bool(let value): out += value ? "true" : "false"
    case .int(let value): out += String(value)
    case .double(let value): out += Self.plain(value)
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
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": out += "\\\""
      case "\\": out += "\\\\"
      case "\n": out += "\\n"
      case "\r": out += "\\r"
      case "\t": out += "\\t"
      default:
        // Beyond what JSON asks, all that could move a terminal's cursor.
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

  /// The shortest digits that give the number back, without an exponent.
  static func plain(_ value: Double) -> String {
    guard value.isFinite else { return "null" }
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
