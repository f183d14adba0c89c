/// The commands, in the order in which help lists them.
enum CommandName: String, Sendable, CaseIterable {
  case put, create, part, parts, complete, abort, uploads, presign, doctor, help, completions
}

extension Set<CommandName> {
  static let all = Set(CommandName.allCases)
  /// The commands that may speak to a store.
  static let store: Set = [.put, .create, .part, .parts, .complete, .abort, .uploads, .presign, .doctor]
  /// The commands that a bucket or prefix is enough for.
  static let ofPrefix: Set = [.uploads, .doctor]
  /// The commands that try again and wait; who asks what is wrong does not wait for it to mend itself.
  static let patient = store.subtracting([.doctor])
  /// The commands that make an object, or the upload that becomes one.
  static let making: Set = [.put, .create]
  /// The commands whose request names one upload.
  static let ofUpload: Set = [.part, .parts, .complete, .abort]
}
