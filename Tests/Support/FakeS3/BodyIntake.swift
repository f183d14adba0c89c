import Foundation

/// What is computed over a body while it is received.
struct IntakePlan: Sendable {
  var keeps = false
  var md5 = false
  var sha256 = false
  var checksums: Set<FakeChecksum> = []
}

struct ReceivedBody: Sendable {
  var length = 0
  var bytes = Data()
  var md5: [UInt8]?
  var sha256: [UInt8]?
  var checksums: [FakeChecksum: [UInt8]] = [:]
}

/// Receives a body piece by piece, and computes what the plan requires.
final class BodyIntake {
  private let plan: IntakePlan
  private let md5: RunningHash?
  private let sha256: RunningHash?
  private let checksums: [(FakeChecksum, RunningChecksum)]
  private var bytes = Data()
  private(set) var length = 0

  init(_ plan: IntakePlan, expected: Int) {
    self.plan = plan
    md5 = plan.md5 ? RunningHash(.md5) : nil
    sha256 = plan.sha256 ? RunningHash(.sha256) : nil
    checksums = plan.checksums.map { ($0, RunningChecksum($0)) }
    if plan.keeps { bytes.reserveCapacity(min(expected, 64 << 20)) }
  }

  func add(_ piece: UnsafeRawBufferPointer) {
    length += piece.count
    md5?.update(piece)
    sha256?.update(piece)
    for (_, running) in checksums { running.update(piece) }
    if plan.keeps, let base = piece.bindMemory(to: UInt8.self).baseAddress { bytes.append(base, count: piece.count) }
  }

  func finish() -> ReceivedBody {
    ReceivedBody(
      length: length, bytes: bytes, md5: md5?.finish(), sha256: sha256?.finish(),
      checksums: Dictionary(uniqueKeysWithValues: checksums.map { ($0, $1.finish()) }))
  }
}
