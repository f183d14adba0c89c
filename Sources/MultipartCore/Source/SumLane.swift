internal import CKernels

/// One slice while a worker processes it. Used by one worker at a time.
struct SumLane {
  let job: SumDesk.Job
  private var sha = ck_sha256()
  private var others: MultiChecksum?
  private var done: Int64 = 0
  private var ended: Result<[ChecksumAlgorithm: Checksum], Failure>?
  /// Nil without memory; then `ended` has the failure.
  private var buffer: WindowBuffer?

  init(_ job: SumDesk.Job) {
    self.job = job
    ck_sha256_begin(&sha)
    do throws(Failure) {
      buffer = try WindowBuffer(upTo: job.slice.length)
      others = try MultiChecksum(job.others)
    } catch {
      ended = .failure(error)
    }
  }

  var result: Result<[ChecksumAlgorithm: Checksum], Failure> {
    ended ?? .failure(Failure(.local, "a checksum was asked for before its end"))
  }

  private var left: Int { Int(min(WindowBuffer.size, job.slice.length - done)) }

  /// What is left, if it is less than a block.
  private var rest: Int { left < 64 ? left : 0 }

  mutating func stop() {
    ended = ended ?? .failure(Failure(.interrupted, "interrupted"))
  }

  /// Processes one window of every lane, and returns the lanes that have ended.
  static func step(_ lanes: inout [SumLane]) -> [SumLane] {
    // Only whole blocks are processed together; the rest at the end of a slice is processed alone.
    let together = (lanes.map(\.left).min() ?? 0) / 64 * 64
    for index in lanes.indices { lanes[index].read(together > 0 ? together : lanes[index].rest) }
    let moving = lanes.indices.filter { lanes[$0].ended == nil }
    if together > 0 {
      if moving.count == 2 {
        var (one, two) = (lanes[0].sha, lanes[1].sha)
        ck_sha256_two(&one, lanes[0].buffer?.start, &two, lanes[1].buffer?.start, together)
        (lanes[0].sha, lanes[1].sha) = (one, two)
      } else {
        for index in moving { ck_sha256_one(&lanes[index].sha, lanes[index].buffer?.start, together) }
      }
    }
    for index in moving { lanes[index].advance(together) }
    let ended = lanes.filter { $0.ended != nil }
    lanes.removeAll { $0.ended != nil }
    return ended
  }

  private mutating func read(_ count: Int) {
    guard ended == nil, count > 0, let buffer else { return }
    do throws(Failure) {
      try job.slice.file.read(into: buffer.bytes(count), at: job.slice.offset + done)
      others?.update(UnsafeRawBufferPointer(buffer.bytes(count)))
    } catch {
      ended = .failure(error)
    }
  }

  /// Adds `together` bytes to the position; with 0, processes the bytes that were read as the end of the slice.
  private mutating func advance(_ together: Int) {
    done += Int64(together)
    guard together == 0, left < 64 else { return }
    var digest = [UInt8](repeating: 0, count: 32)
    ck_sha256_end(&sha, buffer?.start, left, &digest)
    do throws(Failure) {
      var sums = try others?.finish() ?? [:]
      sums[.sha256] = Checksum(.sha256, whole: digest)
      ended = .success(sums)
    } catch {
      ended = .failure(error)
    }
  }
}
