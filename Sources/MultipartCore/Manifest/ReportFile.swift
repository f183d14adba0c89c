import Glibc
import MultipartBasics

/// A file that a run writes in addition to its work, such as the list of what has failed. Whether it can be written is
/// checked before anything is sent; it only changes at the end, when it is replaced as a whole. A link to it stays. A
/// device or a pipe is written directly.
public final class ReportFile: Sendable {
  private enum Target: Sendable {
    /// A regular file, or one that does not exist yet; `mode` is that of the file that it replaces.
    case file(FilePath, mode: mode_t?)
    /// A pipe or a device.
    case stream(FilePath)
    /// An owned descriptor of this process, such as standard output.
    case descriptor(Int32)
  }

  /// The path as it was given.
  public let path: FilePath
  /// The inode of the file that it replaces.
  let inode: Inode?
  /// The path without links; nil if it is not a file.
  let place: FilePath?
  /// Whether replacing it loses nothing: there is no file, an empty one, or an earlier report.
  let isReplaceable: Bool
  private let setting: Setting
  private let target: Target
  /// Set if the run has found the file among its sources.
  private let isSpared = Locked(false)

  var isManifest: Bool { if case .manifest = setting { true } else { false } }

  private var title: String {
    switch setting {
    case .manifest: "the manifest"
    case .variables: "the file of variables"
    case .trace: "the trace"
    case .report: "the report"
    default: "the list of what has failed"
    }
  }

  /// A file in which every line is one of a report counts as an earlier report. With `onlyLooks` nothing is written,
  /// not even to find out whether it could be.
  public init(
    _ path: FilePath, of setting: Setting, onlyLooks: Bool, isLine: (ArraySlice<UInt8>) -> Bool
  ) throws(Failure) {
    self.path = path
    self.setting = setting
    let copy: Int32?
    do throws(ErrorNumber) { copy = try path.openedForWriting() } catch {
      throw Self.refusal(path, setting, error.number)
    }
    if let copy {
      (target, inode, place, isReplaceable) = (.descriptor(copy), Inode(open: copy), nil, false)
      return
    }
    let place = Self.followed(path)
    let found = place.status
    let kind = found.map { $0.st_mode & S_IFMT }
    guard kind != S_IFDIR, place.bytes.last != UInt8(ascii: "/") else { throw Self.refusal(path, setting, EISDIR) }
    if let kind, kind != S_IFREG {
      guard place.withCString({ access($0, W_OK) }) == 0 else { throw Self.refusal(path, setting, errno) }
      (target, inode, self.place, isReplaceable) = (.stream(place), nil, nil, true)
      return
    }
    let mode = found.map { $0.st_mode & 0o7777 }
    // A file that may not be written is not replaced, even if its folder would allow it.
    guard found == nil || place.withCString({ access($0, W_OK) }) == 0 else {
      throw Self.refusal(path, setting, errno)
    }
    if onlyLooks {
      guard place.folder.withCString({ access($0, W_OK | X_OK) }) == 0 else { throw Self.refusal(path, setting, errno) }
    } else {
      let error = ScratchFile.trial(place)
      guard error == 0 else { throw Self.refusal(path, setting, error) }
    }
    let isEmpty = found.map { $0.st_size == 0 } ?? true
    isReplaceable = isEmpty || Self.everyLine(of: place, isLine)
    (target, inode, self.place) = (.file(place, mode: mode), found.map { Inode($0) }, place)
  }

  deinit {
    if case .descriptor(let descriptor) = target { close(descriptor) }
  }

  /// Whether there is a file that the report would have replaced.
  public var isStale: Bool { if case .file(let place, _) = target { place.exists } else { false } }

