/// What `x-amz-content-sha256` says of a body.
package enum PayloadHash {
  /// The body is not part of the signature: TLS guards it.
  package static let unsigned = "UNSIGNED-PAYLOAD"
  static let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

  /// Small bodies are hashed here, large ones are not.
  static func of(_ body: RequestBody, known: String?) throws(Failure) -> String {
    if let known { return known }
    return switch body {
    case .none: empty
    case .bytes(let bytes): Hex.encode(try Digest.sha256(bytes))
    case .source, .part: unsigned
    }
  }
}
