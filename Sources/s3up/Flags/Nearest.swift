/// Finds what somebody probably meant.
enum Nearest {
  /// The candidate with the fewest edits, if they are few for the word's length; else one that contains the word.
  static func match(_ word: String, in candidates: [String]) -> String? {
    // A word longer than any name means nothing, and the table below is quadratic.
    guard !word.isEmpty, word.utf8.count <= 64 else { return nil }
    let typed = word.lowercased()
    let allowed = min(3, 1 + typed.utf8.count / 4)
    var best: (name: String, distance: Int)?
    for name in candidates {
      let distance = edits(Array(typed.utf8), Array(name.lowercased().utf8))
      if distance <= allowed, distance < name.utf8.count, distance < best?.distance ?? .max { best = (name, distance) }
    }
    if let best { return best.name }
    guard typed.utf8.count >= 3 else { return nil }
    return candidates.first { $0.hasPrefix(typed) } ?? candidates.first { $0.contains(typed) }
  }

  /// Insertions, deletions, replacements and swaps of neighbours (optimal string alignment).
  static func edits(_ a: [UInt8], _ b: [UInt8]) -> Int {
    var before: [Int] = []
    var above = Array(0...b.count)
    for i in a.indices {
      var row = [i + 1]
      for j in b.indices {
        var cost = min(above[j] + (a[i] == b[j] ? 0 : 1), above[j + 1] + 1, row[j] + 1)
        if i > 0, j > 0, a[i] == b[j - 1], a[i - 1] == b[j] { cost = min(cost, before[j - 1] + 1) }
        row.append(cost)
      }
      before = above
      above = row
    }
    return above[b.count]
  }
}
