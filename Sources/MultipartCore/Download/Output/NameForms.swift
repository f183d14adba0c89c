import MultipartBasics

/// The names that a folder lists. In one that does not distinguish capitals, a name that it does not list can lead to the
/// file of another object.
struct NameForms {
  /// How the folder lists a name that leads to a file in it.
  enum Standing: Equatable {
    case exactly
    /// Only with other capitals.
    case otherwise
    /// In neither form: the file system writes names in its own way, for example without a dot at their end.
    case notAtAll
  }

  /// The names, by their form in lower case.
  private var names: [String: [[UInt8]]] = [:]

  init(_ names: [[UInt8]]) {
    for name in names { self.names[Self.form(name), default: []].append(name) }
  }

  func standing(of name: [UInt8]) -> Standing {
    guard let alike = names[Self.form(name)] else { return .notAtAll }
    if alike.contains(name) { return .exactly }
    // Some file systems write an accent in their own encoding, which Swift's comparison ignores.
    let text = String(decoding: name, as: UTF8.self)
    return alike.contains { String(decoding: $0, as: UTF8.self) == text } ? .notAtAll : .otherwise
  }

  private static func form(_ name: [UInt8]) -> String { String(decoding: name, as: UTF8.self).lowercased() }

  static func list(_ folder: Folder) throws(ErrorNumber) -> [[UInt8]] {
    var names: [[UInt8]] = []
    // The folder itself may have been opened without the right to read it.
    try folder.folder(Array(".".utf8), followsLinks: false).forEachName { name, _ in names.append(Array(name)) }
    return names
  }
}
