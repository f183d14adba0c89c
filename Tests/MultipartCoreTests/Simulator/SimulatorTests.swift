import Foundation
@testable import MultipartCore
import Support
import Testing

/// Whole uploads of the machine against a model of a store. `S3UP_SIM_COUNT` is their number, and `S3UP_SIM_SEED=n
/// swift test --filter SimulatorTests` plays a single one and prints its story.
@Suite(.timeLimit(.minutes(15))) struct SimulatorTests {
  private static let environment = ProcessInfo.processInfo.environment

  @Test(
    "Whatever happens in 50,000 uploads, each ends with the whole object or none, and reports everything it leaves")
  func manyUploads() async throws {
    if let seed = Self.environment["S3UP_SIM_SEED"].flatMap(UInt64.init) {
      let play = SimPlay(seed: seed, tells: true)
      try play.play()
      print(play.story.joined(separator: "\n"))
      print(play.tally.ends)
      #expect(play.tally.mistakes.isEmpty)
      return
    }
    let count = Self.environment["S3UP_SIM_COUNT"].flatMap(Int.init) ?? 50_000
    let tally = try await Simulator.play(count)
    for mistake in tally.mistakes { Issue.record("\(mistake)") }
    print(Simulator.report(tally))
    guard count >= 10_000 else { return }
    #expect(tally.runs > count * 3 / 2)
    #expect(tally.ends["completed", default: 0] > count / 2)
    #expect(tally.ends["failed network kept", default: 0] > count / 1000)
    #expect(tally.seen["foreign uploads adopted", default: 0] > count / 1000)
    #expect(tally.seen["parts taken back", default: 0] > count / 1000)
    #expect(tally.seen["numbers of connections changed", default: 0] > count / 500)
    #expect(tally.seen["calm last runs", default: 0] > count / 10)
    #expect(tally.seen["objects of other writers", default: 0] > count / 10)
    #expect(tally.seen["objects that were there before, told from our own", default: 0] > count / 10_000)
    #expect(tally.seen["options that the store dropped", default: 0] > count / 100)
    #expect(tally.seen["foreign uploads passed by", default: 0] > count / 1000)
    #expect(tally.seen["waits for quiet", default: 0] > count / 1000)
    #expect(tally.seen["uploads of strangers", default: 0] > count / 100)
    #expect(tally.faults["create's answer lost", default: 0] > count / 1000)
    #expect(tally.faults["complete's answer lost", default: 0] > count / 1000)
  }

  @Test("Each of 1 to 200 objects in a run ends whole or not at all, and no connection is idle while one could send")
  func manyObjects() async throws {
    let count = Self.environment["S3UP_SIM_COUNT"].flatMap(Int.init).map { $0 / 200 } ?? 500
    let tally = try await aside {
      var tally = SimTally()
      for seed in 0..<UInt64(count) where tally.mistakes.isEmpty {
        var play = try SimMany(seed: seed)
        play.play()
        tally.add(play.tally)
      }
      return tally
    }
    for mistake in tally.mistakes { Issue.record("\(mistake)") }
    print(Simulator.report(tally))
    #expect(tally.runs == count * 2)
    #expect(tally.ends["completed", default: 0] > count * 5)
    #expect(tally.ends["failed", default: 0] > count)
    #expect(tally.seen["copies", default: 0] > 0)
  }

  @Test("However shares of a ticket fail and are killed, they make one object, and none begins or aborts an upload")
  func ticketShares() async throws {
    if let seed = Self.environment["S3UP_SIM_TICKET"].flatMap(UInt64.init) {
      let play = try SimTicket(seed: seed, tells: true)
      play.play()
      print(play.story.joined(separator: "\n"))
      #expect(play.tally.mistakes.isEmpty)
      return
    }
    let count = Self.environment["S3UP_SIM_COUNT"].flatMap(Int.init).map { $0 / 50 } ?? 2000
    let tally = try await aside {
      var tally = SimTally()
      for seed in 0..<UInt64(count) where tally.mistakes.isEmpty {
        let play = try SimTicket(seed: seed)
        play.play()
        tally.add(play.tally)
      }
      return tally
    }
    for mistake in tally.mistakes {
      Issue.record("\(mistake). Its story: S3UP_SIM_TICKET=… swift test --filter ticketShares")
    }
    print(Simulator.report(tally))
    guard count >= 1000 else { return }
    #expect(tally.ends["completed", default: 0] > count)
    #expect(tally.ends["sharing", default: 0] > count)
    #expect(tally.faults["killed", default: 0] > count / 2)
    #expect(tally.seen["revoked", default: 0] > count / 100)
  }

  @Test("The same seed plays the same upload")
  func sameSeed() throws {
    for seed in 0..<20 {
      let (one, two) = (SimPlay(seed: UInt64(seed), tells: true), SimPlay(seed: UInt64(seed), tells: true))
      try one.play()
      try two.play()
      #expect(one.story == two.story)
    }
  }
}
