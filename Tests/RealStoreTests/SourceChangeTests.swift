import Foundation
import Support
import Testing

extension RealStores {
  /// The source changes while parts of it are at the store already: nothing is published or left.
  @Suite(.serialized) struct ChangedSources {
    enum Change: String, Sendable, CaseIterable, CustomTestStringConvertible {
      case truncated, rewritten, grown
      var testDescription: String { rawValue }

      func make(_ path: String) throws {
        switch self {
        case .truncated:
          guard truncate(path, 1000) == 0 else { throw SystemError("truncate") }
        case .rewritten, .grown:
          guard let file = FileHandle(forUpdatingAtPath: path) else { throw SystemError("open") }
          try file.seek(toOffset: self == .grown ? file.seekToEnd() : 20 << 20)
          try file.write(contentsOf: Data("other bytes".utf8))
          try file.close()
        }
      }
    }

    @Test(arguments: Store.all, Change.allCases)
    func aChangedSourceEndsIn65AndNothingIsPublished(_ store: Store, _ change: Change) async throws {
      let run = try Run(store, change.rawValue)
      let (process, source) = try await run.beginSlowly()
      try change.make(source.path)
      let result = await process.wait()
      #expect(result.status == 65, "\(result.errors)")
      #expect(try Event(result).code == "sourceChanged")
      try await run.expectNothing(run.key())
    }
  }
}
