import MultipartBasics
@testable import MultipartCore
import Testing

@Suite(.timeLimit(.minutes(15))) struct MachineWindowStories {
  private static func story(parts: Int, start: Int, most: Int) throws -> MachineStory {
    var settings = SoloSettings(
      plan: try UploadPlan(size: Int64(8 << 20) * Int64(parts), partSize: 8 << 20), concurrency: start,
      form: .algorithm(.crc64nvme), formIsFree: true, seed: 1)
    settings.pace = Pace.Bounds(start: start, most: most)
    var story = MachineStory(settings)
    story.begin()
    story.tell(.created(uploadID: "id1"))
    return story
  }

  /// Samples a line of `rate` bytes per second ten times a second for this long; returns all resulting actions.
  private static func look(
    _ story: inout MachineStory, _ time: Duration, rate: Double
  ) -> [UploadMachine.Action] {
    var actions: [UploadMachine.Action] = []
    let begin = story.now
    while story.now < begin + time {
      story.now += .milliseconds(100)
      let delivered = Int64(rate * (story.now / .seconds(1)))
      actions += story.tell(.sampled(LineSample(at: story.now, delivered: delivered)))
    }
    return actions
  }

  @Test("A run begins with the first number, and a faster line fills the next window")
  func grows() throws {
    var story = try Self.story(parts: 100, start: 4, most: 20)
    #expect(story.all.parts == [1, 2, 3, 4])
    let actions = Self.look(&story, .milliseconds(800), rate: 50_000_000)
    #expect(actions.parts == [5, 6])
    #expect(story.machine.window == 6)
    #expect(story.notices.contains { if case .connections(6, _) = $0 { true } else { false } })
  }

  @Test("On a slow line the parts that began last are stopped, and sent when their turn comes, without losing a try")
  func slow() throws {
    var story = try Self.story(parts: 9, start: 4, most: 8)
    let actions = Self.look(&story, .seconds(15), rate: 100_000)
    let stopped = actions.compactMap { if case .takeBack(let part) = $0 { part } else { nil } }
    #expect(Set(stopped) == [2, 3, 4])
    for part in [4, 2, 3] { #expect(story.failed(part, .interrupted) == []) }
    let next = story.done(1)
    #expect(next == [.send(part: 4, form: .algorithm(.crc64nvme), attempt: 1, freshConnection: false)])
    #expect(story.machine.retries == 0)
  }

  @Test("A part that arrives although it was to be stopped counts")
  func arrives() throws {
    var story = try Self.story(parts: 5, start: 4, most: 8)
    _ = Self.look(&story, .seconds(15), rate: 100_000)
    story.done(4)
    for part in [2, 3] { story.failed(part, .interrupted) }
    story.done(1)
    for part in [2, 3] { story.done(part) }
    #expect(story.done(5) == [.complete(attempt: 1)])
  }

  @Test("An interruption while parts are being stopped ends the run")
  func interrupted() throws {
    var story = try Self.story(parts: 9, start: 4, most: 8)
    _ = Self.look(&story, .seconds(15), rate: 100_000)
    #expect(story.tell(.interrupted(Failure(.interrupted, "stopped"))) == [.cancelTransfers])
    for part in [2, 3, 4] { #expect(story.failed(part, .interrupted) == []) }
    #expect(story.failed(1, .interrupted) == [.abort(uploadID: "id1")])
  }

  @Test("A store that asks for less gets half, and no more for a while even if the line could carry it")
  func throttled() throws {
    var story = try Self.story(parts: 100, start: 8, most: 20)
    story.now = .milliseconds(100)
    #expect(story.failed(1, .throttled).parts == [])
    #expect(story.machine.window == 4)
    #expect(Self.look(&story, .seconds(9), rate: 50_000_000) == [])
  }

  @Test("At the end, with fewer parts left than connections, a part that is mostly sent is not stopped")
  func end() throws {
    #expect(try Self.stopped([2: 7 << 20, 3: 3 << 20, 4: 1 << 20]) == [.takeBack(4)])
  }

  @Test("The only part that is still being sent is not stopped, although others wait for their answers")
  func answers() throws {
    #expect(try Self.stopped([2: 1 << 20, 3: 8 << 20, 4: 8 << 20]) == [])
    #expect(try Self.stopped([2: 2 << 20, 3: 1 << 20, 4: 8 << 20]) == [.takeBack(3)])
  }

  /// Which of the last three parts are stopped on a slow line, with so many bytes of each sent.
  private static func stopped(_ sent: [Int: Int64]) throws -> [UploadMachine.Action] {
    var story = try story(parts: 4, start: 4, most: 8)
    story.done(1)
    var actions: [UploadMachine.Action] = []
    while story.now < .seconds(30) {
      story.now += .milliseconds(100)
      let sample = LineSample(at: story.now, delivered: Int64(50_000 * (story.now / .seconds(1))))
      actions += story.tell(.sampled(sample, parts: sent))
    }
    #expect(story.machine.window == 1)
    return actions.filter { if case .takeBack = $0 { true } else { false } }
  }
}
