/// One section of a shared file: `name = value` pairs, and blocks such as `s3 =` with their own pairs.
package struct ConfigSection: Sendable, Equatable {
  package internal(set) var values: [String: String] = [:]
  package internal(set) var nested: [String: [String: String]] = [:]

  /// Adds a section that occurs again later in the file: the last value of a name counts.
  mutating func merge(_ later: ConfigSection) {
    for (name, value) in later.values {
      values[name] = value
      nested[name] = nil
    }
    for (name, block) in later.nested {
      nested[name] = block
      values[name] = nil
    }
  }

  /// The value; nil if it is missing or empty.
  package subscript(name: String) -> String? {
    values[name].flatMap { $0.isEmpty ? nil : $0 }
  }
}

/// Shows only names: the values may be keys.
extension ConfigSection: CustomStringConvertible, CustomReflectable {
  package var description: String { "section of " + names.joined(separator: ", ") }
  package var customMirror: Mirror { Mirror(self, children: ["names": names]) }

  private var names: [String] { (Array(values.keys) + Array(nested.keys)).sorted() }
}

/// The text between the brackets of a section: `[profile dev]` is (profile, dev), `[default]` is (nil, default).
struct SectionName: Sendable, Hashable {
  var kind: String?
  var name: String
}
