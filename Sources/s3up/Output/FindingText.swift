import MultipartBasics
import MultipartCore

/// Renders a finding of `doctor`: a line with its mark, and one with its remedy; or a JSON object.
enum FindingText {
  /// The length of the longest check's name.
  private static let nameWidth = StoreFinding.Check.allCases.map(\.rawValue.utf8.count).max() ?? 0
  private static let longest = 1000

  static func lines(_ finding: StoreFinding, _ paint: Paint) -> [String] {
    let mark = finding.mark.rawValue
    let gap = String(repeating: " ", count: 6 - mark.utf8.count)
    let name = finding.check.rawValue
    let front = painted(finding.mark, paint) + gap + name + String(repeating: " ", count: nameWidth - name.utf8.count)
    var lines = [front + "  " + SafeText.oneLine(finding.text.commandText, limit: longest)]
    if let remedy = finding.remedy {
      lines.append(String(repeating: " ", count: 8 + nameWidth) + SafeText.oneLine(remedy.commandText, limit: longest))
    }
    return lines
  }

  static func json(_ finding: StoreFinding) -> String {
    JSON.object([
      ("event", .string("finding")), ("check", .string(finding.check.rawValue)),
      ("mark", .string(finding.mark.rawValue)), ("message", .string(finding.text.commandText)),
      ("hint", .optional(finding.remedy?.commandText)),
      ("exit", .int(Int64(finding.mark == .fail ? status(of: finding).rawValue : 0))),
      ("facts", .sorted(finding.facts.mapValues(json(of:)))),
    ]).encoded
  }

  private static func json(of fact: StoreFinding.Fact) -> JSON {
    switch fact {
    case .null: .null
    case .bool(let value): .bool(value)
    case .int(let value): .int(value)
    case .double(let value): .double(value)
    case .string(let text): .string(text)
    case .strings(let texts): .array(texts.map { .string($0) })
    }
  }

  static func status(of finding: StoreFinding) -> ExitStatus { ExitStatus(finding.code ?? .refused) }

  private static func painted(_ mark: StoreFinding.Mark, _ paint: Paint) -> String {
    switch mark {
    case .ok: paint.good(mark.rawValue)
    case .warn: paint.warning(mark.rawValue)
    case .fail: paint.bad(mark.rawValue)
    }
  }
}
