import Foundation
import Support
import Testing

extension RealStores {
  /// A multipart upload by single steps, as in a script.
  @Suite(.serialized) struct Steps {
    static let slices: [(number: Int, offset: Int, length: Int)] = [
      (1, 0, 5 << 20), (2, 5 << 20, 5 << 20), (3, 10 << 20, 1000),
    ]

    /// Creates, sends the parts in the order 3, 1, 2 and returns the id and the ETags by number.
    private func begin(_ run: Run, _ source: Source) async throws -> (id: String, etags: [String]) {
      let created = try await run("create", run.url(run.key()))
      #expect(created.status == 0, "\(created.errors)")
      #expect(created.lines.count == 1)
      let id = created.lines.first ?? ""
      var etags = ["", "", ""]
      for slice in [2, 0, 1].map({ Self.slices[$0] }) {
        let sent = try await run(
          "part", source.path, run.url(run.key()), "--upload-id", id, "--part", "\(slice.number)",
          "--offset", "\(slice.offset)", "--length", "\(slice.length)")
        #expect(sent.status == 0, "\(sent.errors)")
        etags[slice.number - 1] = sent.lines.first ?? ""
      }
      return (id, etags)
    }

    @Test("Three parts in any order make the object", arguments: Store.once)
    func threePartsInAnyOrderMakeTheObject(_ store: Store) async throws {
      let run = try Run(store, "steps")
      let source = try await run.file("source", (10 << 20) + 1000)
      let (id, etags) = try await begin(run, source)
      #expect(try await store.parts(run.key(), id) == [1, 2, 3])

      let listed = try await run("parts", run.url(run.key()), "--upload-id", id)
      #expect(listed.status == 0, "\(listed.errors)")
      #expect(
        listed.lines == Self.slices.map { "\($0.number) \($0.length) \(etags[$0.number - 1])" })

      let uploads = try await run("uploads", run.url(run.prefix + "/"), "--json")
      #expect(uploads.status == 0, "\(uploads.errors)")
      #expect(uploads.lines.count == 1)
      #expect(uploads.output.contains("\"upload_id\":\"\(id)\""))
      #expect(uploads.output.contains("\"parts\":3,\"bytes\":\(source.size)"))

      let completed = try await run("complete", run.url(run.key()), "--upload-id", id, "--json")
      #expect(completed.status == 0, "\(completed.errors)")
      #expect(try Event(completed).parts == 3)
      try await run.expect(run.key(), is: source)
    }

    @Test("complete assembles the parts that a file lists", arguments: Store.once)
    func completeAssemblesThePartsThatAFileLists(_ store: Store) async throws {
      let run = try Run(store, "list")
      let source = try await run.file("source", (10 << 20) + 1000)
      let (id, etags) = try await begin(run, source)
      let wrong = try run.files.write("1 \(etags[1])\n", to: "wrong")
      let refused = try await run("complete", run.url(run.key()), "--upload-id", id, "--parts-file", wrong)
      #expect(refused.status == 65)
      let list = try run.files.write("3 \(etags[2])\n1\t\(etags[0])\n# 2 is last\n2 \(etags[1])\n", to: "list")
      let completed = try await run("complete", run.url(run.key()), "--upload-id", id, "--parts-file", list)
      #expect(completed.status == 0, "\(completed.errors)")
      try await run.expect(run.key(), is: source)
    }

    /// The output of `parts` is the list; with a gap nothing is assembled, and a completed upload is reported as unchanged.
    @Test("complete refuses gaps and takes what parts prints", arguments: Store.once)
    func completeRefusesGapsAndTakesWhatPartsPrints(_ store: Store) async throws {
      let run = try Run(store, "gaps")
      let source = try await run.file("source", (10 << 20) + 1000)
      let (id, _) = try await begin(run, source)
      let listed = try await run("parts", run.url(run.key()), "--upload-id", id)
      let list = try run.files.write(listed.output, to: "list")
      let holed = try run.files.write(listed.lines[0] + "\n" + listed.lines[2] + "\n", to: "holed")
      let step = ["complete", run.url(run.key()), "--upload-id", id, "--parts-file"]
      let refused = try await run(step + [holed])
      #expect(refused.status == 65 && refused.errors.contains("part 2"), "\(refused.errors)")
      let completed = try await run(step + [list])
      #expect(completed.status == 0, "\(completed.errors)")
      let again = try await run(step + [list])
      #expect(again.status == 0, "\(again.output) \(again.errors)")
      try await run.expect(run.key(), is: source)

      let made = try await run("create", run.url(run.key("holed")))
      for (number, offset) in [(1, 0), (3, 5 << 20)] {
        let sent = try await run(
          "part", source.path, run.url(run.key("holed")), "--upload-id", made.lines[0], "--part", "\(number)",
          "--offset", "\(offset)", "--length", "\(5 << 20)")
        #expect(sent.status == 0, "\(sent.errors)")
      }
      let gap = try await run("complete", run.url(run.key("holed")), "--upload-id", made.lines[0])
      #expect(gap.status == 65 && gap.errors.contains("part 2 of 1-3"), "\(gap.errors)")
      #expect(try await store.parts(run.key("holed"), made.lines[0]) == [1, 3])
      let aborted = try await run("abort", run.url(run.key("holed")), "--upload-id", made.lines[0])
      #expect(aborted.status == 0, "\(aborted.errors)")
    }

