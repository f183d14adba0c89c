// Values of options that belong to this program, not to the library; the raw value is the word.

/// Whose prefix of the bucket a key is below; the raw value is also the prefix.
enum AccessChoice: String, Sendable, CaseIterable {
  case publicPlace = "public"
  case protectedPlace = "protected"
  case privatePlace = "private"
}

enum ProgressChoice: String, Sendable, CaseIterable { case auto, bar, plain, none }

enum ColorChoice: String, Sendable, CaseIterable { case auto, always, never }

/// Whether a terminal's title shows the progress.
enum TitleChoice: String, Sendable, CaseIterable { case auto, always, never }

enum JSONChoice: String, Sendable, CaseIterable { case result, all }

enum ShellChoice: String, Sendable, CaseIterable { case bash, zsh, fish }

extension CaseIterable where Self: RawRepresentable, RawValue == String {
  static var words: [String] { allCases.map(\.rawValue) }
}
