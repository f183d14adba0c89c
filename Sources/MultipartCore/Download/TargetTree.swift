import Glibc

/// The folder that the objects of a run go into. Every folder below it is reached from the one before it without following
/// a link, so that nothing leaves it, whatever the keys are and whoever writes there meanwhile.
final class TargetTree: Sendable {
  private struct State: Sendable {
    /// Nil while it is not there, and nothing may be made.
    var root: Folder?
    var trouble: Failure?
    /// Of the target before: consecutive ones mostly have the same.
    var last: (path: [UInt8], folder: Folder)?
    /// Of the objects that have begun and have not ended.
    var underWay: Set<[UInt8]> = []
  }

  /// As it was given.
  let path: FilePath
  private let makes: Bool
  private let newMode = DownloadTarget.newFileMode()
  private let state = Locked(State())
  /// Linux takes no longer path.
  private static let longest = 4096
  private static let slash = UInt8(ascii: "/")

  /// With `makes` folders are made where they are needed.
  init(_ path: FilePath, makes: Bool) { (self.path, self.makes) = (path, makes) }

  /// Why it cannot be used.
  var trouble: Failure? { state.withLock { $0.trouble } }

  /// For messages.
  func display(_ name: [UInt8]) -> FilePath { path.below(name) }

  /// Opens it, or makes it. False if that does not work.
  func open() -> Bool {
    state.withLock { state in
      guard state.root == nil, state.trouble == nil else { return state.trouble == nil }
      do throws(ErrorNumber) {
        if makes { try Self.make(path) }
        guard makes || path.status != nil else { return true }
        state.root = try Folder.target(path, shownAs: path.resolved ?? path)
      } catch {
        state.trouble =
          error.number == ENOTDIR
          ? Failure(.precondition, "the target is no folder", remedy: "name a folder").at(Place(file: path.text))
          : DownloadTarget.failure(error.number, "the target's folder cannot be opened or made", path)
      }
      return state.trouble == nil
    }
  }

  /// With the folders that it lies in. `mkdir`
  private static func make(_ path: FilePath) throws(ErrorNumber) {
    guard path.status == nil else { return }
    let trimmed = Array(path.bytes.reversed().drop { $0 == slash }.reversed())
    guard !trimmed.isEmpty else { return }
    let folder = FilePath(bytes: trimmed)
    if trimmed.contains(slash) { try make(folder.folder) }
    guard folder.withCString({ mkdir($0, 0o777) }) == 0 || errno == EEXIST else { throw ErrorNumber(errno) }
  }

  /// Where the object with this path goes; nil if nothing is there and nothing may be made. The path was checked.
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
      return try DownloadTarget(Array(path[(slash.map { $0 + 1 } ?? 0)...]), in: folder, newMode: newMode)
    } catch {
      var failure = error
      failure.place.file = shown.text
      throw failure
    }
  }

  private func folder(_ path: ArraySlice<UInt8>, _ root: Folder) throws(Failure) -> Folder? {
    guard !path.isEmpty else { return root }
    if let last = state.withLock({ $0.last }), last.path.elementsEqual(path) { return last.folder }
    var folder = root
    for name in path.split(separator: Self.slash).map(Array.init) {
      guard let next = try step(into: name, of: folder) else { return nil }
      folder = next
    }
    state.withLock { $0.last = (Array(path), folder) }
    return folder
  }

  private func step(into name: [UInt8], of folder: Folder) throws(Failure) -> Folder? {
    do throws(ErrorNumber) {
      if let there = try? folder.folder(name, followsLinks: false) { return there }
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
      return try folder.folder(name, followsLinks: false)
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
        .precondition, "a symbolic link is where a folder of the object would be, and no link is followed",
        remedy: remedy)
    case let kind? where kind != S_IFDIR:
      return Failure(.precondition, "a file is where a folder of the object would have to be", remedy: remedy)
    default:
      return DownloadTarget.failure(error, "a folder of the object cannot be opened", folder.display(name))
    }
  }

  // MARK: - Under way

  /// Two objects of a run that would be one file, or one in the other: what has begun goes on.
  func begin(_ path: [UInt8]) throws(Failure) {
    let met: [UInt8]? = state.withLock { state in
      for slash in path.indices where path[slash] == Self.slash {
        let folder = Array(path[..<slash])
        if state.underWay.contains(folder) { return folder }
      }
      return state.underWay.insert(path).inserted ? nil : path
    }
    if let met { throw FolderMeeting.failure(met).at(Place(file: display(path).text)) }
  }

  func end(_ path: [UInt8]) { state.withLock { _ = $0.underWay.remove(path) } }
}
