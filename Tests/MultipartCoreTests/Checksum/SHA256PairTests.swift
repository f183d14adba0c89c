import CKernels
import Foundation
import MultipartBasics
@testable import MultipartCore
import Testing

@Suite(.timeLimit(.minutes(15))) struct SHA256PairTests {
  private func digest(_ sum: inout ck_sha256, _ rest: ArraySlice<UInt8>) -> String {
    var digest = [UInt8](repeating: 0, count: 32)
    rest.withUnsafeBytes { ck_sha256_end(&sum, $0.baseAddress, $0.count, &digest) }
    return Hex.encode(digest)
  }

  private func begun() -> ck_sha256 {
    var sum = ck_sha256()
    ck_sha256_begin(&sum)
    return sum
  }

  @Test("The published digests are computed")
  func published() {
    var nothing = begun()
    #expect(digest(&nothing, []) == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
    var abc = begun()
    #expect(
      digest(&abc, Array("abc".utf8)[...]) == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
    var two = begun()
    let text = Array("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq".utf8)
    #expect(digest(&two, text[...]) == "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1")
  }

  @Test("Two interleaved streams each have OpenSSL's digest, at every length and split")
  func inStep() throws {
    let data = pattern(3000)
    for length in Array(0...400) + [1000, 1023, 1024, 1025, 2047] {
      let (a, b) = (data[..<length], data[900..<(900 + length)])
      var (one, other) = (begun(), begun())
      let whole = length / 64 * 64
      let step = whole / 128 * 64
      data.withUnsafeBytes { all in
        guard let base = all.baseAddress else { return }
        ck_sha256_two(&one, base, &other, base + 900, step)
        // The rest of the longer one is processed alone.
        ck_sha256_one(&one, base + step, whole - step)
      }
      #expect(try digest(&one, a[whole...]) == Hex.encode(Digest.sha256(a)))
      #expect(try digest(&other, b[(900 + step)...]) == Hex.encode(Digest.sha256(b)))
    }
  }
}
