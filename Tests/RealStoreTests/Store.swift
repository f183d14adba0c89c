import Foundation
import Support
import Testing

/// A real S3 server, reached by one scheme: the parameter of the suites.
struct Store: Sendable, CustomTestStringConvertible {
  enum Name: String, Sendable, CaseIterable { case seaweedfs, swift, juicefs }
  enum Scheme: String, Sendable, CaseIterable { case http, https }

  let name: Name
  let scheme: Scheme
  /// The folder with the `env` of this store.
  let folder: String
  let endpoint: String
  let accessKey: String
  let secretKey: String
  let bucket: String
  let region: String
  let certificates: String
  /// The host `BUCKET.hostSuffix` is the bucket's.
  let hostSuffix: String

  var testDescription: String { "\(name.rawValue) \(scheme.rawValue)" }

  /// `127.0.0.1:PORT` without the scheme.
  var address: String { String(endpoint.split(separator: "/").last ?? "") }
  var port: String { String(endpoint.split(separator: ":").last ?? "") }

  init(_ name: Name, _ scheme: Scheme, folder root: String) throws {
    let folder = "\(root)/\(name.rawValue)"
    let text = try String(contentsOfFile: "\(folder)/env", encoding: .utf8)
    var values: [String: String] = [:]
    for line in text.split(separator: "\n") {
      let words = line.split(separator: "=", maxSplits: 1).map(String.init)
      if words.count == 2 { values[words[0]] = words[1] }
    }
    func value(_ key: String) throws -> String {
      guard let found = values[key] else { throw Missing(description: "\(folder)/env does not say \(key)") }
      return found
    }
    self.folder = folder
    self.name = name
    self.scheme = scheme
    endpoint = try value(scheme == .http ? "ENDPOINT" : "TLS_ENDPOINT")
    accessKey = try value("ACCESS_KEY")
    secretKey = try value("SECRET_KEY")
    bucket = try value("BUCKET")
    region = try value("REGION")
    certificates = try value("CA_FILE")
    hostSuffix = try value("HOST_SUFFIX")
  }
}

/// Why there is no store to test against.
struct Missing: Error, CustomStringConvertible {
  let description: String
}

extension Store {
  private static let environment = ProcessInfo.processInfo.environment

  /// Whether the variable leaves these tests out.
  static let leftOut = environment["S3UP_NO_REAL_STORES"] == "1"

  /// Every store with every scheme; empty if `found` fails, so that the suites have no cases and the root gives the
  /// reason.
  static let all: [Store] = leftOut ? [] : (try? found.get()) ?? []
  static let seaweed = all.filter { $0.name == .seaweedfs }
  /// Each store once, some over TLS: for tests of a store's behaviour that do not depend on how the bytes of a body are
  /// signed.
  static let once = all.filter { ($0.name == .swift) == ($0.scheme == .http) }
  static let overTLS = all.filter { $0.scheme == .https }

  static let found: Result<[Store], any Error> = Result {
    guard let root = environment["S3UP_TEST_STORES"], !root.isEmpty else {
      throw Missing(
        description: """
          S3UP_TEST_STORES is not set, so no real store was tested: run `make test`, which starts the stores, or set \
          S3UP_NO_REAL_STORES=1 to leave them out knowingly.
          """)
    }
    return try Name.allCases.flatMap { name in
      try Scheme.allCases.map { scheme in
        do {
          return try Store(name, scheme, folder: root)
        } catch {
          throw Missing(
            description: "\(name.rawValue) does not run: run `make test`, which starts all stores (\(error))")
        }
      }
    }
  }
}
