import Foundation
import Support

/// By how many KiB resident memory during `work` was at most above the value before. To be called in a process of its own,
/// so that no other test's memory counts.
func peakGrowth(_ work: () throws -> Void) throws -> Int {
  // Forgets the highest figure until now.
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
