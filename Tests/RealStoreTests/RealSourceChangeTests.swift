import Foundation
import Support
import Testing

extension RealStores {
  /// The source changes while some of its parts are already at the store: nothing is published or left.
  @Suite(.serialized) struct ChangedSources {
    enum Change: String, Sendable, CaseIterable, CustomTestStringConvertible {
      case truncated, rewritten, grown, rewrittenWithItsTimesPutBack
      var testDescription: String { rawValue }

      func make(_ path: String) throws {
        switch self {
        case .truncated:
          guard truncate(path, 1000) == 0 else { throw SystemError("truncate") }
        case .rewritten, .grown, .rewrittenWithItsTimesPutBack:
          guard let file = FileHandle(forUpdatingAtPath: path) else { throw SystemError("open") }
          var status = stat()
          guard fstat(file.fileDescriptor, &status) == 0 else { throw SystemError("fstat") }
          // The place is in the first part, which is already at the store; the times do not show the change.
          let place: UInt64 = self == .rewritten ? 20 << 20 : 1000
          try file.seek(toOffset: self == .grown ? file.seekToEnd() : place)
          try file.write(contentsOf: Data("other bytes".utf8))
          if self == .rewrittenWithItsTimesPutBack {
            guard futimens(file.fileDescriptor, [status.st_atim, status.st_mtim]) == 0 else {
              throw SystemError("futimens")
            }
          }
          try file.close()
        }
      }
    }

    @Test("A source that changes ends in 65, and nothing is published", arguments: Store.once, Change.allCases)
    func aChangedSourceEndsIn65AndNothingIsPublished(_ store: Store, _ change: Change) async throws {
      let run = try Run(store, change.rawValue)
      // Only a part after it shows that the first was accepted. A store that lists it may still refuse it, and then it
      // is sent again, rightly with the bytes that are there now.
      let (process, source) = try await run.beginSlowly(parts: change == .rewrittenWithItsTimesPutBack ? 2 : 1)
      try change.make(source.path)
      let result = await process.wait()
      #expect(result.status == 65, "\(result.output) \(result.errors)")
      #expect(try Event(result).code == "sourceChanged")
      try await run.expectNothing(run.key())
    }

    @Test("A source that was only touched is compared once more and arrives", arguments: Store.all.prefix(1))
    func aTouchedSourceIsComparedOnceMoreAndGoesThrough(_ store: Store) async throws {
      let run = try Run(store, "touched")
      let (process, source) = try await run.beginSlowly(["-v"])
      #expect(chmod(source.path, 0o640) == 0)
      let result = await process.wait()
      #expect(result.status == 0 && result.errors.contains("comparing its bytes again"), "\(result.errors)")
      try await run.expect(run.key(), is: source)
    }

    @Test("A file on standard input resumes", arguments: Store.all.prefix(1))
    func aFileOnStandardInputResumes(_ store: Store) async throws {
      let run = try Run(store, "input")
      let (process, source) = try await run.beginSlowly(fromInput: true)
      process.signal(SIGKILL)
      _ = await process.wait()
      let again = try run.start(
        ["put", "-", run.url(run.key()), "--json", "--part-size", "5M"], input: .file(source.path))
      let result = await again.wait(timeout: .seconds(240))
      #expect(result.status == 0, "\(result.errors)")
      #expect(try Event(result).bytes_resumed ?? 0 >= 5 << 20)
      try await run.expect(run.key(), is: source)
    }
  }
}
