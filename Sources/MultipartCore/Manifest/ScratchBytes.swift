import MultipartBasics

/// Bytes that are collected during a run: in memory up to a bound, then in a scratch file.
public final class ScratchBytes: Sendable {
  private struct State: Sendable {
    var memory: [UInt8] = []
    var file: ScratchFile?
    var length: Int64 = 0
  }

  private let folder: String
  private let state = Locked(State())
  private static let step = 256 << 10

  /// Bytes whose scratch file is made in this folder.
  public init(in folder: String) { self.folder = folder }

  /// Adds bytes at the end.
  public func append(_ bytes: [UInt8]) throws(Failure) {
    try state.withLock { (state) throws(Failure) in
      state.memory += bytes
      guard state.memory.count >= Self.step else { return }
      let file = if let file = state.file { file } else { try ScratchFile(in: folder) }
      try file.append(state.memory)
      state.length += Int64(state.memory.count)
      state.file = file
      state.memory = []
    }
  }

  /// Gives all bytes so far, in order.
  public func forEachPiece(_ give: ([UInt8]) throws(Failure) -> Void) throws(Failure) {
    let (memory, file, length) = state.withLock { ($0.memory, $0.file, $0.length) }
    if let file {
      for start in stride(from: 0, to: length, by: Self.step) {
        try give(try file.read(start..<min(length, start + Int64(Self.step))))
      }
    }
    try give(memory)
  }
}
