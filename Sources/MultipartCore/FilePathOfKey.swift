import MultipartBasics

/// The path below a folder for the rest of a key after its prefix: the same bytes. A path that no file can have, or
/// that would lead out of the folder, is refused.
public enum FilePathOfKey {
  /// Linux's limit, in bytes.
  private static let longestName = 255

  static func check(_ path: [UInt8]) throws(Failure) {
    if let why = refusal(of: path) {
      throw Failure(.precondition, why, remedy: "download it separately, and name its file")
    }
  }

  /// Why no file can have the path; nil if it can.
  public static func refusal(of path: [UInt8]) -> Wording? {
    guard !path.isEmpty else { return "the key is the prefix itself, and leaves no name for a file" }
    guard !path.contains(0) else { return "the key has a zero byte, which no file's name can have" }
    guard path.last != UInt8(ascii: "/") else { return "the key ends with a slash, which no file's name can" }
    let names = path.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
    if names.contains(where: \.isEmpty) { return "the key has an empty component, which no file's path can have" }
    if names.contains(where: KeyName.isMangled) {
      return "the key has a component \".\" or \"..\", which could lead out of the folder"
    }
    if let long = names.first(where: { $0.count > longestName }) {
      return "a component of the key has \(long.count) bytes, and a file's name has at most \(longestName)"
    }
    if names.contains(where: PartFile.isName) {
      return "a component of the key is the name of an unfinished download"
    }
    return nil
  }
}

/// Finds, among keys in order, one that is the path of a folder of a later key. A file system can only have one of the
/// two.
struct FolderMeeting {
  /// The paths so far; each is the beginning of the next one.
  private var beginnings: [[UInt8]] = []

  /// The earlier path that this one would be inside, if any; otherwise the path is remembered.
  mutating func add(_ path: [UInt8]) -> [UInt8]? {
    while let last = beginnings.last, !path.starts(with: last) { beginnings.removeLast() }
    if let file = beginnings.first(where: { path.count > $0.count && path[$0.count] == UInt8(ascii: "/") }) {
      return file
    }
    beginnings.append(path)
    return nil
  }

  /// An object that is to become the file of another one in progress.
  static let repeated = Failure(
    .precondition, "another object of this run becomes the same file",
    remedy: "download one of the two separately, and name its file")

  /// In a folder that does not distinguish capitals.
  static let otherForm = Failure(
    .precondition, "a file or folder whose name differs from the key's only in capitals is in the object's place",
    remedy: "move it away, or download the object separately, and name its file")

  static func failure(_ file: [UInt8]) -> Failure {
    Failure(
      .precondition,
      "its folder would take the place of the object \(SafeText.oneLine(String(decoding: file, as: UTF8.self)))",
      remedy: "download one of the two separately, and name its file")
  }
}
