import Glibc
import MultipartBasics

/// Finds the files below a folder in the order in which S3 lists their keys: that of their bytes, including `/`.
///
/// The names of a folder are read when the walk enters it. Only the folders on the current path are open, and a file is
/// looked up by its name in the open folder, never by a path. So the walk does not follow a link that replaces a
/// folder.
///
/// `@unchecked Sendable` holds because it is used by one task at a time.
final class TreeWalk: @unchecked Sendable {
  enum Depth: Sendable {
    /// Names, and kinds as far as reading the folder shows them; for counting in advance.
    case names
    /// Names, kinds, and each file's size.
    case sizes
  }

  private struct Level {
    let folder: Folder
    let names: FolderNames
    /// The length of the folder's path, including a trailing slash, which the root does not have.
    let pathLength: Int
    /// Whether files that no rule matches are sent.
    let isIncluded: Bool
    let inode: Inode
  }

  private let rules: GlobRules
  private let followsLinks: Bool
  private let tellsExcluded: Bool
  private let shard: Shard?
  private let depth: Depth
  /// The longest path, in bytes, that still makes a valid key.
  private let longest: Int
  /// The state folder, whose own files are not sent.
  private let state: Inode?
  private(set) var watch: RuleWatch
  private var levels: [Level] = []
  /// The path of the folder that is being read, with a trailing slash.
  private var path: [UInt8] = []
  /// What was learned about the root itself: the first result of `next`.
  private var first: TreeFinding?

