/// The commands, in the order in which help lists them.
enum CommandName: String, Sendable, CaseIterable {
  case put, create, part, parts, complete, abort, uploads, presign, help, completions
}

extension Set<CommandName> {
  static let all = Set(CommandName.allCases)
  /// The commands that may speak to a store.
  static let store: Set = [.put, .create, .part, .parts, .complete, .abort, .uploads, .presign]
  /// The commands that make an object, or the upload that becomes one.
  static let making: Set = [.put, .create]
  /// The commands whose request names one upload.
  static let ofUpload: Set = [.part, .parts, .complete, .abort]
}
