internal import CKernels

/// One slice while a worker processes it. Used by one worker at a time.
struct SumLane {
  let job: SumDesk.Job
  private var sha = ck_sha256()
  private var others: MultiChecksum?
  private var done: Int64 = 0
  private var ended: Result<[ChecksumAlgorithm: Checksum], Failure>?
  /// The bytes that the next step may process: fewer than a block's 64 bytes only at the end of the slice.
  private var next: FilePiece?

  init(_ job: SumDesk.Job) {
    self.job = job
    ck_sha256_begin(&sha)
    do throws(Failure) {
      others = try MultiChecksum(job.others)
    } catch {
      ended = .failure(error)
    }
  }

  var result: Result<[ChecksumAlgorithm: Checksum], Failure> {
    ended ?? .failure(Failure(.local, "a checksum was asked for before its end"))
  }

  mutating func stop() {
    ended = ended ?? .failure(.interrupted)
  }

  /// Processes the next bytes of every lane, and returns the lanes that have ended.
  static func step(_ lanes: inout [SumLane]) -> [SumLane] {
    for index in lanes.indices { lanes[index].find() }
    // Only whole blocks are processed together; the rest at the end of a slice is processed alone.
    let together = (lanes.map { $0.next?.bytes.count ?? 0 }.min() ?? 0) / 64 * 64
    let moving = lanes.indices.filter { lanes[$0].ended == nil }
    if together > 0 {
      if moving.count == 2 {
        var (one, two) = (lanes[0].sha, lanes[1].sha)
        ck_sha256_two(&one, lanes[0].next?.bytes.baseAddress, &two, lanes[1].next?.bytes.baseAddress, together)
        (lanes[0].sha, lanes[1].sha) = (one, two)
      } else {
        for index in moving { ck_sha256_one(&lanes[index].sha, lanes[index].next?.bytes.baseAddress, together) }
      }
    }
    for index in moving { lanes[index].advance(together) }
    let ended = lanes.filter { $0.ended != nil }
    lanes.removeAll { $0.ended != nil }
    return ended
  }

  private mutating func find() {
    guard ended == nil else { return }
    do throws(Failure) {
      next = try job.slice.piece(at: done, PartSlice.step, least: 64)
    } catch {
      ended = .failure(error)
    }
  }

  /// Adds `together` bytes to the position; with 0, processes the rest of the slice if it is less than a block.
  private mutating func advance(_ together: Int) {
    guard let piece = next else { return }
    next = nil
    do throws(Failure) {
      let isLast = together == 0 && piece.bytes.count < 64
      others?.update(UnsafeRawBufferPointer(rebasing: isLast ? piece.bytes[...] : piece.bytes[..<together]))
      try piece.window.check()
      piece.window.release(before: job.slice.offset + done)
      done += Int64(together)
      guard isLast else { return }
      var digest = [UInt8](repeating: 0, count: 32)
      ck_sha256_end(&sha, piece.bytes.baseAddress, piece.bytes.count, &digest)
      try piece.window.check()
      try job.slice.checkWhole()
      var sums = try others?.finish() ?? [:]
      sums[.sha256] = Checksum(.sha256, whole: digest)
      ended = .success(sums)
    } catch {
      ended = .failure(error)
    }
  }
}
