/// `8M`, `8MiB`, `8MB`, `8388608`: whole numbers, units of 1,024.
package enum SizeValue {
  package static let form = "A SIZE is a whole number of bytes, or of K, M, G or T (of 1024): 8388608, 8M, 8MiB."

  /// Nil if it is not a size, or exceeds 64 bits.
  package static func parse(_ text: String) -> Int64? {
    let digits = text.prefix { ("0"..."9").contains($0) }
    guard let number = Int64(digits), let shift = shift(of: text.dropFirst(digits.count).lowercased()) else {
      return nil
    }
    let (bytes, over) = number.multipliedReportingOverflow(by: 1 << shift)
    return over ? nil : bytes
  }

  private static func shift(of unit: String) -> Int64? {
    switch unit {
    case "", "b": 0
    case "k", "kb", "kib": 10
    case "m", "mb", "mib": 20
    case "g", "gb", "gib": 30
    case "t", "tb", "tib": 40
    default: nil
    }
  }
}
