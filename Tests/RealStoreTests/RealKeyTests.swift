import Support
import Testing

extension RealStores {
  /// Every legal key arrives unchanged; for a store that changes or refuses one, its known answer is expected, and
  /// nothing is published under another name.
  @Suite(.threeAtOnce) struct Keys {
    enum Outcome: Sendable, Equatable {
      case exact
      /// The store keeps the object under this name, and finds it under ours.
      case folded(String)
      case refused(Int32, String)
    }

    struct Case: Sendable, CustomTestStringConvertible {
      var name: String
      /// Makes the key from the run's prefix.
      var key: @Sendable (String) -> String
      var answers: @Sendable (Store.Name, _ prefix: String, _ inParts: Bool) -> Outcome
      var testDescription: String { name }

      init(
        _ name: String, _ key: @escaping @Sendable (String) -> String,
        _ answers: @escaping @Sendable (Store.Name, String, Bool) -> Outcome = { _, _, _ in .exact }
      ) {
        self.name = name
        self.key = key
        self.answers = answers
      }

      init(_ name: String, _ rest: String) {
        self.init(name, { "\($0)/\(rest)" })
      }
    }

    static let cases: [Case] = [
      Case("spaces", " a  b "), Case("plus", "a+b"), Case("percent", "100% 100%25 %2F %zz"),
      Case("quotes", "'\"`\u{201C}\u{201D}"), Case("query signs", "?#&=;:@,$!*()~x=1&uploads"),
      Case("brackets", "<a>[b]{c}|^_"), Case("non-ASCII", "ümläut/日本語/עברית"), Case("decomposed é", "e\u{301}"),
      Case("emoji", "😀👩‍👩‍👧/🇪🇺"), Case("255 bytes in a segment", String(repeating: "x", count: 255)),
      Case("backslash", { $0 + "/a\\b" }) { name, prefix, _ in name == .seaweedfs ? .folded(prefix + "/a/b") : .exact },
      Case("double slash", { $0 + "/d//e" }) { name, prefix, _ in
        name == .swift ? .exact : .folded(prefix + "/d/e")
      },
      Case("leading slash", { "/" + $0 + "/lead" }) { name, prefix, _ in
        name == .swift ? .exact : .folded(prefix + "/lead")
      },
      Case("dots", { $0 + "/x/../y" }, dots), Case("one dot", { $0 + "/./y" }, dots),
      Case("dots at the end", { $0 + "/x/.." }, dots),
      Case("1,024 bytes", { long($0, segment: 200) }) { name, _, inParts in
        name == .swift && inParts ? .refused(69, "InvalidRequest") : .exact
      },
      Case("1,024 bytes in a segment", { long($0, segment: 1024) }) { name, _, inParts in
        switch name {
        // The parts are stored under another name, so this is only noticed at complete, as an internal error of the
        // server.
        case .seaweedfs: inParts ? .refused(75, "InternalError") : .refused(69, "KeyTooLongError")
        case .swift: inParts ? .refused(69, "InvalidRequest") : .exact
        case .juicefs: .exact
        }
      },
    ]

    @Sendable private static func dots(_ name: Store.Name, _ prefix: String, _ inParts: Bool) -> Outcome {
      switch name {
      case .seaweedfs: .refused(69, "InvalidRequest")
      case .swift: .exact
      case .juicefs: .refused(69, "XMinioInvalidResourceName")
      }
    }

    /// A key of 1,024 bytes, with a slash at regular intervals.
    private static func long(_ prefix: String, segment: Int) -> String {
      var key = prefix + "/é"
      while key.utf8.count < 1024 { key += key.utf8.count % segment == 0 ? "/" : "k" }
      return key
    }

    @Test("Odd keys arrive byte for byte", arguments: Store.once, cases)
    func arriveAsTheyAre(_ store: Store, _ sample: Case) async throws {
      var made: Set<[UInt8]> = []
      for (inParts, size) in [(false, 1000), (true, (5 << 20) + 1)] {
        let run = try Run(store, "key")
        let key = sample.key(run.prefix)
        let source = try await run.file("source", size)
        let (result, event) = try await run.put(source.path, key, ["--part-size", "5M", "--retries", "2"])
        let found = try await store.ask(.keys(run.prefix), .keys("/" + run.prefix), .get(key), .uploads(key))
        // Some stores treat a prefix with a leading slash like one without.
        let published = Set(try (found[0].keys() + found[1].keys()).map { [UInt8]($0.utf8) })
        // After a failure that may pass by itself the upload is kept for the next run; nothing else leaves one.
        let unfinished = try found[3].uploads(of: key)
        #expect(unfinished.isEmpty == (result.status != 75))
        switch sample.answers(store.name, run.prefix, inParts) {
        case .exact:
          #expect(result.status == 0, "\(result.errors)")
          #expect(published == [[UInt8](key.utf8)])
          run.expect(found[2], is: source)
        case .folded(let name):
          #expect(result.status == 0, "\(result.errors)")
          #expect(published == [[UInt8](name.utf8)])
          run.expect(found[2], is: source)
        case .refused(let status, let code):
          #expect(result.status == status, "\(result.errors)")
          #expect(event.s3_code == code)
          #expect(published == [])
        }
        made.formUnion(published)
      }
      _ = try await store.ask(all: made.map { .delete(String(decoding: $0, as: UTF8.self)) })
    }
  }
}
