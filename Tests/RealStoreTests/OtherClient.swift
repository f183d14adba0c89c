import Foundation
import Support
import Testing

/// The answer that an independent client got: Python's standard library, with its own signatures.
struct Answer: Decodable, Sendable {
  var status: Int
  /// The headers, with their names in lower case.
  var headers: [String: String]
  var size: Int
  var sha256: String
  var text: String

  /// The text between the tags, for each occurrence.
  func elements(_ name: String) -> [String] {
    text.components(separatedBy: "<\(name)>").dropFirst().compactMap { $0.components(separatedBy: "</\(name)>").first }
  }

  var code: String? { elements("Code").first }
}

/// A request of the independent client.
struct Ask: Encodable, Sendable {
  var method: String
  var key: String
  var query = ""
  var headers: [String] = []

  static func get(_ key: String) -> Ask { Ask(method: "GET", key: key) }
  static func head(_ key: String) -> Ask { Ask(method: "HEAD", key: key) }
  static func delete(_ key: String) -> Ask { Ask(method: "DELETE", key: key) }

  static func keys(_ prefix: String) -> Ask {
    Ask(method: "GET", key: "", query: "encoding-type=url&list-type=2&prefix=\(Answer.escaped(prefix))")
  }
  static func uploads(_ prefix: String) -> Ask {
    Ask(method: "GET", key: "", query: "encoding-type=url&prefix=\(Answer.escaped(prefix))&uploads=")
  }
  static func parts(_ key: String, _ uploadID: String) -> Ask {
    Ask(method: "GET", key: key, query: "uploadId=\(Answer.escaped(uploadID))")
  }
}

extension Store {
  /// Sends the requests in order from one process; one answer for each.
  func ask(_ requests: Ask...) async throws -> [Answer] { try await ask(all: requests) }

  func ask(all requests: [Ask]) async throws -> [Answer] {
    let lines = try requests.map { try JSONEncoder().encode($0) + [UInt8(ascii: "\n")] }
    let result = try await ChildProcess(
      Programs.python(), ["\(Self.scripts)/other_client.py", folder, scheme.rawValue],
      environment: Programs.environment(home: "/nonexistent"), input: .bytes([UInt8](lines.joined()))
    ).wait(timeout: .seconds(180))
    let answers = try result.lines.map { try JSONDecoder().decode(Answer.self, from: Data($0.utf8)) }
    guard result.status == 0, answers.count == requests.count else {
      throw Missing(description: "other_client.py: \(result.errors)")
    }
    return answers
  }

  private static let scripts = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().appendingPathComponent("Stores").path

  func get(_ key: String, headers: [String] = []) async throws -> Answer {
    try await ask(Ask(method: "GET", key: key, headers: headers))[0]
  }
  func head(_ key: String) async throws -> Answer { try await ask(.head(key))[0] }
  func delete(_ key: String) async throws { _ = try await ask(.delete(key)) }

  /// The ids of the unfinished uploads of exactly this key.
  func unfinished(_ key: String) async throws -> [String] { try await ask(.uploads(key))[0].uploads(of: key) }

  /// The numbers of the parts that the store has.
  func parts(_ key: String, _ uploadID: String) async throws -> [Int] {
    try await ask(.parts(key, uploadID))[0].elements("PartNumber").compactMap { Int($0) }
  }
}

extension Answer {
  /// The keys in a list of objects.
  func keys() throws -> [String] {
    try requireList()
    return elements("Key").map(Self.decoded)
  }

  /// The uploads of exactly this key in a list. A store that refuses the key has none.
  func uploads(of key: String) throws -> [String] {
    if status == 400, code == "XMinioInvalidResourceName" { return [] }
    try requireList()
    return text.components(separatedBy: "<Upload>").dropFirst().compactMap { upload in
      var one = self
      one.text = upload
      guard let found = one.elements("Key").first, same(Self.decoded(found), key) else { return nil }
      return one.elements("UploadId").first
    }
  }

  private func requireList() throws {
    guard status == 200 else { throw Missing(description: "no list: \(status) \(text)") }
  }

  static func escaped(_ text: String) -> String {
    text.utf8.map { byte in
      let plain =
        UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte || UInt8(ascii: "A")...UInt8(ascii: "Z") ~= byte
        || UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte || "-._~".utf8.contains(byte)
      return plain ? String(UnicodeScalar(byte)) : String(format: "%%%02X", byte)
    }.joined()
  }

  /// The decoded text: stores write a space as `+` or as `%20`, and a plus always as `%2B`.
  private static func decoded(_ text: String) -> String {
    let plain = text.replacingOccurrences(of: "+", with: "%20")
    return plain.removingPercentEncoding ?? text
  }
}

/// Compares by bytes: `==` of strings treats composed and decomposed é as equal.
func same(_ a: String, _ b: String) -> Bool { a.utf8.elementsEqual(b.utf8) }
