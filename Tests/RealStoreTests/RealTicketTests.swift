import Foundation
import MultipartBasics
import Support
import Testing

extension RealStores {
  /// Tickets are issued with credentials and used without: the run that uploads has its own home and no variable of AWS
  /// except the certificates.
  @Suite(.serialized) struct Tickets {
    /// Issues the ticket of a file or of a size in `folder`.
    private func issue(_ run: Run, _ words: String...) async throws -> String {
      let path = run.files.path("ticket.json")
      let issued = try await run(["ticket", "issue"] + words + [run.url(run.key()), "-o", path, "--part-size", "5M"])
      #expect(issued.status == 0, "\(issued.errors)")
      return path
    }

    private func put(_ run: Run, _ source: Source, _ ticket: String, _ options: String...) throws -> ChildProcess {
      try run.s3up.start(
        ["put", source.path, "--ticket", ticket, "--json"] + options,
        environment: ["AWS_CA_BUNDLE": run.store.certificates])
    }

    @Test("A ticket is enough to upload the file, even if the run is killed twice", arguments: Store.once)
    func whoHoldsOneUploadsTheFileThoughKilledTwice(_ store: Store) async throws {
      let run = try Run(store, "ticket")
      let source = try await run.file("source", 32 << 20)
      let ticket = try await issue(run, source.path)
      for parts in 1...2 {
        // Half a minute for all parts, so that it is killed in time however slow this machine is.
        let child = try put(run, source, ticket, "--limit-rate", "1M", "--concurrency", "1")
        while !child.ended {
          let id = try await store.unfinished(run.key()).first
          if let id, try await store.parts(run.key(), id).count >= parts { break }
          try await Task.sleep(for: .milliseconds(200))
        }
        child.signal(SIGKILL)
        let killed = await child.wait()
        #expect(killed.status == nil, "it ended before: \(killed.output) \(killed.errors)")
      }
      let id = try #require(try await store.unfinished(run.key()).first)
      let held = try await run.settledParts(id).count
      let done = try Event(await put(run, source, ticket).wait(timeout: .seconds(240)))
      #expect(done.event == "completed")
      #expect(done.bytes_resumed == held * (5 << 20))
      try await run.expect(run.key(), is: source)
      // The ticket cannot be used for another object, nor for other bytes of this one.
      let other = try await run.file("other", 32 << 20, seed: 77)
      let refused = try await put(run, other, ticket).wait(timeout: .seconds(240))
      #expect(refused.status == 69 || refused.status == 65, "\(refused.errors)")
      try await run.expect(run.key(), is: source)
    }

    @Test("Shares make one object", arguments: Store.once)
    func sharesMakeOneObject(_ store: Store) async throws {
      let run = try Run(store, "shares")
      let source = try await run.file("source", 26 << 20)
      let ticket = try await issue(run, source.path)
      // JuiceFS's gateway damages an object that two runs complete at once, which can only happen with the same share
      // twice.
      let shares = ["3/3", "1/3", "2/3"] + (store.name == .juicefs ? [] : ["1/3"])
      let children = try shares.map { try put(run, source, ticket, "--shard", $0) }
      for child in children {
        let result = await child.wait(timeout: .seconds(240))
        #expect(result.status == 0, "\(result.errors)")
      }
      try await run.expect(run.key(), is: source)
    }

    @Test("Any size can be uploaded by ticket", arguments: Store.once, [0, 1, 12 << 20])
    func anySizeArrives(_ store: Store, _ size: Int) async throws {
      let run = try Run(store, "sizes")
      let source = try await run.file("source", size)
      let ticket = try await issue(run, "--max-size", "20M")
      let result = try await put(run, source, ticket).wait(timeout: .seconds(240))
      #expect(result.status == 0, "\(result.errors)")
      try await run.expect(run.key(), is: source)
    }

    @Test("What the store refuses ends in 77", arguments: Store.once)
    func whatTheStoreRefusesEndsIn77(_ store: Store) async throws {
      let run = try Run(store, "refused")
      let source = try await run.file("source", 12 << 20)
      let path = try await issue(run, source.path)
      let text = try String(contentsOfFile: path, encoding: .utf8)
      try text.replacingOccurrences(of: "X-Amz-Signature=", with: "X-Amz-Signature=0")
        .write(toFile: path, atomically: true, encoding: .utf8)
      let result = try await put(run, source, path).wait(timeout: .seconds(240))
      #expect(result.status == 77, "\(result.errors)")
      let revoked = try await run("ticket", "revoke", try restored(text, path))
      #expect(revoked.status == 0, "\(revoked.errors)")
      try await run.expectNothing(run.key())
    }