    /// Swift silently ignores a legal hold; the other two refuse it when the upload begins.
    @Test("complete checks the settings that create was given", arguments: Store.once)
    func completeIsToldWhatCreateWasAskedFor(_ store: Store) async throws {
      let run = try Run(store, "asked")
      let source = try await run.file("source", 1000)
      for (options, lost) in [
        (["--metadata", "color=blue", "--content-type", "text/x-real"], nil),
        (["--content-language", "de"], store.name == .juicefs ? "no content-language" : nil),
        (["--legal-hold", "on"], store.name == .swift ? "no legal hold" : nil),
      ] {
        let made = try await run(["create", run.url(run.key())] + options)
        guard let id = made.lines.first else {
          #expect(options[0] == "--legal-hold" && store.name != .swift && made.status == 69, "\(made.errors)")
          continue
        }
        #expect(made.errors.contains("only complete can check"), "\(made.errors)")
        let upload = [run.url(run.key()), "--upload-id", id]
        let sent = try await run(["part", source.path] + upload + ["--part", "1"])
        #expect(sent.status == 0, "\(sent.errors)")
        let completed = try await run(["complete"] + upload + options)
        #expect(completed.status == (lost == nil ? 0 : 69), "\(options) \(completed.errors)")
        if let lost { #expect(completed.errors.contains("the object exists with \(lost)"), "\(completed.errors)") }
        try await run.expect(run.key(), is: source)
      }
    }

    @Test("abort leaves nothing", arguments: Store.once)
    func abortLeavesNothing(_ store: Store) async throws {
      let run = try Run(store, "abort")
      let source = try await run.file("source", (10 << 20) + 1000)
      let (id, _) = try await begin(run, source)
      #expect(try await store.unfinished(run.key()) == [id])
      let aborted = try await run("abort", run.url(run.key()), "--upload-id", id)
      #expect(aborted.status == 0, "\(aborted.errors)")
      try await run.expectNothing(run.key())
      #expect(try await store.parts(run.key(), id) == [])
      let uploads = try await run("uploads", run.url(run.prefix + "/"))
      #expect(uploads.status == 0)
      #expect(uploads.output == "")
      // A second abort does no harm but fails: the store cannot distinguish it from an id that never existed.
      let again = try await run("abort", run.url(run.key()), "--upload-id", id)
      #expect(again.status == 69, "\(again.output) \(again.errors)")
    }

    @Test("abort of an upload at another key fails", arguments: Store.once)
    func abortOfAnotherKeysUploadFails(_ store: Store) async throws {
      let run = try Run(store, "other")
      let source = try await run.file("source", (10 << 20) + 1000)
      let (id, _) = try await begin(run, source)
      let aborted = try await run("abort", run.url(run.key("elsewhere")), "--upload-id", id)
      #expect(aborted.status == 69, "\(aborted.output) \(aborted.errors)")
      #expect(try await store.parts(run.key(), id) == [1, 2, 3])
      let right = try await run("abort", run.url(run.key()), "--upload-id", id)
      #expect(right.status == 0, "\(right.errors)")
    }

    /// Regression: Swift continues to list the parts of a completed upload, and abort waited a minute for them to
    /// disappear.
    @Test("abort of a completed upload leaves the object", arguments: Store.once)
    func abortOfACompletedUploadLeavesTheObject(_ store: Store) async throws {
      let run = try Run(store, "late")
      let source = try await run.file("source", (10 << 20) + 1000)
      let (id, _) = try await begin(run, source)
      let completed = try await run("complete", run.url(run.key()), "--upload-id", id)
      #expect(completed.status == 0, "\(completed.errors)")
      let aborted = try await run("abort", run.url(run.key()), "--upload-id", id, "--retries", "1")
      // If the store still lists its parts, the upload is known to have existed.
      #expect(aborted.status == (store.name == .swift ? 0 : 69), "\(aborted.output) \(aborted.errors)")
      try await run.expect(run.key(), is: source)
    }

    @Test("A part of an upload that no longer exists ends in 69", arguments: Store.once)
    func aPartOfAnUploadThatIsGoneEndsIn69(_ store: Store) async throws {
      let run = try Run(store, "gone")
      let source = try await run.file("source", 5 << 20)
      let created = try await run("create", run.url(run.key()))
      let id = created.lines.first ?? ""
      _ = try await run("abort", run.url(run.key()), "--upload-id", id)
      let sent = try await run("part", source.path, run.url(run.key()), "--upload-id", id, "--part", "1")
      #expect(sent.status == 69, "\(sent.errors)")
      #expect(sent.output == "")
      try await run.expectNothing(run.key())
    }
  }
}
