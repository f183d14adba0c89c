import Foundation
import Support
import Testing

extension RealStores {
  /// Many files in one run.
  @Suite(.serialized) struct Many {
    @Test(arguments: Store.all)
    func aTreeArrivesByteIdenticalAndIsNotSentAgain(_ store: Store) async throws {
      let run = try Run(store, "many")
      let folder = run.files.path("tree")
      var keys: [String: Source] = [:]
      let sizes = [0, 1, 4096, 70_000, 300_000, 9 << 20] + (0..<30).map { $0 * 101 }
      for (number, size) in sizes.enumerated() {
        let name = "d\(number % 7)/f \(number)"
        try FileManager.default.createDirectory(
          atPath: folder + "/d\(number % 7)", withIntermediateDirectories: true)
        keys[name] = try await run.file("tree/" + name, size, seed: UInt64(number + 1))
      }
      let put = ["put", "-r", folder, run.url(run.prefix), "--skip-same", "--json"]
      let first = try await run(put)
      #expect(first.status == 0, "\(first.errors)")
      #expect(first.lines.count { $0.contains(#""event":"completed""#) } == sizes.count)
      try await run.expect(keys)
      let second = try await run(put)
      #expect(second.status == 0, "\(second.errors)")
      let unchanged = second.lines.count { $0.contains(#""event":"unchanged""#) }
      #expect(unchanged == sizes.count, "\(second.output.suffix(600))")
      // One file has changed, and only that is sent.
      let changed = try await run.file("tree/d0/f 0", 5000, seed: 99)
      let third = try await run(put)
      #expect(third.lines.count { $0.contains(#""event":"completed""#) } == 1, "\(third.output.suffix(600))")
      try await run.expect(run.key("d0/f 0"), is: changed)
    }
  }
}
