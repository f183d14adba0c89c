/// A size such as `8M`, `8MiB`, `8MB`, `8388608`: whole numbers, with units of 1,024.
public enum SizeValue {
  /// What a person is told about sizes.
  public static let form = """
    A SIZE is a whole number of bytes, or of K, M, G or T (of 1024): 8388608, 8M, 8MiB. Mb would be bits, kB thousands: \
    they are refused. KB and KiB mean the same as K, MB and MiB the same as M.
    """

  /// The size; nil if it is not one, or exceeds 64 bits.
  public static func parse(_ text: String) -> Int64? {
    let digits = text.utf8.prefix(while: ASCII.isDigit)
    guard let number = Int64(digits, in: 0 ... .max), let shift = shift(of: text.utf8.dropFirst(digits.count)) else {
      return nil
    }
    let (bytes, over) = number.multipliedReportingOverflow(by: 1 << shift)
    return over ? nil : bytes
  }

  /// The unit's shift, in upper or lower case as in AWS's files. Of mixed cases, `Mb` means the megabit, and `kB` 1,000
  /// bytes.
  private static func shift(of unit: Substring.UTF8View) -> Int64? {
    switch String(Substring(unit)) {
    case "", "B": 0
    case "K", "KB", "KiB", "KIB", "k", "kb", "kib": 10
    case "M", "MB", "MiB", "MIB", "m", "mb", "mib": 20
    case "G", "GB", "GiB", "GIB", "g", "gb", "gib": 30
    case "T", "TB", "TiB", "TIB", "t", "tb", "tib": 40
    default: nil
    }
  }
}
