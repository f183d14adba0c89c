/// Parses and adds numbers from outside: from options, variables, files and answers of stores.
extension FixedWidthInteger {
  /// Parses decimal digits, after a minus if the bounds allow one; nil for anything else, and out of bounds. Arithmetic
  /// on a number from outside relies on its bounds, because an overflow would end the process.
  @inlinable public init?(_ digits: some Collection<UInt8>, in bounds: ClosedRange<Self>) {
    let isNegative = bounds.lowerBound < 0 && digits.first == UInt8(ascii: "-")
    let figures = digits.dropFirst(isNegative ? 1 : 0)
    guard !figures.isEmpty else { return nil }
    var number: Self = 0
    for figure in figures {
      guard ASCII.isDigit(figure) else { return nil }
      let (tens, isOver) = number.multipliedReportingOverflow(by: 10)
      let value = Self(figure - 0x30)
      let (next, isPast) =
        isNegative ? tens.subtractingReportingOverflow(value) : tens.addingReportingOverflow(value)
      guard !isOver, !isPast else { return nil }
      number = next
    }
    guard bounds.contains(number) else { return nil }
    self = number
  }

  /// Parses a text of decimal digits.
  @inlinable public init?(_ text: some StringProtocol, in bounds: ClosedRange<Self>) {
    self.init(text.utf8, in: bounds)
  }

  /// The sum, or the largest number if the sum exceeds it: for totals of sizes that files claim to have. Two sparse
  /// files together can be longer than 64 bits can count.
  @inlinable public func plus(_ other: Self) -> Self {
    let (sum, isOver) = addingReportingOverflow(other)
    return isOver ? (other < 0 ? .min : .max) : sum
  }
}

extension Bool {
  /// Parses `true`, `yes` and `1`, or `false`, `no` and `0`, in any case; nil for anything else.
  public init?(word text: String) {
    switch text.lowercased() {
    case "true", "yes", "1": self = true
    case "false", "no", "0": self = false
    default: return nil
    }
  }
}
