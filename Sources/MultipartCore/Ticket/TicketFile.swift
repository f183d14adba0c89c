import Glibc
import MultipartBasics

/// The file that tickets are written to: it is complete, durable and for its owner only (0600, a program 0700) before
/// it gets its name, and without `publish` nothing is left of it. A pipe, a device or an open descriptor is written at
/// once.
public final class TicketFile: Sendable {
  private struct State: Sendable {
    /// The temporary name until it is published, and the open descriptor; nil before the first byte.
    var temporary: FilePath?
    var descriptor: Int32 = -1
  }

  private let path: FilePath
  private let replaces: Bool
  private let isProgram: Bool
  private let state = Locked(State())

  /// Fails now if the file could not be named later: an upload whose ticket is lost would have to be found and aborted.
  public init(_ path: FilePath, replaces: Bool, isProgram: Bool = false) throws(Failure) {
    // A link's target is replaced, not the link.
    self.path = replaces ? path.resolved ?? path : path
    self.isProgram = isProgram
    self.replaces = replaces
    do throws(ErrorNumber) {
      if let copy = try path.openedForWriting() {
        state.withLock { $0.descriptor = copy }
        return
      }
    } catch {
      throw Failure.system(.usage, error.number, "the ticket cannot be written", remedy: "name another file")
        .at(Place(file: path.text))
    }
    guard path.folder.exists else {
      throw Failure(.usage, "the folder of the ticket does not exist", remedy: path.folder.toCreate)
        .at(Place(file: path.text))
    }
    let isFolder = path.isFolder || path.bytes.last == UInt8(ascii: "/")
    let error = isFolder ? EISDIR : isRegular ? ScratchFile.trial(path) : 0
    guard error == 0 else {
      let remedy: Wording =
        switch error {
        case EISDIR: "name a file in it"
        case EACCES, EPERM, EROFS: "name a file in another folder"
        default: "name another file"
        }
      throw Failure.system(.usage, error, "the ticket cannot be created", remedy: remedy).at(Place(file: path.text))
    }
    var status = stat()
    guard !replaces, isRegular, path.withCString({ lstat($0, &status) }) == 0 else { return }
    throw Failure(
      .usage, "a file of this name already exists, which may be a ticket that is still in use",
      remedy: "choose another name, or remove it"
    ).at(Place(file: path.text))
  }

  deinit {
    state.withLock { state in
      if state.descriptor >= 0 { close(state.descriptor) }
      state.temporary?.remove()
    }
  }

  /// Whether the target is not a pipe or a device, which would be written directly (`stat`).
  private var isRegular: Bool { !path.exists || path.isKind(S_IFREG) }

  /// Adds bytes to the file, which has no name yet; those for a pipe or a device are written at once.
  public func append(_ bytes: [UInt8]) throws(Failure) {
    try state.withLock { (state) throws(Failure) in
      if state.descriptor < 0 {
        if isRegular {
          let (temporary, descriptor) = ScratchFile.made(path, O_WRONLY, mode: isProgram ? 0o700 : 0o600)
          guard descriptor >= 0 else { throw failure("cannot be created") }
          if replaces { WholeFile.keepOwner(of: path, descriptor) }
          (state.temporary, state.descriptor) = (temporary, descriptor)
        } else {
          state.descriptor = path.withCString { open($0, O_WRONLY | O_CLOEXEC) }
          guard state.descriptor >= 0 else { throw failure("cannot be opened") }
        }
      }
      guard WholeWrite.write(bytes, to: state.descriptor) == 0 else { throw failure("cannot be written") }
    }
  }

  /// Gives the file its name.
  public func publish() throws(Failure) {
    try state.withLock { (state) throws(Failure) in
      guard let temporary = state.temporary else { return }
      guard fsync(state.descriptor) == 0 else { throw failure("cannot be written") }
      do throws(ErrorNumber) {
        let folder = try Folder.target(path.folder, shownAs: path.folder)
        let (from, name) = (Array(temporary.lastName), Array(path.lastName))
        // A file that has appeared in the meantime stays.
        if replaces { try folder.rename(from, to: name) } else { try folder.renameNew(from, to: name) }
        state.temporary = nil
        do throws(ErrorNumber) {
          try folder.sync()
        } catch {
          // Not durable, so it counts as not written. What has replaced a ticket is the only one left.
          if !replaces { folder.remove(name) }
          throw error
        }
      } catch {
        throw failure("cannot be given its name", error)
      }
    }
  }

  private func failure(_ what: String, _ error: ErrorNumber = ErrorNumber(errno)) -> Failure {
    StateFolder.failure(path.text, "the ticket \(what)", error)
  }
}