  /// Writes the file at the end of the run; `fill` provides it in pieces.
  public func write(_ fill: (_ put: ([UInt8]) throws(Failure) -> Void) throws(Failure) -> Void) throws(Failure) {
    func put(_ descriptor: Int32) throws(Failure) {
      try fill { (bytes) throws(Failure) in
        guard WholeWrite.write(bytes, to: descriptor) == 0 else { throw failure(errno) }
      }
    }
    guard !isSpared.withLock({ $0 }) else {
      throw Failure(
        .output, "\(title) was not written, because its file is a source of the run",
        remedy: "name another file with \(setting)"
      ).at(Place(file: path.text))
    }
    switch target {
    case .file(let place, let mode):
      try WholeFile.replace(place, mode: mode, failing: failure, put)
    case .descriptor(let descriptor): try put(descriptor)
    case .stream(let place):
      let descriptor = try openStream(place)
      defer { close(descriptor) }
      try put(descriptor)
    }
  }

  /// Removes what the report would have replaced, so that nobody takes an earlier report for that of this run. Returns
  /// whether there was anything.
  public func withdraw() -> Bool {
    guard case .file(let place, _) = target, place.exists, !isSpared.withLock({ $0 }) else { return false }
    place.remove()
    return true
  }

  /// Throws if it is a source of the run, or contains something other than a report.
  public func requireOwn(_ sources: [FilePath]) throws(Failure) {
    if let inode, let source = sources.first(where: { Inode($0) == inode }) { throw isSource("the source", source) }
    guard isReplaceable || place == nil else {
      throw Failure(
        .usage, "the file of \(setting) has other contents, which would be lost",
        remedy: "name another file with \(setting)"
      ).at(Place(file: path.text))
    }
  }

  /// Leaves the file unwritten.
  func spare() { isSpared.withLock { $0 = true } }

  /// The failure if the run reads this file.
  func isSource(_ what: Wording, _ file: FilePath) -> Failure {
    Failure(
      .usage, "\(what) is also the file of \(setting), which would replace it",
      remedy: "name another file with \(setting)"
    ).at(Place(file: file.text))
  }

  /// Opens a named pipe or a device. A pipe's reader is waited for only briefly and not by `open`, which neither a signal
  /// nor the deadline would end.
  private func openStream(_ place: FilePath) throws(Failure) -> Int32 {
    for _ in 0..<20 {
      let descriptor = place.withCString { open($0, O_WRONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK) }
      let error = errno
      if descriptor >= 0 {
        _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) & ~O_NONBLOCK)
        return descriptor
      }
      guard error == EINTR || (error == ENXIO && place.isKind(S_IFIFO)) else { throw failure(error) }
      usleep(100_000)
    }
    throw Failure(
      .output, "\(title) was not written, because nothing reads its pipe", remedy: "start its reader before the run"
    ).at(Place(file: path.text))
  }

  private func failure(_ error: Int32) -> Failure {
    Failure.system(
      .output, error, "\(title) cannot be written", remedy: "make room for it, or name another file with \(setting)"
    ).at(Place(file: path.text))
  }

  private static func refusal(_ path: FilePath, _ setting: Setting, _ error: Int32) -> Failure {
    let folder = followed(path).folder
    return .system(
      .usage, error, "the file of \(setting) cannot be written",
      remedy: error == ENOENT && !folder.exists
        ? path.text.holds("://") ? folder.toCreate : "its folder does not exist; \(folder.toCreate)"
        : "name another file with \(setting)"
    ).at(Place(file: path.text))
  }

  // MARK: - Location

  /// Where a chain of links ends; no file need exist there.
  private static func followed(_ path: FilePath) -> FilePath {
    var place = path
    // The kernel follows no more links than this.
    for _ in 0..<40 {
      guard let target = place.linkTarget?.bytes else { break }
      let isWhole = target[0] == UInt8(ascii: "/")
      place = FilePath(bytes: (isWhole ? [] : place.folder.bytes + [UInt8(ascii: "/")]) + target)
    }
    return place
  }

  /// Whether every line passes, including lines that end with NUL. A file that cannot be read is not a report.
  private static func everyLine(of place: FilePath, _ isLine: (ArraySlice<UInt8>) -> Bool) -> Bool {
    do throws(Failure) {
      let lines = try LineReader(place, longest: 64 << 10)
      while let line = try lines.next() {
        guard line.split(separator: 0).allSatisfy(isLine) else { return false }
      }
      return true
    } catch {
      return false
    }
  }
}
