internal import COpenSSL
import MultipartBasics

/// The caller's own encryption key (SSE-C): sent with every request that writes or reads the bytes, and never shown. S3
/// also requires its MD5.
public struct CustomerKey: Sendable, Equatable, CustomStringConvertible, CustomDebugStringConvertible,
  CustomReflectable
{
  private let base64: String
  private let md5: String
  private let marks = Locked<[String: String]>([:])

  /// A key of 32 bytes: AES-256 is the only algorithm.
  public init(_ key: [UInt8]) throws(Failure) {
    guard key.count == 32 else {
      throw Failure(
        .usage, "an SSE-C key is 32 bytes, not \(key.count)",
        remedy: "create one with: head -c 32 /dev/urandom > key.bin")
    }
    md5 = Base64.encode(try Digest.md5(key))
    base64 = Base64.encode(key)
  }

  func add(to headers: inout S3HeaderBuilder) throws(Failure) {
    try headers.add(HeaderName.customerAlgorithm, "AES256")
    try headers.add("x-amz-server-side-encryption-customer-key", base64)
    try headers.add("x-amz-server-side-encryption-customer-key-MD5", md5)
  }

  /// Text for a record that shows later whether a key is this one. A plain digest would let whoever reads the record
  /// try millions of passphrases a second that the key may be made from; with PBKDF2 each try costs as much as this.
  /// Computed once for each salt.
  func mark(salt: String) throws(Failure) -> String {
    if let known = marks.withLock({ $0[salt] }) { return known }
    var out = [UInt8](repeating: 0, count: 32)
    let done = base64.utf8CString.withUnsafeBufferPointer { key in
      Array(salt.utf8).withUnsafeBufferPointer { salt in
        PKCS5_PBKDF2_HMAC(
          key.baseAddress, Int32(key.count - 1), salt.baseAddress, Int32(salt.count), Self.rounds, EVP_sha256(),
          Int32(out.count), &out)
      }
    }
    guard done == 1 else { throw Failure(.local, "OpenSSL cannot compute PBKDF2") }
    let mark = Hex.encode(out)
    marks.withLock { $0[salt] = mark }
    return mark
  }

  private static let rounds: Int32 = 200_000

  /// Whether it is the same key.
  public static func == (a: CustomerKey, b: CustomerKey) -> Bool { a.base64.utf8.elementsEqual(b.base64.utf8) }

  /// A placeholder.
  public var description: String { "CustomerKey(secret)" }
  /// A placeholder.
  public var debugDescription: String { description }
  /// A mirror without children.
  public var customMirror: Mirror { Mirror(self, children: []) }
}

extension CustomerKey {
  /// Reads a file with 32 raw bytes or their Base64. No message shows the contents. With `isOfObject` it is the key of
  /// an object that exists, which no new key could read.
  public init(file: FilePath, isOfObject: Bool = false) throws(Failure) {
    let bytes = try file.contents()
    guard bytes.count != 32 else {
      try self.init(bytes)
      return
    }
    let text = ASCII.trimmed(String(decoding: bytes, as: UTF8.self))
    guard let key = Base64.decode(text), key.count == 32 else {
      throw Failure(
        .usage, "the SSE-C key file contains neither 32 bytes nor their base64",
        remedy: isOfObject
          ? "name the file of the key with which the object was uploaded"
          : "create one with: head -c 32 /dev/urandom > key.bin"
      ).at(Place(file: file.text))
    }
    try self.init(key)
  }
}
