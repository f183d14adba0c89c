import COpenSSL
import Foundation

/// The hashes of OpenSSL with which the fake store checks.
enum FakeHash: Sendable {
  case md5, sha1, sha256

  var algorithm: OpaquePointer? {
    switch self {
    case .md5: EVP_md5()
    case .sha1: EVP_sha1()
    case .sha256: EVP_sha256()
    }
  }

  func of(_ bytes: some Sequence<UInt8>) -> [UInt8] {
    let running = RunningHash(self)
    Array(bytes).withUnsafeBytes { running.update($0) }
    return running.finish()
  }
}

/// Owns one EVP_MD_CTX; used by one thread at a time.
final class RunningHash {
  private let context: OpaquePointer?

  init(_ hash: FakeHash) {
    context = EVP_MD_CTX_new()
    EVP_DigestInit_ex(context, hash.algorithm, nil)
  }

  deinit {
    EVP_MD_CTX_free(context)
  }

  func update(_ bytes: UnsafeRawBufferPointer) {
    EVP_DigestUpdate(context, bytes.baseAddress, bytes.count)
  }

  func finish() -> [UInt8] {
    var out = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
    var length: UInt32 = 0
    EVP_DigestFinal_ex(context, &out, &length)
    return Array(out.prefix(Int(length)))
  }
}

func hmacSHA256(_ key: [UInt8], _ text: String) -> [UInt8] {
  let data = Array(text.utf8)
  var out = [UInt8](repeating: 0, count: 32)
  EVP_Q_mac(nil, "HMAC", nil, "SHA256", nil, key, key.count, data, data.count, &out, out.count, nil)
  return out
}

func hex(_ bytes: some Sequence<UInt8>) -> String {
  let digits = Array("0123456789abcdef".utf8)
  var text: [UInt8] = []
  for byte in bytes {
    text.append(digits[Int(byte >> 4)])
    text.append(digits[Int(byte & 15)])
  }
  return String(decoding: text, as: UTF8.self)
}

func base64(_ bytes: [UInt8]) -> String { Data(bytes).base64EncodedString() }

func unbase64(_ text: String) -> [UInt8]? { Data(base64Encoded: text).map { [UInt8]($0) } }
