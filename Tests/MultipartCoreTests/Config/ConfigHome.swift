import Foundation
@testable import MultipartCore

/// A home directory for one test, deleted with the value.
final class ConfigHome: Sendable {
  let path: String

  init(config: String? = nil, credentials: String? = nil) throws {
    path = FileManager.default.temporaryDirectory.appendingPathComponent("s3up-home-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(atPath: path + "/.aws", withIntermediateDirectories: true)
    if let config { try write(Array(config.utf8), to: ".aws/config") }
    if let credentials { try write(Array(credentials.utf8), to: ".aws/credentials") }
  }

  deinit {
    try? FileManager.default.removeItem(atPath: path)
  }

  func write(_ bytes: [UInt8], to name: String) throws {
    try Data(bytes).write(to: URL(fileURLWithPath: path + "/" + name))
  }

  func environment(_ more: [String: String] = [:]) -> [String: String] {
    more.merging(["HOME": path]) { given, _ in given }
  }

  func load(_ more: [String: String] = [:]) throws -> SharedConfig {
    try SharedConfig.load(environment: environment(more))
  }
}
