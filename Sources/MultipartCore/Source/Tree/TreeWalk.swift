import Glibc

/// Finds the files below a folder in the order in which S3 lists their keys: that of their bytes, `/` included.
///
/// It reads a folder's names when it comes to it. Only the folders on the way down are open, and nothing is looked up by
/// more than its name in one of them: whoever replaces a folder by a link leads it nowhere.
///
/// `@unchecked Sendable` holds because it is used by one task at a time.
package final class TreeWalk: @unchecked Sendable {
  package enum Depth: Sendable {
    /// Names, and kinds as far as the folder tells them: for a look ahead.
    case names
    /// Also each file's size.
    case sizes
  }

  private struct Level {
    let folder: Folder
    let names: FolderNames
    /// Of its path, with a slash at the end unless it is the root.
    let pathLength: Int
    /// Whether files that no rule matches are sent.
    let isIncluded: Bool
    /// Device and inode, if links are followed.
    let place: [UInt64]
  }

  private let rules: GlobRules
  private let followsLinks: Bool
  private let tellsExcluded: Bool
  private let shard: Shard?
  private let depth: Depth
  /// Of a path.
  private let longest: Int
  private var levels: [Level] = []
  /// Of the folder that is read, with a slash at the end.
  private var path: [UInt8] = []
  /// What is said of the root before its end.
  private var first: TreeFinding?

  /// `longest`: how many bytes of a key are left for the path. With a share, only what is in it is told and looked up;
  /// folders are everybody's.
  package init(
    root: FilePath, rules: GlobRules = GlobRules(), followsLinks: Bool = false, tellsExcluded: Bool = false,
    depth: Depth = .sizes, shard: Shard? = nil, longest: Int = KeyName.longest
  ) throws(Failure) {
    self.rules = rules
    self.followsLinks = followsLinks
    self.tellsExcluded = tellsExcluded
    self.depth = depth
    self.shard = shard
    self.longest = longest
    let folder = try Folder(root)
    do throws(ErrorNumber) {
      guard try enter(folder, isIncluded: rules.includesByDefault) == nil else {
        first = .skipped(TreeSkip(path: [], reason: .emptyFolder, display: root))
        return
      }
    } catch {
      throw Folder.unreadable(root, error.number)
    }
  }

  package func next() -> TreeFinding? {
    if let first = first.take() { return first }
    while let level = levels.last {
      if let entry = level.names.take() {
        if let finding = look(at: entry, in: level) { return finding }
      } else {
        levels.removeLast()
        path.removeLast(path.count - (levels.last?.pathLength ?? 0))
      }
    }
    return nil
  }

  /// Nil if there is nothing to say of it; a folder is entered.
  private func look(at entry: FolderNames.Entry, in level: Level) -> TreeFinding? {
    let whole = path + entry.name
    if let shard, entry.kind != .folder, !shard.holds(whole) { return nil }
    let verdict = rules.verdict(on: whole, isFolder: entry.kind == .folder)
    if verdict == .exclude || (verdict == nil && !level.isIncluded && entry.kind != .folder) {
      return tellsExcluded ? skipped(.excluded, entry.name, level) : nil
    }
    if entry.isDouble {
      return .failed(
        Failure(.usage, "another file's name becomes the same key", remedy: "rename one of them")
          .at(Place(file: level.folder.display(entry.name).text)))
    }
    do throws(ErrorNumber) {
      switch entry.kind {
      case .file, .unknown:
        if depth == .names, entry.kind == .file { return .file(TreeFile(folder: level.folder, path: whole, size: 0)) }
        let status = try level.folder.status(of: entry.name, followsLinks: followsLinks)
        guard FolderNames.Kind(status) == .file else { return skipped(.replaced, entry.name, level) }
        return .file(TreeFile(folder: level.folder, path: whole, size: Int64(status.st_size)))
      case .folder:
        return try enter(entry.name, in: level, isIncluded: verdict.map { $0 == .include } ?? level.isIncluded)
      case .link:
        guard followsLinks else { return skipped(.link, entry.name, level) }
        // It led nowhere when the folder was read.
        _ = try level.folder.status(of: entry.name, followsLinks: true)
        return skipped(.replaced, entry.name, level)
      case .socket: return skipped(.socket, entry.name, level)
      case .pipe: return skipped(.pipe, entry.name, level)
      case .device: return skipped(.device, entry.name, level)
      }
    } catch {
      return finding(error.number, entry, level)
    }
  }

  private func enter(_ name: [UInt8], in level: Level, isIncluded: Bool) throws(ErrorNumber) -> TreeFinding? {
    // A slash and one more byte.
    guard path.count + name.count + 2 <= longest else {
      return .failed(
        Failure(
          .usage, "the folder is so deep that its files' keys would be longer than 1,024 bytes",
          remedy: "send it by itself, or exclude it"
        ).at(Place(file: level.folder.display(name).text)))
    }
    let folder = try level.folder.folder(name, followsLinks: followsLinks)
    let length = path.count + name.count + 1
    if let reason = try enter(folder, pathLength: length, isIncluded: isIncluded) {
      return skipped(reason, name, level)
    }
    path += name + [UInt8(ascii: "/")]
    return nil
  }

  /// Why there is nothing to enter, if so.
  private func enter(
    _ folder: Folder, pathLength: Int = 0, isIncluded: Bool
  ) throws(ErrorNumber) -> TreeSkip.Reason? {
    var place: [UInt64] = []
    if followsLinks {
      let status = try folder.status()
      place = [UInt64(status.st_dev), UInt64(status.st_ino)]
      if levels.contains(where: { $0.place == place }) { return .loop }
    }
    let names = try FolderNames(of: folder, followsLinks: followsLinks)
    guard !names.isEmpty else { return .emptyFolder }
    levels.append(
      Level(folder: folder, names: names, pathLength: pathLength, isIncluded: isIncluded, place: place))
    return nil
  }

  private func finding(_ error: Int32, _ entry: FolderNames.Entry, _ level: Level) -> TreeFinding {
    switch error {
    case ENOENT: return skipped(entry.kind == .link ? .brokenLink : .vanished, entry.name, level)
    case ELOOP, ENOTDIR: return skipped(entry.kind == .link ? .loop : .replaced, entry.name, level)
    default:
      let display = level.folder.display(entry.name)
      if entry.kind == .folder { return .failed(Folder.unreadable(display, error)) }
      return .failed(
        .system(.sourceMissing, error, "the file cannot be looked at", remedy: nil).at(Place(file: display.text)))
    }
  }

  private func skipped(_ reason: TreeSkip.Reason, _ name: [UInt8], _ level: Level) -> TreeFinding {
    .skipped(TreeSkip(path: path.prefix(level.pathLength) + name, reason: reason, display: level.folder.display(name)))
  }
}
