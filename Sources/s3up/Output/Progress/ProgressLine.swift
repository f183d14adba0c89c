import MultipartBasics
import MultipartCore

/// Renders the progress of one upload as one line.
enum ProgressLine {
  /// One fact; the one with the highest rank is left out first.
  typealias Field = (text: String, rank: Int)

  private static let barRank = 4
  private static let shortestBar = 12
  static let shortestName = 12

  /// The line, in at most `width` columns. If there is little space, fields are left out in this order: connections,
  /// parts, bar, rate, bytes, time left, and finally the name; the percentage stays.
  static func draw(_ state: ProgressState, width: Int) -> String {
    guard width > 0 else { return "" }
    let name = SafeText.oneLine(state.name)
    let nameRoom = min(TextWidth.columns(name), max(shortestName, width / 4))
    var (fields, hasBar) = (fields(of: state.shortened(width)), true)
    while true {
      let text = fields.map(\.text).joined(separator: "  ")
      let room = width - TextWidth.columns(text) - 2 - nameRoom
      if room >= (hasBar ? shortestBar + 2 : 0) {
        let bar = hasBar ? bar(state, width: min(30, room - 2)) + "  " : ""
        return TextWidth.end(name, to: nameRoom) + "  " + bar + text
      }
      guard let least = fields.indices.max(by: { fields[$0].rank < fields[$1].rank }), fields.count > 1 || hasBar
      else { break }
      if hasBar, fields.count == 1 || fields[least].rank < barRank { hasBar = false } else { fields.remove(at: least) }
    }
    let text = fields.first?.text ?? ""
    let room = width - TextWidth.columns(text) - 2
    return room >= 3 ? TextWidth.end(name, to: room) + "  " + text : TextWidth.cut(text, to: width)
  }

  /// The fields for which there is space.
  static func fit(_ fields: [Field], width: Int) -> [String] {
    var fields = fields
    while fields.count > 1, TextWidth.columns(fields.map(\.text).joined(separator: "  ")) > width {
      guard let least = fields.indices.max(by: { fields[$0].rank < fields[$1].rank }) else { break }
      fields.remove(at: least)
    }
    return fields.map { TextWidth.cut($0.text, to: width) }
  }

  /// Rounded down, so that 100% is shown only at the end.
  static func percent(_ fraction: Double) -> String { "\(Int(fraction * 100))%" }

  /// The line for a log: all fields, without a bar.
  static func plain(_ state: ProgressState) -> String {
    SafeText.oneLine(state.name) + ": " + fields(of: state).map(\.text).joined(separator: ", ")
  }

  /// All fields, in the order of display.
  private static func fields(of state: ProgressState) -> [Field] {
    var fields: [Field] = []
    if let fraction = state.fraction {
      fields.append((percent(fraction), 0))
    }
    let size = state.total.map { "\(Human.size(state.done)) of \(Human.size($0))" } ?? Human.size(state.done)
    fields.append((size, state.total == nil ? 0 : 2))
    if let words = state.words { fields.append((words, 1)) }
    if let rate = state.rate { fields.append((Human.rate(rate), 3)) }
    if let eta = state.eta { fields.append(("ETA " + Human.clock(eta), 1)) }
    if let parts = state.parts {
      fields.append(("parts \(state.partsDone)/\(parts)", 5))
    } else if state.partsDone > 0 {
      fields.append(("parts \(state.partsDone)", 5))
    }
    let showsConnections = state.connections > 0 && (state.words == nil || state.activity.isSending)
    if showsConnections { fields.append((Human.count(state.connections, "connection"), 6)) }
    return fields
  }

  private static func bar(_ state: ProgressState, width: Int) -> String {
    let inner = width - 2
    // Without a total the bar only shows activity.
    guard let fraction = state.fraction else { return "[" + String(repeating: "~", count: inner) + "]" }
    let full = Int(fraction * Double(inner))
    let head = full < inner && fraction > 0 ? ">" : ""
    return "[" + String(repeating: "=", count: full) + head
      + String(repeating: " ", count: inner - full - head.utf8.count) + "]"
  }
}
