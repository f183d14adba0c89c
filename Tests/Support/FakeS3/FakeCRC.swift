import Foundation

/// Reflected CRCs by table, eight bytes per step, written independently of the product's checksums.
///
/// Runs of zeros are skipped: the effect of n zero bytes on the register is linear, so it is applied as a matrix. A sparse
/// body of many gigabytes then costs no more than reading it.
///
/// Sendable because the tables are written only in `init`.
final class FakeCRC: @unchecked Sendable {
  static let crc32 = FakeCRC(width: 32, polynomial: 0xEDB8_8320)
  static let crc32c = FakeCRC(width: 32, polynomial: 0x82F6_3B78)
  static let crc64nvme = FakeCRC(width: 64, polynomial: 0x9A6C_9329_AC4B_C9B5)

  let width: Int
  /// The register before the first byte, and the value with which the last one is XORed.
  let ones: UInt64
  /// Table k at k * 256: the register after one byte and k zero bytes.
  private let tables: UnsafeMutablePointer<UInt64>
  /// zeros[k]: the columns of the matrix for 2^k zero bytes.
  private let zeros: [[UInt64]]

  private init(width: Int, polynomial: UInt64) {
    self.width = width
    ones = width == 64 ? .max : (1 << UInt64(width)) - 1
    let tables = UnsafeMutablePointer<UInt64>.allocate(capacity: 2048)
    for byte in 0..<256 {
      var register = UInt64(byte)
      for _ in 0..<8 { register = (register >> 1) ^ (register & 1 == 1 ? polynomial : 0) }
      tables[byte] = register
    }
    for k in 1..<8 {
      for byte in 0..<256 {
        let before = tables[(k - 1) * 256 + byte]
        tables[k * 256 + byte] = (before >> 8) ^ tables[Int(before & 255)]
      }
    }
    self.tables = tables
    var matrix = (0..<width).map { bit -> UInt64 in
      let register = UInt64(1) << UInt64(bit)
      return (register >> 8) ^ tables[Int(register & 255)]
    }
    var powers = [matrix]
    for _ in 1..<44 {
      matrix = matrix.map { Self.apply(matrix, $0) }
      powers.append(matrix)
    }
    zeros = powers
  }

  deinit { tables.deallocate() }

  private static func apply(_ matrix: [UInt64], _ register: UInt64) -> UInt64 {
    var result: UInt64 = 0
    var rest = register
    while rest != 0 {
      result ^= matrix[rest.trailingZeroBitCount]
      rest &= rest - 1
    }
    return result
  }

  /// The register after `count` zero bytes.
  func advance(_ register: UInt64, zeros count: Int) -> UInt64 {
    var (result, rest, power) = (register, count, 0)
    while rest != 0 {
      if rest & 1 == 1 { result = Self.apply(zeros[power], result) }
      rest >>= 1
      power += 1
    }
    return result
  }

  /// The register after `bytes`; it starts as `ones` and is xored with `ones` at the end.
  func update(_ register: UInt64, _ bytes: UnsafeRawBufferPointer) -> UInt64 {
    guard let base = bytes.baseAddress else { return register }
    let block = 64 << 10
    var (result, at) = (register, 0)
    while at < bytes.count {
      let length = min(block, bytes.count - at)
      let start = base + at
      if start.load(as: UInt8.self) == 0, memcmp(start, start + 1, length - 1) == 0 {
        result = advance(result, zeros: length)
      } else {
        result = walk(result, start, length)
      }
      at += length
    }
    return result
  }

  private func walk(_ register: UInt64, _ start: UnsafeRawPointer, _ count: Int) -> UInt64 {
    let t = tables
    var (crc, at) = (register, 0)
    while at &+ 8 <= count {
      let x = crc ^ (start + at).loadUnaligned(as: UInt64.self)
      let low = t[1792 &+ Int(x & 255)] ^ t[1536 &+ Int((x &>> 8) & 255)] ^ t[1280 &+ Int((x &>> 16) & 255)]
      let middle = t[1024 &+ Int((x &>> 24) & 255)] ^ t[768 &+ Int((x &>> 32) & 255)] ^ t[512 &+ Int((x &>> 40) & 255)]
      crc = low ^ middle ^ t[256 &+ Int((x &>> 48) & 255)] ^ t[Int(x &>> 56)]
      at = at &+ 8
    }
    while at < count {
      crc = (crc &>> 8) ^ t[Int((crc ^ UInt64((start + at).load(as: UInt8.self))) & 255)]
      at = at &+ 1
    }
    return crc
  }

  /// The CRC of two concatenated bodies, from their CRCs and the length of the second.
  func combine(_ first: UInt64, _ second: UInt64, secondLength: Int) -> UInt64 {
    advance(first, zeros: secondLength) ^ second
  }

  /// Big-endian bytes, as S3 writes them before base64.
  func bytes(_ value: UInt64) -> [UInt8] {
    stride(from: width - 8, through: 0, by: -8).map { UInt8(truncatingIfNeeded: value >> UInt64($0)) }
  }

  func value(_ bytes: [UInt8]) -> UInt64 {
    bytes.reduce(0) { $0 << 8 | UInt64($1) }
  }
}
