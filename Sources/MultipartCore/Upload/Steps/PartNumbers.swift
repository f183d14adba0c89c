/// Part numbers as messages show them.
package enum PartNumbers {
  private static let mostRanges = 4

  /// The numbers from 1 to the highest that are missing.
  static func missing(in numbers: some Collection<Int>) -> [Int] {
    let there = Set(numbers)
    guard let last = there.max(), last > there.count else { return [] }
    return (1...last).filter { !there.contains($0) }
  }

  /// `what` begins the message: "the store does not have", "the list leaves out".
  package static func requireWhole(_ numbers: [Int], _ what: String) throws(Failure) {
    let missing = missing(in: numbers)
    guard !missing.isEmpty else { return }
    throw Failure(
      .dataMismatch, "\(what) \(text(missing)) of 1-\(numbers.max() ?? 0)",
      remedy: "Send what is missing, or assemble the object without it: \(.allowsGaps)")
  }

  /// A count in words: `1 part`, `5 parts`.
  static func count(_ parts: Int) -> String { parts == 1 ? "1 part" : "\(parts) parts" }

  /// Part numbers in words: `part 2`, `parts 2 and 5-9`, `parts 2, 5-9, 11, 13 and 31 more`; `numbers` must be sorted.
  package static func text(_ numbers: [Int]) -> String {
    var ranges: [ClosedRange<Int>] = []
    for number in numbers {
      if let last = ranges.last, last.upperBound == number - 1 {
        ranges[ranges.count - 1] = last.lowerBound...number
      } else {
        ranges.append(number...number)
      }
    }
    var words = ranges.prefix(mostRanges).map { range in
      range.count == 1 ? "\(range.lowerBound)" : "\(range.lowerBound)-\(range.upperBound)"
    }
    let more = ranges.dropFirst(mostRanges).reduce(0) { $0 + $1.count }
    if more > 0 { words.append("\(more) more") }
    let what = numbers.count == 1 ? "part " : "parts "
    guard words.count > 1 else { return what + words.joined() }
    return what + words.dropLast().joined(separator: ", ") + " and " + (words.last ?? "")
  }
}
