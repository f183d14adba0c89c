import Foundation
import Testing

@Suite("The library's rooms")
struct RoomTests {
  private static let library = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent("Sources/MultipartCore")

  static func sources(_ room: String) throws -> [String: String] {
    let folder = library.appendingPathComponent(room)
    let names = try #require(FileManager.default.enumerator(atPath: folder.path)).compactMap { $0 as? String }
    return try names.filter { $0.hasSuffix(".swift") }.reduce(into: [:]) { texts, name in
      texts[name] = try String(contentsOf: folder.appendingPathComponent(name), encoding: .utf8)
    }
  }

  /// The types that its files declare, except those nested in others.
  private static func types(_ room: String) throws -> Set<String> {
    let declaration = try Regex(
      #"(?m)^(?:(?:public|package|final|indirect) )*(?:struct|enum|class|protocol|typealias) (\w+)"#)
    return try sources(room).values.reduce(into: []) { types, text in
      for match in text.matches(of: declaration) { types.insert(String(match.output[1].substring ?? "")) }
    }
  }

  @Test(
    "The engine names no type of the rooms that use it",
    arguments: ["Upload", "Drive", "S3", "Source", "Ticket", "Many"])
  func engine(_ room: String) throws {
    let types = try Self.types(room)
    #expect(types.count > 3)
    for (file, text) in try Self.sources("Engine") {
      let words = Set(text.split { !($0.isLetter || $0.isNumber || $0 == "_") }.map(String.init))
      #expect(words.isDisjoint(with: types), "\(file): \(words.intersection(types))")
    }
  }

  @Test("The code that drives a run names no type of an upload")
  func drive() throws {
    let types = try Self.types("Upload")
    for (file, text) in try Self.sources("Drive") {
      let words = Set(text.split { !($0.isLetter || $0.isNumber || $0 == "_") }.map(String.init))
      #expect(words.isDisjoint(with: types), "\(file): \(words.intersection(types))")
    }
  }

  @Test("What the command uses of the library is public: nothing is declared for this package alone")
  func door() throws {
    let declaration = try Regex(
      #"\bpackage\(set\)|\bpackage (?:\w+\(set\) )?(?:static |final |mutating |indirect )*(?:func|var|let|init|struct|enum|class|actor|protocol|typealias|subscript|extension|import)\b"#
    )
    for (file, text) in try Self.sources("") {
      #expect(text.firstMatch(of: declaration) == nil, "\(file)")
    }
  }
}
