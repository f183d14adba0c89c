import MultipartCore

/// Renders the progress of one upload as one line.
enum ProgressLine {
  /// At most `width` columns. If there is little space, fields are left out in this order: connections, parts, bar, rate,
  /// bytes, time left, and finally the name; the percentage stays.
  static func draw(_ state: ProgressState, width: Int) -> String {
    guard width > 0 else { return "" }
    let name = SafeText.oneLine(state.name)
    let nameRoom = min(TextWidth.columns(name), max(8, width / 4))
    var fields = fields(of: state)
    while !fields.isEmpty {
      let text = fields.map(\.text).joined(separator: "  ")
      let room = width - TextWidth.columns(text) - 2
      if room >= nameRoom {
        let barRoom = room - nameRoom - 2
        let bar = barRoom >= 12 ? bar(state, width: min(30, barRoom)) + "  " : ""
        return TextWidth.cut(name, to: nameRoom) + "  " + bar + text
      }
      guard let least = fields.indices.max(by: { fields[$0].rank < fields[$1].rank }), fields.count > 1 else { break }
      fields.remove(at: least)
    }
    let text = fields.first?.text ?? ""
    let room = width - TextWidth.columns(text) - 2
    return room >= 3 ? TextWidth.cut(name, to: room) + "  " + text : TextWidth.cut(text, to: width)
  }

  /// A line for a log: all fields, without a bar.
  static func plain(_ state: ProgressState) -> String {
    SafeText.oneLine(state.name) + ": " + fields(of: state).map(\.text).joined(separator: ", ")
  }

  /// In the order of display; the field with the highest rank is left out first.
  private static func fields(of state: ProgressState) -> [(text: String, rank: Int)] {
    var fields: [(text: String, rank: Int)] = []
    if let fraction = state.fraction {
      // Rounded down: 100% is shown only at the end.
      let percent = Int(fraction * 100)
      fields.append(("\(percent)%", 0))
    }
    let size = state.total.map { "\(Human.size(state.done)) of \(Human.size($0))" } ?? Human.size(state.done)
    fields.append((size, state.total == nil ? 0 : 2))
    if let words = state.words { fields.append((words, 1)) }
    if let rate = state.rate { fields.append((Human.rate(rate), 3)) }
    if let eta = state.eta { fields.append(("ETA " + Human.clock(eta), 1)) }
    if let parts = state.parts {
      fields.append(("parts \(state.partsDone)/\(parts)", 4))
    } else if state.partsDone > 0 {
      fields.append(("parts \(state.partsDone)", 4))
    }
    let showsConnections = state.connections > 0 && (state.words == nil || state.activity.isSending)
    if showsConnections { fields.append((Human.count(state.connections, "connection"), 5)) }
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
