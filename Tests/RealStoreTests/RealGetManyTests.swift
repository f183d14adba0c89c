import Foundation
import Support
import Testing

extension RealStores {
  /// Many objects are downloaded in one run.
  @Suite(.serialized) struct DownloadsOfMany {
    /// Odd names, but without a backslash, which SeaweedFS takes for a slash.
    static let odd = [
      "a b", "ä/ö ü", "x&y=z", "q?", "h#h", "pc%41", "plus+plus", "line\nbreak", "\"quoted\"", "'s'", "-r", "~", "...",
      "..a", "tab\there", "star*[x]", "<xml>", "日本/語", "e\u{301}", "é",
    ]

    @Test(
      "A tree of odd names is uploaded and downloaded unchanged, with 2,000 small files and large ones",
      arguments: Store.all.filter { $0.name == .seaweedfs && $0.scheme == .http })
    func thereAndBack(_ store: Store) async throws {
      let run = try Run(store, "get-many")
      for (number, name) in Self.odd.enumerated() {
        try run.files.write(randomBytes(number * 1000, seed: UInt64(number)), to: "tree/odd/" + name)
      }
      for number in 0..<2000 {
        try run.files.write(randomBytes(number % 5000, seed: UInt64(number)), to: "tree/d\(number % 13)/f\(number)")
      }
      for (number, size) in [9 << 20, 600_000, 512 << 10].enumerated() {
        _ = try await run.file("tree/large\(number)", size, seed: UInt64(number))
      }
      let (tree, back, target) = (run.files.path("tree"), run.files.path("back"), run.url(run.prefix + "/"))
      #expect(try await run("put", "-r", "-q", tree, target).status == 0)
      let got = try await run("get", "-r", target, back)
      #expect(got.status == 0, "\(got.errors.suffix(2000))")
      #expect(got.lines.last?.hasPrefix("\(2000 + Self.odd.count + 3) files downloaded") == true)
      #expect(!got.output.contains("size only"))
      let difference = try await ChildProcess(
        Programs.find("diff"), ["-r", tree, back], environment: Programs.environment(home: run.files.path)
      ).wait()
      #expect(difference.status == 0, "\(difference.output.suffix(2000))")
      let verified = try await run("verify", "-r", "-q", back, target)
      #expect(verified.status == 0, "\(verified.errors.suffix(2000))")
    }
  }
}
