import MultipartBasics
@testable import MultipartCore
import Testing

@Suite("The world of a process", .timeLimit(.minutes(15)))
struct WorldTests {
  @Test("A message above the level that is shown is not even built", arguments: [-1, 0, 1, 2])
  func level(most: Int) {
    let (shown, made) = (Locked<[Int]>([]), Locked<[Int]>([]))
    let world = World.ofProcess([:], upTo: most) { level, _ in shown.withLock { $0.append(level) } }
    func message(_ level: Int) -> Wording {
      made.withLock { $0.append(level) }
      return "\(level)"
    }
    for level in 0...2 { world.log(level, message(level)) }
    let expected = (0...2).filter { $0 <= most }
    #expect(made.withLock { $0 } == expected && shown.withLock { $0 } == expected)
  }
}
