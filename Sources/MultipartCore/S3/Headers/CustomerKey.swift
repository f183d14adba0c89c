import MultipartBasics

/// The caller's own encryption key (SSE-C): sent with every request that writes or reads the bytes, and never shown. S3
/// also requires its MD5.
public struct CustomerKey: Sendable, Equatable, CustomStringConvertible, CustomDebugStringConvertible,
  CustomReflectable
{
  private let base64: String
  private let md5: String

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
