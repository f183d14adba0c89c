import Glibc
import MultipartBasics

/// The list of the objects of a run, one line for each, sorted by key, so that it does not depend on the order in which
/// they finished.
///
/// Lines are collected in memory up to a bound, then sorted and added to a scratch file; at the end the sorted runs are
/// merged.
public final class Manifest: Sendable {
  private struct State: Sendable {
    var lines: [ManifestLine] = []
    /// The size of the lines in bytes.
    var size = 0
    var file: ScratchFile?
    var length: Int64 = 0
    /// The ranges of sorted lines.
    var runs: [Range<Int64>] = []
  }

  private let form: ManifestForm
  private let folder: String
  private let bound: Int
  private let state = Locked(State())

  /// `folder` is for temporary files; `bound` is how many bytes of lines are kept in memory.
  public init(_ form: ManifestForm, folder: String, bound: Int = 4 << 20) {
    self.form = form
    self.folder = folder
    self.bound = bound
  }

  /// Whether lines for `sha256sum` are written, which need the SHA-256.
  var wantsSHA256: Bool { if case .sums = form { true } else { false } }

  func add(_ entry: ManifestEntry) throws(Failure) {
    let line = ManifestLine(name: Array(entry.key.utf8), text: try form.line(entry))
    try state.withLock { (state) throws(Failure) in
      state.lines.append(line)
      state.size += line.name.count + line.text.count
      if state.size >= bound { try spill(&state) }
    }
  }

  private func spill(_ state: inout State) throws(Failure) {
    let file = if let file = state.file { file } else { try ScratchFile(in: folder) }
    state.file = file
    let begin = state.length
    var bytes: [UInt8] = []
    for line in state.lines.sorted() {
      bytes += line.stored
      guard bytes.count >= Self.step else { continue }
      try file.append(bytes)
      state.length += Int64(bytes.count)
      bytes.removeAll(keepingCapacity: true)
    }
    try file.append(bytes)
    state.length += Int64(bytes.count)
    state.runs.append(begin..<state.length)
    (state.lines, state.size) = ([], 0)
  }

  /// A temporary file with the manifest; the caller uploads and deletes it.
  public func temporaryFile() throws(Failure) -> FilePath {
    let (path, descriptor) = ScratchFile.made(FilePath(folder + "/s3up-manifest"), O_WRONLY, mode: 0o600)
    guard descriptor >= 0 else { throw StateFolder.failure(folder, "a temporary file cannot be created") }
    do throws(Failure) {
      defer { close(descriptor) }
      try write { (bytes) throws(Failure) in
        guard WholeWrite.write(bytes, to: descriptor) == 0 else {
          throw StateFolder.failure(path.text, "a temporary file cannot be written")
        }
      }
    } catch {
      path.remove()
      throw error
    }
    return path
  }

  /// Passes on the manifest in pieces, in order.
  public func write(_ give: ([UInt8]) throws(Failure) -> Void) throws(Failure) {
    var bytes: [UInt8] = []
    try merged { (line) throws(Failure) in
      bytes += line.text
      guard bytes.count >= Self.step else { return }
      try give(bytes)
      bytes.removeAll(keepingCapacity: true)
    }
    try give(bytes)
  }

  private static let step = 64 << 10

  private func merged(_ give: (ManifestLine) throws(Failure) -> Void) throws(Failure) {
    try state.withLock { (state) throws(Failure) in
      if state.runs.isEmpty {
        for line in state.lines.sorted() { try give(line) }
        return
      }
      if !state.lines.isEmpty { try spill(&state) }
      guard let file = state.file else { return }
      // Sorted by their next lines, the smallest one last, where it can be taken cheaply.
      var open: [ManifestRun] = []
      for range in state.runs {
        if let run = try ManifestRun(file, range) { open.append(run) }
      }
      open.sort { $1.first < $0.first }
      while var run = open.popLast() {
        try give(run.first)
        guard try run.advance() else { continue }
        var (low, high) = (0, open.count)
        while low < high {
          let middle = (low + high) / 2
          if run.first < open[middle].first { low = middle + 1 } else { high = middle }
        }
        open.insert(run, at: low)
      }
    }
  }
}
