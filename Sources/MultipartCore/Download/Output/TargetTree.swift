import Glibc
import MultipartBasics

/// The folder that the objects of a run go into. Every folder below it is opened relative to the one above it without
/// following a link, so that nothing leaves it, whatever the keys are and whatever other programs write there.
final class TargetTree: Sendable {
  private struct State: Sendable {
    /// The root; nil while it does not exist and nothing may be created.
    var root: Folder?
    var trouble: Failure?
    /// The folder of the previous target: consecutive targets are mostly in the same one.
    var last: (path: [UInt8], folder: Folder)?
    /// The paths of objects in progress.
    var underWay: Set<[UInt8]> = []
    /// The names of the last folder that was read.
    var names: (path: [UInt8], names: NameForms)?
    /// When the first file of this run got its name, by the file system's clock.
    var firstPublished: Duration?
  }

  /// The path as it was given.
  let path: FilePath
  private let makes: Bool
  private let list: @Sendable (Folder) throws(ErrorNumber) -> [[UInt8]]
  private let newMode = DownloadTarget.newFileMode()
  private let state = Locked(State())
  /// Linux accepts no longer path.
  private static let longest = 4096
  private static let slash = UInt8(ascii: "/")

  /// With `makes`, folders are created as needed. `list` gives the names in a folder.
  init(
    _ path: FilePath, makes: Bool,
    list: @escaping @Sendable (Folder) throws(ErrorNumber) -> [[UInt8]] = NameForms.list
  ) {
    (self.path, self.makes, self.list) = (path, makes, list)
  }

  /// Why the folder cannot be used.
  var trouble: Failure? { state.withLock { $0.trouble } }

  /// The path of a name, for messages.
  func display(_ name: [UInt8]) -> FilePath { path.below(name) }

  /// Opens the folder, or creates it. Returns whether that worked.
  func open() -> Bool {
    state.withLock { state in
      guard state.root == nil, state.trouble == nil else { return state.trouble == nil }
      do throws(ErrorNumber) {
        if makes { try Folder.make(path, mode: 0o777) }
        guard makes || path.status != nil else { return true }
        state.root = try Folder.target(path, shownAs: path.resolved ?? path)
      } catch {
        state.trouble =
          error.number == ENOTDIR
          ? Failure(.precondition, "the target is not a folder", remedy: "name a folder").at(Place(file: path.text))
          : DownloadTarget.failure(error.number, "the target's folder cannot be opened or created", path)
      }
      return state.trouble == nil
    }
  }

  /// The target of the object with this path; nil if it does not exist and nothing may be created. The path has been
  /// checked.
  func target(at path: [UInt8]) throws(Failure) -> DownloadTarget? {
    let shown = display(path)
    do throws(Failure) {
      guard let root = state.withLock({ $0.root }) else { return nil }
      guard root.path.bytes.count + 1 + path.count < Self.longest else {
        throw Failure(
          .precondition, "the file's path would have more than \(Self.longest - 1) bytes",
          remedy: "name a folder with a shorter path")
      }
      let slash = path.lastIndex(of: Self.slash)
      guard let folder = try folder(path[..<(slash ?? 0)], root) else { return nil }
      let name = Array(path[(slash.map { $0 + 1 } ?? 0)...])
      let target = try DownloadTarget(
        name, in: folder, at: slash.map { display(Array(path[..<$0])) } ?? self.path, newMode: newMode)
      if let found = target.found {
        let isRepeated = isOfThisRun(found)
        let standing = standing(of: name, in: folder, isOfThisRun: isRepeated)
        if isRepeated, standing != .exactly { throw FolderMeeting.repeated }
        if standing == .otherwise { throw FolderMeeting.otherForm }
      }
      return target
    } catch {
      var failure = error
      failure.place.file = shown.text
      throw failure
    }
  }

  // MARK: - Names that are one file

  /// Notes that an object of this run has become this file.
  func published(_ file: FileIdentity) {
    state.withLock { $0.firstPublished = min($0.firstPublished ?? file.changed, file.changed) }
  }

  /// Whether the file has changed since the first one of this run got its name. The pause is that between a rename and
  /// the note of it.
  private func isOfThisRun(_ file: FileIdentity) -> Bool {
    state.withLock { $0.firstPublished }.map { file.changed >= $0 - .milliseconds(100) } ?? false
  }

