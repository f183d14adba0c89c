/// A profile of the shared files. The credentials file wins over the config file.
package struct Profile: Sendable, Equatable {
  package let name: String
  /// Its section in the credentials file.
  package let credentials: ConfigSection?
  /// Its section in the config file.
  package let config: ConfigSection?

  package init(name: String, credentials: ConfigSection? = nil, config: ConfigSection? = nil) {
    self.name = name
    self.credentials = credentials
    self.config = config
  }

  /// The value of a name in lower case; nil if it is missing or empty.
  package subscript(name: String) -> String? { credentials?[name] ?? config?[name] }

  /// The pairs of a block such as `s3 =`; empty if there is none.
  package func block(_ name: String) -> [String: String] {
    (config?.nested[name] ?? [:]).merging(credentials?.nested[name] ?? [:]) { _, winner in winner }
  }
}
