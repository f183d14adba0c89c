import Foundation
import Support
import Testing

@testable import MultipartCore

@Suite(.timeLimit(.minutes(15))) struct TreeMemoryTests {
  @Test("Many names in one folder take little memory")
  func wide() async {
    await #expect(processExitsWith: .success) { try expectBounded(1, 200_000) }
  }

  @Test("Many folders take little memory")
  func many() async {
    await #expect(processExitsWith: .success) { try expectBounded(447, 447) }
  }
}

/// Ends the process with an error if a walk does not find `count` names, or needs more memory than 40 MiB for a
/// million.
private func expectBounded(_ folders: Int, _ names: Int) throws {
  let memory = "/dev/shm/s3up-tree-\(getpid())"
  let root = access("/dev/shm", W_OK) == 0 ? memory : "/tmp/s3up-tree-\(getpid())"
  defer { try? FileManager.default.removeItem(atPath: root) }
  // One file gets many names, because a million files would take a gigabyte.
  try FileManager.default.createDirectory(atPath: root, withIntermediateDirectories: true)
  try Data([1]).write(to: URL(fileURLWithPath: root + "/file"))
  for folder in 0..<folders {
    let path = "\(root)/tree/\(folder)"
    guard (folder > 0 || mkdir(root + "/tree", 0o700) == 0), mkdir(path, 0o700) == 0 else { throw SystemError("mkdir") }
    for name in 0..<names {
      guard link(root + "/file", "\(path)/artifact-\(name &* 7919 % names).bin") == 0 else { throw SystemError("link") }
    }
  }
  let walk = try TreeWalk(root: FilePath(root + "/tree"))
  var found = 0
  let grown = try peakGrowth { while case .file? = walk.next() { found += 1 } }
  // A sanitizer's own memory is not the walk's.
  let isMeasured = dlsym(nil, "__tsan_init") == nil && dlsym(nil, "__asan_init") == nil
  guard found == folders * names, grown < 40 * (folders * names) / 1000 || !isMeasured else {
    print("\(found) names, \(grown) KiB")
    exit(1)
  }
}
