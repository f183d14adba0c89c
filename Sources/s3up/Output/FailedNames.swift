import Glibc
import MultipartBasics
import MultipartCore

/// The names of files that have failed: some to print, all of them for `--files-from`.
final class FailedNames: Sendable {
  /// How many names are printed at the end.
  static let most = 20

  private struct State: Sendable {
    var first: [String] = []
    var count = 0
    /// Names that the list cannot contain, because they contain the byte that ends a name in it, or end with a carriage
    /// return.
    var unlisted = 0
    /// What no list can name, such as a folder that cannot be read.
    var nameless = 0
    var trouble: Failure?
  }

  private let file: ReportFile?
  private let names: ScratchBytes
  private let ending: UInt8
  private let state = Locked(State())

  /// The names; those that do not fit into memory are kept in `folder`.
  init(_ file: ReportFile?, endWithNUL: Bool, folder: String) {
    self.file = file
    names = ScratchBytes(in: folder)
    ending = endWithNUL ? 0 : UInt8(ascii: "\n")
  }

  /// Adds what has failed; `name` is what `--files-from` reads, nil if that cannot name it.
  func add(_ name: [UInt8]?, _ shown: String) {
    state.withLock { state in
      state.count += 1
      if state.first.count < Self.most { state.first.append(shown) }
      guard file != nil, state.trouble == nil else { return }
      guard let name, !name.isEmpty else {
        state.nameless += 1
        return
      }
      guard !name.contains(ending), ending == 0 || name.last != UInt8(ascii: "\r") else {
        state.unlisted += 1
        return
      }
      do throws(Failure) {
        try names.append(name + [ending])
      } catch {
        state.trouble = error
      }
    }
  }

  var count: Int { state.withLock { $0.count } }
  var first: [String] { state.withLock { $0.first } }

  /// What to print about what the list cannot contain.
  private var omissions: [String] {
    let (unlisted, nameless) = state.withLock { ($0.unlisted, $0.nameless) }
    guard let file else { return [] }
    let leavesOut = "\(SafeText.oneLine(file.path.text)) leaves out "
    var notes: [String] = []
    if unlisted > 0 {
      let why =
        ending == 0
        ? "zero byte"
        : "line break, or a carriage return at the end: run it again with -0, and --files-from with -0 too"
      notes.append(leavesOut + Human.count(unlisted, "name") + " with a " + why)
    }
    if nameless > 0 {
      notes.append(
        leavesOut + Human.count(nameless, "failure") + " that it cannot name, such as a folder that cannot be read: "
          + "run the same command again")
    }
    return notes
  }

  /// Whether the list contains any names.
  var isListing: Bool { file != nil && state.withLock { $0.count > $0.unlisted + $0.nameless } }

  /// Removes an earlier list, and returns what to print about that; nil if no list was asked for.
  func withdraw() -> String? {
    guard let file else { return nil }
    let earlier = file.withdraw() ? "; the earlier one was removed" : ""
    return "\(SafeText.oneLine(file.path.text)) was not written, because not every file was tried" + earlier
  }

  /// Writes the list. If not every file was tried, an earlier one is removed instead: whoever reads the next one must not
  /// take it for all that is missing. Returns what to print about that.
  func finish(isComplete: Bool) throws(Failure) -> [String] {
    guard isComplete else {
      return withdraw().map { [$0] } ?? []
    }
    if let trouble = state.withLock({ $0.trouble }) { throw trouble }
    try file?.write { (put) throws(Failure) in try names.forEachPiece(put) }
    return omissions
  }
}
