import Glibc
import MultipartCore

/// The names of files that have failed: some for people to read, all of them for `--files-from`.
final class FailedNames: Sendable {
  /// How many are listed at the end.
  static let most = 20

  private struct State: Sendable {
    var first: [String] = []
    var count = 0
    /// Names that the list cannot have, because the byte at which it ends a name is in them.
    var unlisted = 0
    var trouble: Failure?
  }

  private let file: ReportFile?
  private let names: ScratchBytes
  private let ending: UInt8
  private let state = Locked(State())

  /// `folder` is for what does not fit into memory.
  init(_ file: ReportFile?, endWithNUL: Bool, folder: String) {
    self.file = file
    names = ScratchBytes(in: folder)
    ending = endWithNUL ? 0 : UInt8(ascii: "\n")
  }

  /// `name` is what `--files-from` reads.
  func add(_ name: [UInt8], _ shown: String) {
    state.withLock { state in
      state.count += 1
      if state.first.count < Self.most { state.first.append(shown) }
      guard file != nil, state.trouble == nil else { return }
      guard !name.contains(ending) else {
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

  /// What is said of the names that the list does not have, if there are any.
  var unlisted: String? {
    let unlisted = state.withLock { $0.unlisted }
    guard unlisted > 0, let file else { return nil }
    return
      "\(SafeText.oneLine(file.path.text)) does not have \(Human.count(unlisted, "name")) with a line break in it: "
      + "run it again with -0, and --files-from with -0 too"
  }

  /// Whether the list names a file.
  var isListing: Bool { file != nil && state.withLock { $0.count > $0.unlisted } }

  /// Writes the list.
  func finish() throws(Failure) {
    if let trouble = state.withLock({ $0.trouble }) { throw trouble }
    try file?.write { (put) throws(Failure) in try names.forEachPiece(put) }
  }
}
