import Support
import Testing

/// The root of all suites here: they fail without a store, unless they are left out on purpose.
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

/// Runs three cases at once: while one waits for its store, another one works.
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
