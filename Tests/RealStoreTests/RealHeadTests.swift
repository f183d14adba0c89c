import Foundation
import Support
import Testing

extension RealStores {
  /// What real stores report about an object.
  @Suite(.serialized) struct Heads {
    @Test(
      "What is known of an object is shown: size, parts, metadata, and tags if the store has them",
      arguments: Store.once
    )
    func head(_ store: Store) async throws {
      let run = try Run(store, "head")
      let source = try await run.file("source", (11 << 20) + 1, seed: 5)
      let key = run.key()
      let put = try await run("put", source.path, run.url(key), "--part-size", "5M", "--metadata", "title=é x")
      #expect(put.status == 0, "\(put.errors)")
      let head = try await run("head", run.url(key))
      #expect(head.status == 0 && head.errors == "", "\(head.errors)")
      let facts = head.lines.map {
        $0.split(separator: " ", maxSplits: 1).map { $0.trimmingCharacters(in: .whitespaces) }
      }
      let shown = Dictionary(facts.compactMap { $0.count == 2 ? ($0[0], $0[1]) : nil }) { $1 }
      #expect(shown["size"]?.hasPrefix("11534337 ") == true && shown["parts"]?.hasPrefix("3") == true, "\(head.output)")
      #expect(shown["metadata"] == "title: é x" && shown["object"] == run.url(key), "\(head.output)")
      #expect(!head.output.contains("unknown        tags"), "\(head.output)")
      let json = try JSONSerialization.jsonObject(with: Data(try await run("head", run.url(key), "--json").output.utf8))
      #expect((json as? [String: Any])?["tags"] as? [String: String] == [:])
      let missing = try await run("head", run.url(run.key("nothing")))
      #expect(missing.status == 69, "\(missing.output) \(missing.errors)")
      try await store.delete(key)
    }
  }
}
