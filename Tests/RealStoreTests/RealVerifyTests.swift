import Foundation
import Support
import Testing

extension RealStores {
  /// What real stores can prove without a download, and what their bytes do.
  @Suite(.serialized) struct Verifications {
    @Test(
      "An object is proven to be the file by what the store knows of it or by its bytes, and another file is 65",
      arguments: Store.once, [0, 1, 9 << 20, (20 << 20) + 3])
    func verifies(_ store: Store, _ size: Int) async throws {
      let run = try Run(store, "verify")
      let source = try await run.file("source", size, seed: 81)
      let key = run.key()
      let (put, _) = try await run.put(source.path, key, ["--part-size", "6M"])
      #expect(put.status == 0, "\(put.errors)")
      let same = try await run("verify", source.path, run.url(key))
      #expect(same.status == 0 && same.output.hasPrefix("verified"), "\(same.output) \(same.errors)")
      if size > 0 {
        let other = try await run.file("other", size, seed: 82)
        let different = try await run("verify", other.path, run.url(key))
        // A store that does not report how the object was divided cannot prove more.
        #expect(
          different.status == 65 || different.errors.contains("can be guessed"),
          "\(different.output) \(different.errors)")
        #expect(different.status != 0)
        let compared = try await run("verify", "--deep", other.path, run.url(key))
        #expect(compared.status == 65 && compared.errors.contains("of the object differs"), "\(compared.errors)")
      }
      let deep = try await run("verify", "--deep", source.path, run.url(key))
      #expect(deep.status == 0 && deep.output.hasPrefix("verified"), "\(deep.output) \(deep.errors)")
      let missing = try await run("verify", source.path, run.url(run.key("nothing")))
      #expect(missing.status == 69, "\(missing.output) \(missing.errors)")
      try await store.delete(key)
    }
  }
}