  /// How the folder lists a name that leads to a file in it. To read the folder takes long if it is large, so this is done
  /// only for a file of this run, and if a name with another capital leads somewhere too: mostly the folder then ignores
  /// capitals. Otherwise the name is taken to be listed.
  private func standing(of name: [UInt8], in folder: Folder, isOfThisRun: Bool = false) -> NameForms.Standing {
    guard isOfThisRun || Self.isThereWithOtherCapital(name, in: folder) else { return .exactly }
    let known = state.withLock { $0.names }.flatMap { $0.path == folder.path.bytes ? $0.names : nil }
    if let standing = known?.standing(of: name), standing != .notAtAll { return standing }
    // A file may have been written since.
    do throws(ErrorNumber) {
      let names = NameForms(try list(folder))
      state.withLock { $0.names = (folder.path.bytes, names) }
      return names.standing(of: name)
    } catch {
      // Names may be looked up in a folder that may not be read (mode 0311): then nothing shows it.
      return .exactly
    }
  }

  private static func isThereWithOtherCapital(_ name: [UInt8], in folder: Folder) -> Bool {
    guard let letter = name.firstIndex(where: ASCII.isLetter) else { return false }
    var other = name
    other[letter] ^= 0x20
    return (try? folder.status(of: other, followsLinks: false)) != nil
  }

  private func folder(_ path: ArraySlice<UInt8>, _ root: Folder) throws(Failure) -> Folder? {
    guard !path.isEmpty else { return root }
    if let last = state.withLock({ $0.last }), last.path.elementsEqual(path) { return last.folder }
    var folder = root
    for name in path.split(separator: Self.slash).map(Array.init) {
      guard let (next, wasThere) = try step(into: name, of: folder) else { return nil }
      if wasThere, standing(of: name, in: folder) == .otherwise { throw FolderMeeting.otherForm }
      folder = next
    }
    state.withLock { $0.last = (Array(path), folder) }
    return folder
  }

  /// The folder of this name, and whether it was there before.
  private func step(into name: [UInt8], of folder: Folder) throws(Failure) -> (folder: Folder, wasThere: Bool)? {
    do throws(ErrorNumber) {
      if let there = try? folder.folder(name, followsLinks: false) { return (there, true) }
      do throws(ErrorNumber) {
        _ = try folder.status(of: name, followsLinks: false)
      } catch {
        guard error.number == ENOENT else { throw error }
        guard makes else { return nil }
        do throws(ErrorNumber) {
          try folder.makeFolder(name)
          try folder.sync()
        } catch {
          guard error.number == EEXIST else { throw error }
        }
      }
      return (try folder.folder(name, followsLinks: false), false)
    } catch {
      throw Self.failure(error.number, name, folder)
    }
  }

  private static func failure(_ error: Int32, _ name: [UInt8], _ folder: Folder) -> Failure {
    let kind = (try? folder.status(of: name, followsLinks: false)).map { $0.st_mode & S_IFMT }
    let remedy: Wording = "name another folder, or move it away"
    switch kind {
    case S_IFLNK:
      return Failure(
        .precondition, "a symbolic link, which is not followed, is in the place of a folder of the object",
        remedy: remedy)
    case let kind? where kind != S_IFDIR:
      return Failure(.precondition, "a file is in the place of a folder of the object", remedy: remedy)
    default:
      return DownloadTarget.failure(error, "a folder of the object cannot be opened", folder.display(name))
    }
  }

  // MARK: - In progress

  /// Refuses an object that would be the same file as one in progress, or one inside the other: the earlier one
  /// continues.
  func begin(_ path: [UInt8]) throws(Failure) {
    let met: [UInt8]? = state.withLock { state in
      for slash in path.indices where path[slash] == Self.slash {
        let folder = Array(path[..<slash])
        if state.underWay.contains(folder) { return folder }
      }
      return state.underWay.insert(path).inserted ? nil : path
    }
    guard let met else { return }
    let failure = met == path ? FolderMeeting.repeated : FolderMeeting.failure(met)
    throw failure.at(Place(file: display(path).text))
  }

  func end(_ path: [UInt8]) { state.withLock { _ = $0.underWay.remove(path) } }
}