    /// Runs a command whose stream continues after `parts` have arrived only when the test allows it; then it fails, or
    /// s3up is killed before that.
    private func produce(_ run: Run, _ ticket: String, _ command: String, parts: Int, kills: Bool) async throws {
      let go = run.files.path("go")
      #expect(mkfifo(go, 0o600) == 0)
      let child = try stream(run, ticket, "\(command); cat \(go); exit 3")
      let id = try #require(try await run.store.unfinished(run.key()).first)
      while !child.ended, try await run.store.parts(run.key(), id).count < parts {
        try await Task.sleep(for: .milliseconds(200))
      }
      if kills { child.signal(SIGKILL) }
      close(open(go, O_WRONLY))
      let result = await child.wait()
      #expect(result.status == (kills ? nil : 65), "\(result.errors)")
      #expect(unlink(go) == 0)
    }

    private func stream(_ run: Run, _ ticket: String, _ command: String) throws -> ChildProcess {
      try run.s3up.start(
        ["put", "--ticket", ticket, "--json", "--hedge", "off", "--from-command", "--", "sh", "-c", command],
        environment: ["AWS_CA_BUNDLE": run.store.certificates])
    }

    @Test("finish publishes no half of a stream", arguments: Store.once, [false, true])
    func finishPublishesNoHalfOfAStream(_ store: Store, _ kills: Bool) async throws {
      let run = try Run(store, "half")
      let source = try await run.file("source", 12 << 20)
      let ticket = try await issue(run, "--max-size", "20M")
      try await produce(run, ticket, "head -c 11000000 \(source.path)", parts: 2, kills: kills)
      let finished = try await run("ticket", "finish", ticket)
      #expect(finished.status == 65 && finished.errors.contains("in 2 parts"), "\(finished.errors)")
      #expect(try await store.ask(.head(run.key()))[0].status == 404)
      // The run that reads the stream to its end completes it.
      let whole = try await stream(run, ticket, "cat \(source.path)").wait(timeout: .seconds(240))
      #expect(whole.status == 0, "\(whole.errors)")
      try await run.expect(run.key(), is: source)
    }

    @Test("finish publishes no more than the ticket allows", arguments: Store.once)
    func finishPublishesNoMoreThanATicketIsFor(_ store: Store) async throws {
      let run = try Run(store, "long")
      let source = try await run.file("source", 7_000_000)
      let ticket = try await issue(run, "--max-size", "6M")
      let text = try String(contentsOfFile: ticket, encoding: .utf8)
      let url = try #require(text.firstMatch(of: #/"part":1,"url":"([^"]*)"/#)?.1)
      #expect(try await run("part", source.path, "--url", String(url)).status == 0)
      for words in [[], ["--as-it-is"]] {
        let finished = try await run(["ticket", "finish", ticket] + words)
        #expect(finished.status == 65 && finished.errors.contains("at most 6291456"), "\(finished.errors)")
      }
      #expect(try await run("ticket", "revoke", ticket).status == 0)
      try await run.expectNothing(run.key())
    }

    @Test("A shorter stream follows a longer one that failed", arguments: Store.once)
    func aShorterStreamFollowsALongerOneThatFailed(_ store: Store) async throws {
      let run = try Run(store, "shorter")
      let source = try await run.file("source", 7_000_000)
      let ticket = try await issue(run, "--max-size", "20M")
      try await produce(run, ticket, "head -c 16000000 /dev/zero", parts: 3, kills: false)
      let short = try await stream(run, ticket, "cat \(source.path)").wait(timeout: .seconds(240))
      #expect(short.status == 0, "\(short.errors)")
      try await run.expect(run.key(), is: source)
    }

    private func restored(_ text: String, _ path: String) throws -> String {
      try text.write(toFile: path, atomically: true, encoding: .utf8)
      return path
    }
  }
}
