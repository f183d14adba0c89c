import CKernels
import MultipartBasics
@testable import MultipartCore
import Testing

/// The MD5 for processes whose OpenSSL has none.
@Suite(.timeLimit(.minutes(15))) struct MD5Tests {
  private func md5(_ pieces: ArraySlice<UInt8>...) -> [UInt8] {
    var (sum, digest) = (ck_md5(), [UInt8](repeating: 0, count: 16))
    ck_md5_begin(&sum)
    for piece in pieces { piece.withUnsafeBytes { ck_md5_add(&sum, $0.baseAddress, $0.count) } }
    ck_md5_end(&sum, &digest)
    return digest
  }

  @Test(
    "The digests of RFC 1321 are computed",
    arguments: [
      ("", "d41d8cd98f00b204e9800998ecf8427e"), ("a", "0cc175b9c0f1b6a831c399e269772661"),
      ("message digest", "f96b697d7cb7938d525a2f31aaf161d0"),
      (
        "12345678901234567890123456789012345678901234567890123456789012345678901234567890",
        "57edf4a22be3c955ac49da2e2107b67a"
      ),
    ])
  func published(text: String, digest: String) {
    #expect(Hex.encode(md5(Array(text.utf8)[...])) == digest)
  }

  @Test("The digest is OpenSSL's, at every length and split")
  func likeOpenSSL() throws {
    let data = pattern(3000)
    for length in Array(0...260) + [1023, 1024, 1025, 2999] {
      let expected = try Digest.md5(data[..<length])
      for split in stride(from: 0, through: length, by: 1 + length / 70) {
        #expect(md5(data[..<split], data[split..<length]) == expected, "\(length) bytes, split at \(split)")
      }
    }
  }
}
