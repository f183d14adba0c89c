import CKernels
import Testing

private struct Model: Sendable, CustomTestStringConvertible {
  let name: String
  let algorithm: Int32
  let polynomial: UInt64
  let ones: UInt64
  let check: UInt64

  var testDescription: String { name }

  func bitwise(_ state: UInt64, _ byte: UInt8) -> UInt64 {
    var state = state ^ UInt64(byte)
    for _ in 0..<8 { state = (state >> 1) ^ (state & 1 != 0 ? polynomial : 0) }
    return state
  }
}

private let models = [
  Model(name: "CRC32", algorithm: CK_CRC32, polynomial: 0xEDB8_8320, ones: 0xFFFF_FFFF, check: 0xCBF4_3926),
  Model(name: "CRC32C", algorithm: CK_CRC32C, polynomial: 0x82F6_3B78, ones: 0xFFFF_FFFF, check: 0xE306_9283),
  Model(
    name: "CRC64NVME", algorithm: CK_CRC64NVME, polynomial: 0x9A6C_9329_AC4B_C9B5, ones: .max,
    check: 0xAE8B_1486_0A79_9888),
]

private var kernels: [(index: Int, name: String)] {
  var found: [(Int, String)] = []
  while let name = ck_kernel_name(found.count) { found.append((found.count, String(cString: name))) }
  return found
}

@Suite(.timeLimit(.minutes(15))) struct CRCKernelTests {
  @Test("every kernel gives the published value for 123456789, and zero for nothing", arguments: models)
  private func published(_ model: Model) {
    let text = Array("123456789".utf8)
    for kernel in kernels {
      #expect(ck_kernel_run(kernel.index, model.algorithm, 0, text, text.count) == model.check, "\(kernel.name)")
      #expect(ck_kernel_run(kernel.index, model.algorithm, 0, nil, 0) == 0, "\(kernel.name)")
    }
  }

  @Test("every kernel equals the bitwise definition for lengths 0...1200 at 64 alignments", arguments: models)
  private func everyLength(_ model: Model) {
    var dice = Dice(1)
    let data = (0..<1300).map { _ in UInt8.random(in: 0...255, using: &dice) }
    data.withUnsafeBufferPointer { data in
      guard let first = data.baseAddress else { return }
      for start in 0..<64 {
        var expected = model.ones
        var wrong = 0
        for length in 0...1200 {
          for kernel in kernels
          where ck_kernel_run(kernel.index, model.algorithm, 0, first + start, length) != expected ^ model.ones {
            wrong += 1
          }
          expected = model.bitwise(expected, data[start + length])
        }
        #expect(wrong == 0, "\(wrong) wrong sums from byte \(start)")
      }
    }
  }

  @Test("a checksum can be continued from any point, in every kernel", arguments: models)
  private func running(_ model: Model) {
    var dice = Dice(2)
    let data = (0..<70_000).map { _ in UInt8.random(in: 0...255, using: &dice) }
    let last = kernels.count - 1
    let whole = ck_kernel_run(last, model.algorithm, 0, data, data.count)
    for kernel in kernels {
      for _ in 0..<200 {
        var sum: UInt64 = 0
        var at = 0
        while at < data.count {
          let count = min(Int.random(in: 0...20_000, using: &dice), data.count - at)
          sum = data.withUnsafeBytes {
            ck_kernel_run(kernel.index, model.algorithm, sum, $0.baseAddress.map { $0 + at }, count)
          }
          at += count
        }
        #expect(sum == whole, "\(kernel.name)")
      }
    }
  }

  @Test("the named functions run the best kernel, and the portable ones agree with them")
  func named() {
    let data = pattern(5_000)
    let best = kernels.first?.name
    #expect(best != nil && best == ck_crc_kernel().map { String(cString: $0) })
    #expect(kernels.last?.name == "portable")
    #expect(ck_crc32(0, data, data.count) == ck_crc32_portable(0, data, data.count))
    #expect(ck_crc32c(0, data, data.count) == ck_crc32c_portable(0, data, data.count))
    #expect(ck_crc64nvme(0, data, data.count) == ck_crc64nvme_portable(0, data, data.count))
    #expect(ck_kernel_run(99, CK_CRC32, 5, data, data.count) == 5)
    #expect(ck_kernel_run(0, 3, 5, data, data.count) == 5)
  }
}
