import Foundation
import Support
import Testing

extension RealStores {
  /// A signal in the middle of an upload: an orderly end within seconds, nothing left at the store.
  @Suite(.serialized) struct SignalsToARun {
    @Test(arguments: Store.all, [(SIGINT, Int32(130)), (SIGTERM, Int32(143))])
    func aSignalEndsTheRunAndLeavesNothing(_ store: Store, _ signal: (number: Int32, status: Int32)) async throws {
      let run = try Run(store, "signal")
      let (process, _) = try await run.beginSlowly()
      process.signal(signal.number)
      let result = await process.wait()
      #expect(result.status == signal.status, "\(result.errors)")
      let event = try Event(result)
      #expect(event.code == "interrupted")
      #expect(event.exit == Int(signal.status))
      try await run.expectNothing(run.key())
    }
  }
}
