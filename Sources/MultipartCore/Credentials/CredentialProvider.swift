/// One source of credentials.
protocol CredentialProvider: Sendable {
  /// The place, as a failure lists it: `the environment`, `profile dev in ~/.aws/credentials`.
  var place: String { get }
  /// The credentials; nil if this source has none. Throws if it has some that cannot be used.
  func credentials() async throws(Failure) -> Credentials?
}

/// Credentials from an id, a secret and perhaps a token that were written by hand, with the same rules for every
/// source.
enum WrittenKeys {
  /// The credentials. `names` are the names of id, secret and token at that source. Nil if neither id nor secret is
  /// given; an empty one counts as missing.
  static func credentials(
    id: String?, secret: String?, token: String?, names: [String], place: String, source: String
  ) throws(Failure) -> Credentials? {
    let id = try cleaned(id, names[0], place)
    // No store makes an id with quotes; they come from a file that a shell was to read.
    if let id, let quote = id.utf8.first, "\"'".utf8.contains(quote), id.utf8.last == quote {
      throw Failure(
        .credentials, "\(place): \(names[0]) is in quotes, which would be part of it",
        remedy: "remove the quotes there, around the secret too")
    }
    let secret = try cleaned(secret, names[1], place)
    let token = try cleaned(token, names[2], place)
    switch (id, secret) {
    case (nil, nil): return nil
    case (let id?, let secret?):
      return Credentials(
        accessKeyID: id, secretAccessKey: Secret(secret), sessionToken: token.map { Secret($0) }, source: source)
    default:
      let (there, missing) = id == nil ? (names[1], names[0]) : (names[0], names[1])
      throw Failure(
        .credentials, "\(place): \(there) is set, but \(missing) is not", remedy: "set both, or neither")
    }
  }

  /// The value without line breaks and blanks at its ends, which come from files and CI secrets. Inside a key they are
  /// refused: there they are a mistake, or in a header an attack.
  private static func cleaned(_ text: String?, _ name: String, _ place: String) throws(Failure) -> String? {
    guard let text else { return nil }
    var bytes = Array(text.utf8)[...]
    bytes = bytes.drop(while: isSpace)
    while let last = bytes.last, isSpace(last) { bytes.removeLast() }
    guard !bytes.isEmpty else { return nil }
    guard bytes.allSatisfy({ $0 > 0x20 && $0 != 0x7F }) else {
      throw Failure(
        .credentials, "\(place): \(name) contains a space, a line break or a control character",
        remedy: "copy the key again, on one line")
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }
}
