import Foundation
import Support
import Testing

extension RealStores {
  /// Lists of real stores.
  @Suite(.serialized) struct Lists {
    @Test("Every key is listed once, folders by the delimiter, whatever characters it has", arguments: Store.once)
    func lists(_ store: Store) async throws {
      let run = try Run(store, "ls")
      let names = ["a b", "a+b", "a%20b", "é", "d/x", "d/y z", "e/f/g", "ß=&?#"]
      for name in names { try run.files.write(Array(name.utf8), to: "\(name.replacing("/", with: "_"))") }
      for name in names {
        let put = try await run.put(run.files.path(name.replacing("/", with: "_")), run.key(name)).result
        #expect(put.status == 0, "\(put.errors)")
      }
      let whole = Set(names.map { run.key($0) })
      let all = try await run("ls", "-r", run.url(run.prefix + "/"))
      #expect(
        all.status == 0 && all.lines.count == names.count && Set(all.lines) == whole, "\(all.output) \(all.errors)")
      let top = Set(names.map { $0.split(separator: "/").count > 1 ? String($0.split(separator: "/")[0]) + "/" : $0 })
      let folders = try await run("ls", run.url(run.prefix + "/"))
      #expect(Set(folders.lines) == Set(top.map { run.key($0) }), "\(folders.output) \(folders.errors)")
      let zero = try await run("ls", "-r", "-0", run.url(run.prefix + "/"))
      #expect(Set(Array(zero.output.utf8).split(separator: 0).map { String(decoding: $0, as: UTF8.self) }) == whole)
      let long = try await run("ls", "-l", run.url(run.key("é")))
      #expect(long.output.split(separator: " ").first == "2", "\(long.output)")
      for name in names { try await store.delete(run.key(name)) }
      // SeaweedFS continues to list the folders of objects that were deleted.
      let none = try await run("ls", run.url(run.key("nothing")))
      #expect(none.status == 69 && none.errors.contains("no key begins with this"), "\(none.output) \(none.errors)")
    }

    @Test("The buckets are listed, and a missing one is 69", arguments: Store.once)
    func buckets(_ store: Store) async throws {
      let run = try Run(store, "ls-buckets")
      let buckets = try await run("ls")
      #expect(buckets.status == 0 && buckets.lines.contains(store.bucket), "\(buckets.output) \(buckets.errors)")
      let missing = try await run("ls", "s3://no-such-bucket-of-anybody")
      #expect(missing.status == 69, "\(missing.output) \(missing.errors)")
    }

    @Test("A list of more than one page is complete and in order", arguments: Store.all.filter { $0.scheme == .http })
    func pages(_ store: Store) async throws {
      let run = try Run(store, "ls-pages")
      let folder = run.files.path("many")
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
      let names = (0..<1203).map { "\(10_000 + $0)" }
      for name in names { try Data().write(to: URL(filePath: "\(folder)/\(name)")) }
      let put = try await run("put", "-r", folder, run.url(run.prefix + "/"))
      #expect(put.status == 0, "\(put.errors)")
      let list = try await run("ls", run.url(run.prefix + "/"))
      #expect(list.lines == names.map { run.key($0) }, "\(list.lines.count) \(list.errors)")
    }
  }
}
