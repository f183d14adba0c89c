/// The path below a folder that the rest of a key behind its prefix becomes: the same bytes. What no file can have, or what
/// would lead out of the folder, is refused.
enum FilePathOfKey {
  /// Linux's limit, in bytes.
  private static let longestName = 255

  static func check(_ path: [UInt8]) throws(Failure) {
    if let why = refusal(of: path) {
      throw Failure(.precondition, why, remedy: "bring it by itself, and name its file")
    }
  }

  private static func refusal(of path: [UInt8]) -> Wording? {
    guard !path.isEmpty else { return "the key is the prefix itself, and leaves no name for a file" }
    guard !path.contains(0) else { return "the key has a zero byte, which no file's name can have" }
    guard path.last != UInt8(ascii: "/") else { return "the key ends in a slash, as no file's name does" }
    let names = path.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
    if names.contains(where: \.isEmpty) { return "the key has an empty part, which no file's path has" }
    if names.contains(where: KeyName.isMangled) {
      return "the key has a part that is \".\" or \"..\", and no object leaves the folder"
    }
    if let long = names.first(where: { $0.count > longestName }) {
      return "a part of the key has \(long.count) bytes, and a file's name has at most \(longestName)"
    }
    if let last = names.last, PartFile.isName(last) {
      return "the file would have the name of an unfinished download"
    }
    return nil
  }
}

/// Of keys in their order: one that is the path of a folder of a later one. A file system has one or the other there.
struct FolderMeeting {
  /// Each is the beginning of the next one.
  private var beginnings: [[UInt8]] = []

  /// The earlier path that this one would lie in, if there is one; otherwise it is kept.
  mutating func add(_ path: [UInt8]) -> [UInt8]? {
    while let last = beginnings.last, !path.starts(with: last) { beginnings.removeLast() }
    if let file = beginnings.first(where: { path.count > $0.count && path[$0.count] == UInt8(ascii: "/") }) {
      return file
    }
    beginnings.append(path)
    return nil
  }

  static func failure(_ file: [UInt8]) -> Failure {
    Failure(
      .precondition,
      "its folder would be where the object \(SafeText.oneLine(String(decoding: file, as: UTF8.self))) goes",
      remedy: "bring one of the two by itself, and name its file")
  }
}
