import MultipartBasics
import MultipartCore

/// Finds the word that was probably meant.
enum Nearest {
  /// The candidate with the fewest edits, if they are few for the word's length; else one that begins with the word;
  /// else one that contains it.
  static func match(_ word: String, in candidates: [String]) -> String? {
    // A longer word is not a typo, and the table below has quadratic size.
    guard !word.isEmpty, word.utf8.count <= 64 else { return nil }
    let typed = word.lowercased()
    let allowed = min(3, 1 + typed.utf8.count / 4)
    // Another number is another thing: sha512 is not meant as sha1.
    let digits: (String) -> [UInt8] = { $0.utf8.filter(ASCII.isDigit).sorted() }
    let number = digits(typed)
    let candidates = candidates.filter { number.isEmpty || digits($0).isEmpty || digits($0) == number }
    var best: (name: String, distance: Int)?
    for name in candidates {
      let distance = edits(Array(typed.utf8), Array(name.lowercased().utf8))
      if distance <= allowed, distance < name.utf8.count, distance < best?.distance ?? .max { best = (name, distance) }
    }
    // A truncated word means the whole word rather than another one that differs in two letters.
    let begun = typed.utf8.count >= 3 ? candidates.first { $0.lowercased().begins(with: typed) } : nil
    if let best, best.distance <= 1 || begun == nil { return best.name }
    return begun ?? (typed.utf8.count >= 3 ? candidates.first { $0.lowercased().holds(typed) } : nil)
  }

  /// The number of insertions, deletions, replacements and swaps of neighbours (optimal string alignment).
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
