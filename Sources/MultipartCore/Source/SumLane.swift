internal import CKernels

/// One slice on its way through a worker. Used by one worker at a time.
struct SumLane {
  let job: SumDesk.Job
  private var sha = ck_sha256()
  private var others: MultiChecksum?
  private var done: Int64 = 0
  private var ended: Result<[ChecksumAlgorithm: Checksum], Failure>?
  /// Nil when there was no memory, which `ended` tells.
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

  /// What is left when it is less than a block.
  private var rest: Int { left < 64 ? left : 0 }

  mutating func stop() {
    ended = ended ?? .failure(Failure(.interrupted, "interrupted"))
  }

  /// Takes all lanes one window further and gives back those that have ended.
  static func step(_ lanes: inout [SumLane]) -> [SumLane] {
    // Only whole blocks go in step; what is less at the end of a slice goes alone.
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

  /// `together` bytes are in the sum; with none, what was read is the end of a slice, if it is one.
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
