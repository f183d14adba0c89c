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

/// The one process of the independent client, because starting one costs more than a request. It ends with this process,
/// when its standard input does.
private final class OtherClient: Sendable {
  static let shared = Result { try OtherClient() }

  private typealias Waiter = CheckedContinuation<[Answer], any Error>

  private struct Batch: Encodable {
    var id: Int
    var folder: String
    var scheme: String
    var requests: [Ask]
  }

  private struct Outcome: Decodable {
    var id: Int
    var answers: [Answer]?
    var error: String?
  }

  private let child: ChildProcess
  /// The callers that wait, by the ids of their batches; nil once the process has ended.
  private let waiters = Guarded([Int: Waiter]?([:]))
  private let last = Guarded(0)

  private init() throws {
    let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .appendingPathComponent("Stores/other_client.py").path
    child = try ChildProcess(
      Programs.python(), [script, "--batches"], environment: Programs.environment(home: "/nonexistent"), input: .open,
      onLine: { [waiters] line in
        guard let outcome = try? JSONDecoder().decode(Outcome.self, from: Data(line)) else {
          fatalError("other_client.py printed \(String(decoding: line, as: UTF8.self))")
        }
        let waiter = waiters.with { $0?.removeValue(forKey: outcome.id) }
        waiter?.resume(
          with: outcome.answers.map { .success($0) } ?? .failure(Self.failure(outcome.error ?? "no answers")))
      },
      onEnd: { [waiters] result in
        let left = waiters.with { waiters in
          defer { waiters = nil }
          return waiters ?? [:]
        }
        for waiter in left.values { waiter.resume(throwing: Self.failure(result.errors)) }
      })
  }

  func answers(to requests: [Ask], of store: Store) async throws -> [Answer] {
    let id = last.with { last in
      last += 1
      return last
    }
    let batch = Batch(id: id, folder: store.folder, scheme: store.scheme.rawValue, requests: requests)
    let line = try JSONEncoder().encode(batch) + [UInt8(ascii: "\n")]
    let answers = try await withCheckedThrowingContinuation { (waiter: Waiter) in
      let isKept = waiters.with { waiters in
        waiters?[id] = waiter
        return waiters != nil
      }
      guard isKept else { return waiter.resume(throwing: Self.failure("it has ended")) }
      // A write that fails means that the process has ended, or will: `onEnd` tells everyone.
      Task { [child] in await child.write([UInt8](line)) }
    }
    guard answers.count == requests.count else { throw Self.failure("\(answers.count) answers") }
    return answers
  }

  private static func failure(_ reason: String) -> Missing { Missing(description: "other_client.py: \(reason)") }
}

extension Store {
  /// Sends the requests in order; one answer for each.
  func ask(_ requests: Ask...) async throws -> [Answer] { try await ask(all: requests) }

  func ask(all requests: [Ask]) async throws -> [Answer] {
    try await OtherClient.shared.get().answers(to: requests, of: self)
  }

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
