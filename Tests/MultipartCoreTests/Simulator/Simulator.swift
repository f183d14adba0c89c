import Foundation
@testable import MultipartCore
import Support

/// Plays many seeds on all cores.
enum Simulator {
  static func play(_ count: Int) async throws -> SimTally {
    let workers = max(1, min(8, ProcessInfo.processInfo.activeProcessorCount))
    return try await withThrowingTaskGroup(of: SimTally.self) { group in
      for worker in 0..<workers {
        group.addTask { try await aside { try Self.play(stride(from: worker, to: count, by: workers)) } }
      }
      var tally = SimTally()
      for try await part in group { tally.add(part) }
      return tally
    }
  }

  private static func play(_ seeds: some Sequence<Int>) throws -> SimTally {
    var tally = SimTally()
    for seed in seeds {
      let play = SimPlay(seed: UInt64(seed))
      try play.play()
      play.tally.mistakes = play.tally.mistakes.map {
        "seed \(seed): \($0). Its story: S3UP_SIM_SEED=\(seed) swift test --filter SimulatorTests"
      }
      tally.add(play.tally)
      // A few mistakes are enough to find the fault.
      if tally.mistakes.count >= 3 { break }
    }
    return tally
  }

  static func report(_ tally: SimTally) -> String {
    func list(_ counts: [String: Int]) -> String {
      counts.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map { "\($0.value) \($0.key)" }.joined(separator: ", ")
    }
    return """
      \(tally.plays) uploads, \(tally.runs) runs, \(tally.events) events, \(tally.sends) transfers
      ends: \(list(tally.ends))
      faults: \(list(tally.faults))
      seen: \(list(tally.seen))
      """
  }
}
