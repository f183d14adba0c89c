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
