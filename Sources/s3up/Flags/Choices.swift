/// The values of options that have a fixed set of them; the raw value is the word.
enum ChecksumChoice: String, Sendable, CaseIterable {
  case auto, crc64nvme, crc32c, crc32, sha256, sha1, md5, none
}

/// What becomes of names that are not UTF-8.
enum NonUTF8Choice: String, Sendable, CaseIterable { case escape, refuse }

enum HedgeChoice: String, Sendable, CaseIterable { case auto, off }

enum InterruptChoice: String, Sendable, CaseIterable { case keep, abort }

/// Whose prefix in the bucket a key is below; the raw value is also the prefix.
enum AccessChoice: String, Sendable, CaseIterable {
  case publicPlace = "public"
  case protectedPlace = "protected"
  case privatePlace = "private"
}

enum OnOffChoice: String, Sendable, CaseIterable { case on, off }

enum ProgressChoice: String, Sendable, CaseIterable { case auto, bar, plain, none }

enum ColorChoice: String, Sendable, CaseIterable { case auto, always, never }

enum JSONChoice: String, Sendable, CaseIterable { case result, all }

enum ShellChoice: String, Sendable, CaseIterable { case bash, zsh, fish }

extension CaseIterable where Self: RawRepresentable, RawValue == String {
  static var words: [String] { allCases.map(\.rawValue) }
}
