import Foundation
@testable import MultipartCore
import Support
import Testing

/// SHA-256 of several slices at once. Below 1 MiB a slice is summed by itself.
@Suite(.timeLimit(.minutes(10))) struct SumDeskTests {
  private static let least = 1 << 20

  private func sums(
    _ slice: PartSlice, _ algorithms: Set<ChecksumAlgorithm>,
    unless isStopped: @escaping @Sendable () -> Bool = { false }
  ) async -> Result<[ChecksumAlgorithm: Checksum], Failure> {
    do throws(Failure) {
      return .success(try await slice.sums(algorithms, unless: isStopped))
    } catch {
      return .failure(error)
    }
  }

  private func code(_ result: Result<[ChecksumAlgorithm: Checksum], Failure>) -> Failure.Code? {
    if case .failure(let failure) = result { failure.code } else { nil }
  }

  @Test("Slices that are summed together each have the checksums of their own bytes, whatever their lengths")
  func together() async throws {
    let folder = try TemporaryDirectory()
    let path = try folder.write(randomBytes(6_000_017, seed: 21), to: "file")
    let file = try SourceFile(FilePath(path))
    let cuts: [(Int, Int)] = [
      (0, Self.least), (1, Self.least + 1), (17, Self.least + 63), (100, Self.least + 64), (5, 3 * Self.least + 4097),
      (0, 6_000_017), (4_000_000, 2_000_017), (3, Self.least + 131_071), (3, 100), (9, 0),
    ]
    let algorithms: Set<ChecksumAlgorithm> = [.sha256, .crc64nvme, .md5]
    await withTaskGroup(of: Void.self) { group in
      for (offset, length) in cuts + cuts {
        group.addTask {
          let slice = PartSlice(file: file, offset: Int64(offset), length: Int64(length))
          let wanted = try? slice.checksums(algorithms)
          #expect(wanted?.count == 3)
          let both = try? await sums(slice, algorithms).get()
          #expect(both == wanted)
          let alone = try? await sums(slice, [.sha256]).get()
          #expect(alone?.count == 1)
          #expect(alone?[.sha256] == wanted?[.sha256])
        }
      }
    }
  }

  @Test("A file that is cut short fails the slices after the cut, and none before it")
  func cut() async throws {
    let folder = try TemporaryDirectory()
    let path = try folder.write(randomBytes(4 << 20, seed: 22), to: "file")
    let file = try SourceFile(FilePath(path))
    try resize(path, 2 << 20)
    let slices = (0..<4).map { PartSlice(file: file, offset: Int64($0) << 20, length: 1 << 20) }
    let codes = await withTaskGroup(of: (Int, Failure.Code?).self) { group in
      for (index, slice) in slices.enumerated() {
        group.addTask { (index, code(await sums(slice, [.sha256, .crc64nvme]))) }
      }
      return await group.reduce(into: [Int: Failure.Code?]()) { $0[$1.0] = $1.1 }
    }
    #expect(codes == [0: nil, 1: nil, 2: .sourceChanged, 3: .sourceChanged])
  }

  @Test(
    "A file that is cut short while it is summed gives the checksums of its bytes or an error, never those of zeros")
  func cutMeanwhile() async throws {
    let folder = try TemporaryDirectory()
    let bytes = randomBytes(24 << 20, seed: 23)
    let path = try folder.write(bytes, to: "file")
    let wanted = try [(0, 6), (6, 6), (0, 20), (12, 12)].map { (offset, length) in
      (offset << 20, length << 20, try Digest.sha256(bytes[(offset << 20)..<(offset + length) << 20]))
    }
    var ends: [Failure.Code?] = []
    for turn in 0..<12 {
      let file = try SourceFile(FilePath(folder.write(bytes, to: "file")))
      if turn == 0 { try resize(path, 0) }
      await withTaskGroup(of: Failure.Code?.self) { group in
        for (offset, length, digest) in wanted {
          group.addTask {
            let slice = PartSlice(file: file, offset: Int64(offset), length: Int64(length))
            let result = await sums(slice, [.sha256, .crc64nvme])
            if case .success(let sums) = result { #expect(sums[.sha256]?.bytes == digest) }
            return code(result)
          }
        }
        // The file is cut at another moment each time, by a thread that does not wait for the sums: before them,
        // between them, or afterwards.
        let cutter = try? PosixThread.start {
          usleep(UInt32(turn) * 3000)
          truncate(path, off_t(turn) * 2_000_001)
        }
        for await end in group { ends.append(end) }
        cutter?.join()
      }
    }
    #expect(ends.allSatisfy { $0 == nil || $0 == .sourceChanged })
    #expect(ends.contains { $0 == .sourceChanged })
  }

  @Test("A cancelled or stopped caller returns at once; the others get their checksums, and later ones too")
  func stopped() async throws {
    let folder = try TemporaryDirectory()
    // The file is sparse: summing all of it would take minutes.
    let path = try folder.sparseFile("big", size: 64 << 30, patches: [(5, [1, 2, 3])])
    let file = try SourceFile(FilePath(path))
    let whole = PartSlice(file: file, offset: 0, length: 64 << 30)
    let small = PartSlice(file: file, offset: 0, length: 2 << 20)
    let stops = Guarded(false)
    let cancelled = (0..<3).map { _ in Task { code(await sums(whole, [.sha256])) } }
    let told = (0..<3).map { _ in Task { code(await sums(whole, [.sha256], unless: { stops.with { $0 } })) } }
    let early = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      return code(await sums(whole, [.sha256]))
    }
    #expect(await early.value == .interrupted)
    for task in cancelled { task.cancel() }
    stops.with { $0 = true }
    for task in cancelled + told { #expect(await task.value == .interrupted) }
    #expect(try await sums(small, [.sha256]).get() == small.checksums([.sha256]))
  }
}
