import Glibc
import MultipartCore

/// The names of files that have failed: some for people to read, all of them for `--files-from`.
final class FailedNames: Sendable {
  /// How many are listed at the end.
  static let most = 20

  private struct State: Sendable {
    var first: [String] = []
    var count = 0
    var trouble: Int32 = 0
  }

  private let descriptor: Int32?
  private let path: Argument?
  private let ending: UInt8
  private let state = Locked(State())

  /// The file is emptied, so that what it holds afterwards is of this run.
  init(_ path: Argument?, endWithNUL: Bool) throws(Failure) {
    self.path = path
    ending = endWithNUL ? 0 : UInt8(ascii: "\n")
    guard let path else {
      descriptor = nil
      return
    }
    let opened = path.cString.withUnsafeBufferPointer { text in
      text.baseAddress.map { open($0, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_APPEND, 0o666) } ?? -1
    }
    guard opened >= 0 else { throw Self.failure(path, errno) }
    descriptor = opened
  }

  deinit { descriptor.map { _ = close($0) } }

  /// `name` is what `--files-from` reads.
  func add(_ name: [UInt8], _ shown: String) {
    state.withLock { state in
      state.count += 1
      if state.first.count < Self.most { state.first.append(shown) }
      guard let descriptor, state.trouble == 0, !name.contains(ending) else { return }
      state.trouble = Descriptor.writeAll(name + [ending], to: descriptor)
    }
  }

  var count: Int { state.withLock { $0.count } }
  var first: [String] { state.withLock { $0.first } }

  func finish() throws(Failure) {
    let trouble = state.withLock { $0.trouble }
    if let path, trouble != 0 { throw Self.failure(path, trouble) }
  }

  private static func failure(_ path: Argument, _ error: Int32) -> Failure {
    Failure(
      .local, "'\(path.text)' cannot be written: \(String(cString: strerror(error)))",
      remedy: "Give --failed-to another path.")
  }
}
