import MultipartBasics
import MultipartCore

/// Reads typed values; every refusal names the option or variable that the value came from.
extension Invocation {
  func wrong(_ given: Given, _ why: String, remedy: String?) -> Failure {
    Failure(.usage, "\(given.origin.text): '\(given.value.text)' \(why)", remedy: remedy)
  }

  /// A text that is valid in a header: UTF-8 without control characters.
  func text(_ name: FlagName) throws(Failure) -> String? {
    guard let given = last(name) else { return nil }
    return try text(given)
  }

  func text(_ given: Given) throws(Failure) -> String {
    guard let text = given.value.utf8Text else {
      throw wrong(given, "is not UTF-8", remedy: "Give the value in UTF-8.")
    }
    guard HeaderText.isValue(text) else {
      throw wrong(given, "holds control characters", remedy: "Leave out line breaks and other control characters.")
    }
    return text
  }

  /// A path, as bytes.
  func path(_ name: FlagName) throws(Failure) -> Argument? {
    guard let given = last(name) else { return nil }
    guard !given.value.bytes.contains(0) else { throw wrong(given, "is not a path", remedy: nil) }
    return given.value
  }

  func choice<Choice: CaseIterable & RawRepresentable<String>>(
    _ name: FlagName, as type: Choice.Type = Choice.self
  ) throws(Failure) -> Choice? {
    try word(name, of: Choice.words).flatMap { Choice(rawValue: $0) }
  }

  /// One of the words that the option's definition offers.
  func word(_ name: FlagName) throws(Failure) -> String? {
    try word(name, of: FlagList.find(name, for: command)?.choices ?? [])
  }

  private func word(_ name: FlagName, of words: [String]) throws(Failure) -> String? {
    guard let given = last(name) else { return nil }
    // The case is ignored, because some values are written in capitals, such as `AES256`.
    let typed = given.value.text.lowercased()
    if let word = words.first(where: { $0.lowercased() == typed }) { return word }
    let near = Nearest.match(typed, in: words)
    throw wrong(
      given, "is not a valid value" + (near.map { "; did you mean \($0)?" } ?? ""),
      remedy: "Use one of \(words.joined(separator: ", ")).")
  }

  func number(_ name: FlagName, in range: ClosedRange<Int>) throws(Failure) -> Int? {
    guard let given = last(name) else { return nil }
    guard let value = Int(given.value.bytes, in: range) else {
      throw wrong(
        given, "is not a number from \(range.lowerBound) to \(range.upperBound)",
        remedy: "Give a whole number in that range.")
    }
    return value
  }

  /// One part or a range of parts: `3` or `1-40`.
  func partRange(_ name: FlagName) throws(Failure) -> ClosedRange<Int>? {
    guard let given = last(name) else { return nil }
    let ends = given.value.bytes.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
      .map { Int($0, in: S3Limits.partNumbers) }
    guard (1...2).contains(ends.count), let first = ends[0], let last = ends[ends.count - 1], first <= last else {
      throw wrong(
        given, "is neither a part nor a range of parts",
        remedy: "Write --\(name.rawValue) 3 or --\(name.rawValue) 1-40, up to 10000.")
    }
    return first...last
  }

  func size(_ name: FlagName) throws(Failure) -> Int64? {
    guard let given = last(name) else { return nil }
    guard let size = SizeValue.parse(given.value.text) else {
      throw wrong(given, "is not a size", remedy: SizeValue.form)
    }
    return size
  }

  func duration(_ name: FlagName) throws(Failure) -> Duration? {
    guard let given = last(name) else { return nil }
    guard let duration = DurationValue.parse(given.value.text) else {
      throw wrong(given, "is not a duration", remedy: DurationValue.advice(given.value.text))
    }
    return duration
  }

  /// How long something signed is valid.
  func lifetime(_ name: FlagName) throws(Failure) -> Duration? {
    guard let given = last(name), let lifetime = try duration(name) else { return nil }
    guard PresignedURL.lifetimes.contains(lifetime) else {
      throw wrong(given, "is not from 1s to 7d", remedy: "S3 signs URLs for 7 days at most.")
    }
    return lifetime
  }

  func date(_ name: FlagName) throws(Failure) -> Timestamp? {
    guard let given = last(name) else { return nil }
    guard let date = Timestamp(date: given.value.text) else {
      throw wrong(given, "is not a date", remedy: DateValue.form)
    }
    return date
  }

  func keyValues(_ name: FlagName) throws(Failure) -> [NamedValue] {
    var result: [NamedValue] = []
    for given in all(name) {
      guard let pair = NamedValue(try text(given)) else {
        throw wrong(given, "is not of the form K=V", remedy: "Write --\(name.rawValue) NAME=VALUE.")
      }
      result.append(pair)
    }
    return result
  }

  /// An HTTP date; other dates are converted to one.
  func httpDate(_ name: FlagName) throws(Failure) -> String? {
    guard let text = try text(name) else { return nil }
    return Timestamp(date: text)?.httpDate ?? text
  }
}
