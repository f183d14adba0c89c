import Glibc

/// The work of the reading thread.
///
/// `@unchecked Sendable` holds because only that thread uses it, which receives it when it starts.
final class StreamReader: @unchecked Sendable {
  /// The size of a read, after which it checks whether to stop; a multiple of what a pipe returns.
  private static let chunk = 1 << 20

  private let desk: StreamDesk
  private let input: StreamInput
  private let name: String
  private let partCount: Int
  private var sum: RunningChecksum?
  /// The byte after a part, read to find out whether there is one.
  private var ahead: UInt8?

  init(
    desk: StreamDesk, input: consuming StreamInput, name: String, partCount: Int, hashes: Bool
  ) throws(Failure) {
    sum = hashes ? try RunningChecksum(.sha256) : nil
    self.desk = desk
    self.input = input
    self.name = name
    self.partCount = partCount
  }

  /// Fills buffers until the end, a failure or a stop. The descriptor is closed when the thread releases this object, so
  /// that a producer gets SIGPIPE once its reader has stopped.
  func run() {
    while true {
      if let stop = desk.stop { return finish(.failure(stop)) }
      guard let order = desk.takeOrder() else {
        _ = poll(-1)
        continue
      }
      do throws(Failure) {
        let fill = try fill(order)
        // Before the answer, so that the caller that gets the last part can ask for the checksum of the whole stream.
        if fill.ended { finish(try end()) }
        desk.answer(order, .success(fill))
        if fill.ended { return }
      } catch {
        finish(.failure(error))
        desk.answer(order, .failure(error))
        return
      }
    }
  }

  private func finish(_ over: Result<Checksum?, Failure>) {
    if let order = desk.close(over) { desk.answer(order, .failure(desk.stop ?? StreamDesk.stopped)) }
  }

  private func end() throws(Failure) -> Result<Checksum?, Failure> {
    .success(try sum?.finish())
  }

  private func fill(_ order: StreamDesk.Order) throws(Failure) -> StreamDesk.Fill {
    guard let buffer = order.buffer, let start = buffer.bytes.baseAddress else {
      if try isAtEnd() { return StreamDesk.Fill(count: 0, ended: true) }
      throw Failure(
        .usage, "the stream is longer than \(partCount) parts of the chosen sizes hold",
        remedy: "give its length with \(.expectedSize), or choose a larger \(.partSize)"
      ).at(Place(file: name))
    }
    var filled = 0
    if let byte = ahead.take() {
      start.storeBytes(of: byte, as: UInt8.self)
      filled = 1
    }
    while filled < buffer.bytes.count {
      let room = UnsafeMutableRawBufferPointer(rebasing: buffer.bytes[filled...].prefix(Self.chunk))
      let count = try receive(room)
      guard count > 0 else { return StreamDesk.Fill(count: filled, ended: true) }
      filled += count
    }
    // Only the first part reads one byte ahead: whether the stream has ended decides how it is sent.
    return StreamDesk.Fill(count: filled, ended: order.number == 1 ? try isAtEnd() : false)
  }

  private func isAtEnd() throws(Failure) -> Bool {
    guard ahead == nil else { return false }
    var byte: UInt8 = 0
    let result = withUnsafeMutableBytes(of: &byte) { bytes in
      Result { () throws(Failure) in try receive(bytes) }
    }
    guard try result.get() > 0 else { return true }
    ahead = byte
    return false
  }

  /// Reads the available bytes; 0 at the end.
  private func receive(_ room: UnsafeMutableRawBufferPointer) throws(Failure) -> Int {
    while true {
      guard try awaitInput() else { continue }
      switch input.read(into: room) {
      case .bytes(let count):
        sum?.update(UnsafeRawBufferPointer(rebasing: room[..<count]))
        desk.add(count)
        return count
      case .end:
        return 0
      case .again:
        continue
      case .failed(let error):
        throw StreamInput.unreadable(name, error)
      }
    }
  }

  /// Waits for input or the bell; true if a read would return bytes, the end or an error.
  private func awaitInput() throws(Failure) -> Bool {
    let polled = poll(input.descriptor)
    if let stop = desk.stop { throw stop }
    return polled
  }

  /// Polls the bell and `descriptor` (-1: none); returns whether the descriptor can be read.
  private func poll(_ descriptor: Int32) -> Bool {
    var bell = pollfd(fd: desk.bell.reading, events: Int16(POLLIN), revents: 0)
    let input = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    let ready = withUnsafeTemporaryAllocation(of: pollfd.self, capacity: 2) { watched in
      _ = watched.initialize(fromContentsOf: [bell, input])
      // An interrupted poll leaves the results unset.
      _ = Glibc.poll(watched.baseAddress, 2, -1)
      bell = watched[0]
      return watched[1].revents != 0
    }
    if bell.revents != 0 { desk.bell.silence() }
    return ready
  }
}
