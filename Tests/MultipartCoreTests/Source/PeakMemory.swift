import Foundation
import Support

/// The most KiB by which resident memory during `work` was above the value before. It must be called in its own
/// process, so that no other test's memory counts.
func peakGrowth(_ work: () throws -> Void) throws -> Int {
  // Resets the peak.
  try Data("5".utf8).write(to: URL(fileURLWithPath: "/proc/self/clear_refs"))
  let before = try statusKiB("VmRSS")
  try work()
  return try statusKiB("VmHWM") - before
}

private func statusKiB(_ name: String) throws -> Int {
  let text = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
  guard let line = text.split(separator: "\n").first(where: { $0.hasPrefix(name + ":") }),
    let value = line.split(whereSeparator: { !$0.isNumber }).first.flatMap({ Int($0) })
  else { throw SystemError("VmRSS", ENODATA) }
  return value
}
