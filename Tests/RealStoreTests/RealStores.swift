import Support
import Testing

/// The root of all suites here: they fail when there is no store, unless somebody said to leave them out.
@Suite(
  .disabled(if: Store.leftOut, "left out, as S3UP_NO_REAL_STORES=1 asks: nothing was shown against real stores"),
  .timeLimit(.minutes(60)), .needsStores)
enum RealStores {}

struct NeedsStores: SuiteTrait {
  func prepare(for test: Test) async throws {
    if !Store.leftOut { _ = try Store.found.get() }
  }
}

extension Trait where Self == NeedsStores {
  static var needsStores: NeedsStores { NeedsStores() }
}

/// Lets three cases run at the same time: what one waits for at its store another one uses.
struct ThreeAtOnce: SuiteTrait, TestTrait, TestScoping {
  let isRecursive = true
  private static let places = Places(3)

  func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
  ) async throws {
    try await Self.places.hold { try await function() }
  }
}

extension Trait where Self == ThreeAtOnce {
  static var threeAtOnce: ThreeAtOnce { ThreeAtOnce() }
}
