import Foundation
import Support
import Testing

extension RealStores {
  /// A signal in the middle of an upload: the run ends in order within seconds, and the same command resumes; or, if
  /// requested, nothing is left at the store.
  @Suite(.serialized) struct SignalsToARun {
    @Test(
      "A signal keeps the upload, and the same command resumes it", arguments: Store.once,
      [(SIGHUP, Int32(129)), (SIGINT, Int32(130)), (SIGTERM, Int32(143))])
    func aSignalKeepsTheUploadAndTheSameCommandResumes(
      _ store: Store, _ signal: (number: Int32, status: Int32)
    ) async throws {
      let run = try Run(store, "signal")
      let (process, source) = try await run.beginSlowly()
      process.signal(signal.number)
      let result = await process.wait()
      #expect(result.status == signal.status, "\(result.errors)")
      let event = try Event(result)
      #expect(event.code == "interrupted")
      #expect(event.exit == Int(signal.status))
      #expect(event.resumable == true)
      let id = try #require(try await store.unfinished(run.key()).first)
      let held = try await run.settledParts(id).count
      // With a fixed number of connections no part is taken back, and with no hedge none is sent twice.
      let (again, done) = try await run.put(
        source.path, run.key(), ["--part-size", "5M", "--concurrency", "4", "--hedge", "off", "-v"])
      #expect(again.status == 0, "\(again.errors)")
      #expect(done.bytes_resumed == held * (5 << 20))
      // Swift closes idle connections when it is busy, possibly all of them at once.
      let rest = source.size - held * (5 << 20)
      done.expectSent(rest, again: store.name == .swift ? rest : 0, again.errors)
      try await run.expect(run.key(), is: source)
    }

    @Test(
      "With --on-interrupt abort a signal leaves nothing", arguments: Store.once,
      [(SIGINT, Int32(130)), (SIGTERM, Int32(143))])
    func withOnInterruptAbortASignalLeavesNothing(
      _ store: Store, _ signal: (number: Int32, status: Int32)
    ) async throws {
      let run = try Run(store, "signal")
      let (process, _) = try await run.beginSlowly(["--on-interrupt", "abort"])
      process.signal(signal.number)
      let result = await process.wait()
      #expect(result.status == signal.status, "\(result.errors)")
      #expect(try Event(result).resumable == false)
      try await run.expectNothing(run.key())
    }
  }
}