  /// `longest` is the number of bytes that a key has left for the path. With a share only its files are looked up and
  /// reported; every share walks all folders.
  init(
    root: FilePath, rules: GlobRules = GlobRules(), followsLinks: Bool = false, tellsExcluded: Bool = false,
    depth: Depth = .sizes, shard: Shard? = nil, longest: Int = S3Limits.longestKey, stateFolder: FilePath? = nil
  ) throws(Failure) {
    self.rules = rules
    watch = RuleWatch(rules, root: root)
    state = stateFolder.flatMap { Inode($0) }
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

  func next() -> TreeFinding? {
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

  /// The finding for an entry; nil if there is nothing to report. If it is a folder, the walk enters it.
  private func look(at entry: FolderNames.Entry, in level: Level) -> TreeFinding? {
    let whole = path + entry.name
    let isFolder = entry.kind == .folder
    if level.inode == state, StateFolder.names.contains(where: { entry.name.elementsEqual($0.utf8) }) {
      return skipped(.ownState, entry.name, level)
    }
    let isOther = !isFolder && shard.map { !$0.holds(whole) } ?? false
    let rule = rules.rule(on: whole, isFolder: isFolder)
    let verdict = rule.map { rules.excludes($0) ? GlobRules.Verdict.exclude : .include }
    if let rule { watch.note(rule, on: whole, isFolder: isFolder) }
    if verdict == .exclude || (verdict == nil && !level.isIncluded && !isFolder) {
      if rule == nil { watch.noteUnnamed() }
      return tellsExcluded && !isOther ? skipped(.excluded, entry.name, level) : nil
    }
    guard !isOther else {
      watch.noteOther()
      return nil
    }
    if entry.isDouble {
      return failed(
        Failure(.usage, "another name beside it becomes the same key", remedy: "rename one of them"), entry.name, level,
        isListed: false)
    }
    do throws(ErrorNumber) {
      switch entry.kind {
      case .file, .unknown:
        if depth == .names, entry.kind == .file { return .file(TreeFile(folder: level.folder, path: whole, nil)) }
        let status = try level.folder.status(of: entry.name, followsLinks: followsLinks)
        guard FolderNames.Kind(status) == .file else {
          return failed(Self.replaced, entry.name, level, isListed: false)
        }
        return .file(TreeFile(folder: level.folder, path: whole, status))
      case .folder:
        return try enter(entry.name, in: level, isIncluded: verdict.map { $0 == .include } ?? level.isIncluded)
      case .link:
        guard followsLinks else { return skipped(.link, entry.name, level) }
        // The link led nowhere when the folder was read.
        _ = try level.folder.status(of: entry.name, followsLinks: true)
        return failed(Self.replaced, entry.name, level, isListed: false)
      case .socket: return skipped(.socket, entry.name, level)
      case .pipe: return skipped(.pipe, entry.name, level)
      case .device: return skipped(.device, entry.name, level)
      }
    } catch {
      return finding(error.number, entry, level)
    }
  }

  private func enter(_ name: [UInt8], in level: Level, isIncluded: Bool) throws(ErrorNumber) -> TreeFinding? {
    // A file in the folder adds at least a slash and one byte.
    guard path.count + name.count + 2 <= longest else {
      return failed(
        Failure(
          .usage, "the folder is so deep that its files' keys would be longer than 1,024 bytes",
          remedy: "upload it separately, or exclude it"), name, level, isListed: false)
    }
    let folder = try level.folder.folder(name, followsLinks: followsLinks)
    let length = path.count + name.count + 1
    if let reason = try enter(folder, pathLength: length, isIncluded: isIncluded) {
      return skipped(reason, name, level)
    }
    path += name + [UInt8(ascii: "/")]
    return nil
  }

  /// Enters a folder; returns the reason if it is not entered.
  private func enter(
    _ folder: Folder, pathLength: Int = 0, isIncluded: Bool
  ) throws(ErrorNumber) -> SkippedSource.Reason? {
    let inode = Inode(try folder.status())
    if followsLinks, levels.contains(where: { $0.inode == inode }) { return .loop }
    let names = try FolderNames(of: folder, followsLinks: followsLinks)
    guard !names.isEmpty else { return .emptyFolder }
    levels.append(
      Level(folder: folder, names: names, pathLength: pathLength, isIncluded: isIncluded, inode: inode))
    return nil
  }

  /// What changes while it is read may have more in it than the run has seen, so the run is not complete.
  private static let replaced = Failure(
    .sourceChanged, "it was replaced while its folder was read", remedy: "run the same command again")
  private static let vanished = Failure(
    .sourceMissing, "it has vanished since its folder was read", remedy: "run the same command again, or exclude it")

  private func finding(_ error: Int32, _ entry: FolderNames.Entry, _ level: Level) -> TreeFinding {
    switch error {
    // A requested target is missing: links are only looked up if they are followed.
    case ENOENT where entry.kind == .link, ELOOP where entry.kind == .link, ENOTDIR where entry.kind == .link:
      return failed(
        .system(.sourceMissing, error, "the symbolic link leads nowhere", remedy: "remove it, or exclude it"),
        entry.name, level)
    case ENOENT: return failed(Self.vanished, entry.name, level, isListed: entry.kind != .folder)
    case ELOOP, ENOTDIR: return failed(Self.replaced, entry.name, level, isListed: false)
    default:
      guard entry.kind == .folder else {
        return failed(
          .system(.sourceMissing, error, "the file cannot be looked at", remedy: nil), entry.name, level)
      }
      return failed(
        Folder.unreadable(level.folder.display(entry.name), error), entry.name, level, isListed: false)
    }
  }

  private func failed(
    _ failure: Failure, _ name: [UInt8], _ level: Level, isListed: Bool = true
  ) -> TreeFinding {
    let display = level.folder.display(name)
    let below = isListed ? Array(path.prefix(level.pathLength)) + name : nil
    return .failed(TreeFailure(failure: failure.at(Place(file: display.text)), path: below, display: display))
  }

  private func skipped(_ reason: SkippedSource.Reason, _ name: [UInt8], _ level: Level) -> TreeFinding {
    .skipped(TreeSkip(path: path.prefix(level.pathLength) + name, reason: reason, display: level.folder.display(name)))
  }
}
