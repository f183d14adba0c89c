import Foundation
@testable import MultipartCore
import Testing

@testable import Support

/// A file system that a test has mounted, with its disk in a file; it is unmounted at the end.
final class MountedDisk {
  enum Kind: String, CaseIterable, Sendable, CustomTestStringConvertible {
    case tmpfs, overlay, loop, fuse
    var testDescription: String { rawValue }
    /// Whether its disk can be emptied beneath it.
    var hasDisk: Bool { self == .loop || self == .fuse }
  }

  /// Mounting needs root, and containers often lack the devices.
  static func isPossible(_ kind: Kind) -> Bool {
    guard geteuid() == 0, let disk = try? MountedDisk(kind) else { return false }
    return disk.isMounted
  }

  let kind: Kind
  private let size: String
  let folder: TemporaryDirectory
  private(set) var isMounted = false
  var path: String { folder.path("mnt") }
  private var image: String { folder.path("image") }

  /// Mounts it; `size` is for a tmpfs.
  init(_ kind: Kind, size: String = "50%") throws {
    (self.kind, self.size) = (kind, size)
    folder = try TemporaryDirectory()
    for name in ["mnt", "lower", "upper", "work"] {
      try FileManager.default.createDirectory(atPath: folder.path(name), withIntermediateDirectories: true)
    }
    if kind.hasDisk {
      try folder.sparseFile("image", size: 128 << 20)
      guard Self.run("mkfs.ext4", ["-q", "-F", "-O", "^has_journal", image]) else { return }
    }
    try mount()
  }

  deinit { unmount() }

  func mount() throws {
    isMounted =
      switch kind {
      case .tmpfs: Self.run("mount", ["-t", "tmpfs", "-o", "size=\(size)", "tmpfs", path])
      case .overlay:
        Self.run(
          "mount",
          [
            "-t", "overlay", "overlay", "-o",
            "lowerdir=\(folder.path("lower")),upperdir=\(folder.path("upper")),workdir=\(folder.path("work"))", path,
          ])
      case .loop: Self.run("mount", ["-o", "loop", image, path])
      case .fuse: Self.run("fuse2fs", [image, path])
      }
  }

  /// Drops everything that the kernel has cached of it.
  func unmount() {
    guard isMounted else { return }
    isMounted = !Self.run("umount", [path]) && !Self.run("umount", ["-l", path])
  }

  /// Makes everything that is not cached unreadable.
  func pullAway() throws {
    guard truncate(image, 0) == 0 else { throw SystemError("truncate") }
  }

  /// Runs a program, but not with Foundation, which waits for the descriptors that a file system's own process keeps
  /// open.
  private static func run(_ name: String, _ arguments: [String]) -> Bool {
    let null = open("/dev/null", O_RDWR | O_CLOEXEC)
    defer { close(null) }
    guard
      let process = try? Spawn.run(
        "/usr/bin/env", ["PATH=/usr/sbin:/usr/bin:/sbin:/bin", name] + arguments, environment: [:], directory: nil,
        streams: [null, null, null])
    else { return false }
    var status: Int32 = 0
    while waitpid(process, &status, 0) < 0, errno == EINTR {}
    return status == 0
  }
}

/// File systems on which mappings behave differently.
@Suite(.crowd) struct FileSystemTests {
  private static let possible = MountedDisk.Kind.allCases.filter(MountedDisk.isPossible)
  private static let size = 40 * mebi

  @Test(
    "files on any file system arrive, and one that is cut short is 65",
    .enabled(if: !possible.isEmpty, "no mounts here"),
    arguments: possible)
  func arrives(_ kind: MountedDisk.Kind) async throws {
    let disk = try MountedDisk(kind)
    try #require(disk.isMounted)
    let box = try BlackBox(faults: [Fault(.init(.uploadPart, key: "cut"), .slowRead(bytesPerSecond: 2 * mebi))])
    let (file, bytes) = (disk.path + "/f", randomBytes(Self.size + 17, seed: 3))
    try Data(bytes).write(to: URL(fileURLWithPath: file))
    try await box.run("put", file, "s3://bucket/k").expectSuccess()
    #expect(box.fake.object("k")?.bytes == bytes)
    let child = try box.start(["put", file, "s3://bucket/cut", "--part-size", "20M", "--concurrency", "2"])
    #expect(await box.fake.wait { $0.contains { $0.operation == .uploadPart && $0.key == "cut" } })
    #expect(truncate(file, 9 << 20) == 0)
    await child.wait().expectFailure(65, "shrank")
    #expect(box.fake.object("cut") == nil && box.fake.unfinishedUploads.isEmpty)
  }

  @Test(
    "a file system whose disk is pulled away is 66, and no upload is left",
    .enabled(if: possible.contains(where: \.hasDisk), "no mounts here"),
    arguments: possible.filter(\.hasDisk), [false, true])
  func pulledAway(_ kind: MountedDisk.Kind, isSecure: Bool) async throws {
    let disk = try MountedDisk(kind)
    try #require(disk.isMounted)
    let file = disk.path + "/f"
    try Data(randomBytes(Self.size, seed: 4)).write(to: URL(fileURLWithPath: file))
    disk.unmount()
    try disk.mount()
    try #require(disk.isMounted)
    let box = try BlackBox(
      secure: isSecure, faults: [Fault(.init(.uploadPart), .slowRead(bytesPerSecond: 4 * mebi))])
    let child = try box.start(["put", file, "s3://bucket/k", "--part-size", "5M", "--concurrency", "1"])
    #expect(await box.fake.wait { $0.contains { $0.operation == .uploadPart } })
    try disk.pullAway()
    let result = await child.wait()
    #expect(result.signal == nil && !result.timedOut)
    result.expectFailure(66, "cannot be read")
    #expect(box.fake.object("k") == nil && box.fake.unfinishedUploads.isEmpty)
  }
}
