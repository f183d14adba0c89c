import Foundation
@testable import MultipartCore
import Support
import Testing

@Suite(.timeLimit(.minutes(15))) struct PartSliceTests {
  private static let cuts: [(offset: Int, length: Int, step: Int)] = [
    (0, 3_000_017, 65_536), (0, 3_000_017, 3_000_017), (1, 4095, 4096), (4095, 2, 1), (4096, 4096, 4096),
    (524_287, 3, 2), (524_288, 524_288, 262_144), (524_289, 1_048_575, 99_991), (2_999_999, 18, 5),
    (1_234_567, 777_777, 16_384), (3_000_016, 1, 10), (3_000_017, 0, 10),
  ]

  @Test("A slice reads the same bytes as pread, whatever its bounds", arguments: cuts)
  func equalsPread(offset: Int, length: Int, step: Int) throws {
    let folder = try TemporaryDirectory()
    let path = try folder.write(randomBytes(3_000_017, seed: 5), to: "file")
    let slice = PartSlice(
      file: try SourceFile(FilePath(path)), offset: Int64(offset), length: Int64(length))
    let wanted = try pread(path, offset, length)
    #expect(try slice.readAll(step: step) == wanted)
    // A second read backwards, as after a rewind.
    #expect(try slice.readAll(step: step) == wanted)
    var again = [UInt8](repeating: 0, count: length)
    for position in stride(from: 0, to: length, by: step).reversed() {
      let count = min(step, length - position)
      let result = again.withUnsafeMutableBytes { bytes in
        Result { () throws(Failure) in
          try slice.read(
            into: UnsafeMutableRawBufferPointer(rebasing: bytes[position..<position + count]), at: Int64(position))
        }
      }
      #expect(try result.get() == count)
    }
    #expect(again == wanted)
  }

  @Test("The checksums of a slice are those of its bytes", arguments: cuts)
  func sums(offset: Int, length: Int, step: Int) throws {
    let folder = try TemporaryDirectory()
    let path = try folder.write(randomBytes(3_000_017, seed: 6), to: "file")
    let slice = PartSlice(
      file: try SourceFile(FilePath(path)), offset: Int64(offset), length: Int64(length))
    let bytes = try pread(path, offset, length)
    var wanted = try MultiChecksum(Set(ChecksumAlgorithm.allCases))
    bytes.withUnsafeBytes { wanted.update($0) }
    #expect(try slice.checksums(Set(ChecksumAlgorithm.allCases)) == wanted.finish())
    #expect(try slice.checksums([.crc64nvme])[.crc64nvme] == wanted.finish()[.crc64nvme])
    #expect(try slice.checksums([]).isEmpty)
  }

  @Test("Beyond its end a slice returns no bytes, and never its neighbour's")
  func end() throws {
    let folder = try TemporaryDirectory()
    let path = try folder.write(randomBytes(100, seed: 7), to: "file")
    let slice = PartSlice(file: try SourceFile(FilePath(path)), offset: 10, length: 20)
    var buffer = [UInt8](repeating: 0xAA, count: 50)
    let counts = try [0, 19, 20, 25].map { position in
      try buffer.withUnsafeMutableBytes { try slice.read(into: $0, at: Int64(position)) }
    }
    #expect(counts == [20, 1, 0, 0])
    #expect(buffer[20...].allSatisfy { $0 == 0xAA })
  }

  @Test("Resident memory stays flat while a gigabyte is read through slices")
  func flatReading() async {
    await #expect(processExitsWith: .success) {
      try expectFlat { file in
        var buffer = [UInt8](repeating: 0, count: 256 << 10)
        for offset in stride(from: 0, to: file.size, by: 8 << 20) {
          let slice = PartSlice(file: file, offset: offset, length: min(8 << 20, file.size - offset))
          for position in stride(from: 0, to: slice.length, by: buffer.count) {
            _ = try buffer.withUnsafeMutableBytes { try slice.read(into: $0, at: position) }
          }
        }
      }
    }
  }

  @Test(
    "Resident memory stays flat while a gigabyte is summed, in parts and as a whole",
    arguments: [8 << 20, 1 << 30] as [Int64])
  func flatSums(part: Int64) async {
    await #expect(processExitsWith: .success) { [part] in
      try expectFlat { file in
        for offset in stride(from: 0, to: file.size, by: Int64.Stride(part)) {
          let slice = PartSlice(file: file, offset: offset, length: min(part, file.size - offset))
          _ = try slice.checksums([.crc64nvme])
        }
      }
    }
  }
}

private func pread(_ path: String, _ offset: Int, _ length: Int) throws -> [UInt8] {
  let file = open(path, O_RDONLY | O_CLOEXEC)
  guard file >= 0 else { throw SystemError("open") }
  defer { close(file) }
  var bytes = [UInt8](repeating: 0, count: length)
  guard Glibc.pread(file, &bytes, length, off_t(offset)) == length else { throw SystemError("pread") }
  return bytes
}

/// Ends the process with an error if the peak of resident memory during `work` on a file of 1 GiB is more than 32 MiB
/// above the value before. It runs in its own process, so that no other test's memory counts.
private func expectFlat(_ work: (SourceFile) throws -> Void) throws {
  let folder = try TemporaryDirectory()
  let path = try folder.sparseFile("big", size: 1 << 30, patches: [(5 << 20, [1, 2, 3])])
  let file = try SourceFile(FilePath(path))
  let grown = try peakGrowth { try work(file) }
  guard grown < 32 << 10 else {
    print("resident memory grew by \(grown) KiB")
    exit(1)
  }
}
