import Foundation

/// Threads, descriptors and memory of this process, as the kernel counts them.
struct Holdings: CustomStringConvertible {
  let threads: Int
  let descriptors: Int
  /// Private memory in bytes.
  let memory: Int

  init() throws {
    threads = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/task").count
    descriptors = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count
    let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
    let line = status.split(separator: "\n").first { $0.hasPrefix("RssAnon:") } ?? ""
    memory = (line.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0) << 10
  }

  var description: String { "\(threads) threads, \(descriptors) descriptors, \(memory >> 10) KiB" }
}
