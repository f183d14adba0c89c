import Glibc
import MultipartBasics

/// The guest identities of this user at Cognito pools, stored in the state folder (mode 0600), so that a guest keeps
/// its place in the bucket. One pool per line.
struct CognitoGuestFile: Sendable {
  private static let header = "s3up guests 1"
  static let name = "guests"
  private static let mostBytes = 1 << 20

  private struct Entry {
    var origin: String
    var pool: String
    var identity: String

    func isOf(_ pool: CognitoPool, _ origin: Origin) -> Bool {
      self.pool == pool.id && self.origin == origin.description
    }
  }

  private let folder: String

  init(folder: String) {
    self.folder = folder
  }

  /// Why the file is not used: another user could have written it.
  var refusal: Failure? {
    do throws(Failure) {
      _ = try file()
      return nil
    } catch {
      return error.code == .configuration ? error : nil
    }
  }

  private func file() throws(Failure) -> RecordFile? {
    try RecordFolder.home(in: folder)?.file(Self.name, O_RDONLY)
  }

  /// The stored identity; a file that cannot be read is treated as empty.
  func identity(pool: CognitoPool, origin: Origin) -> String? {
    entries().first { $0.isOf(pool, origin) }?.identity
  }

  func remember(_ identity: String, pool: CognitoPool, origin: Origin) throws(Failure) {
    try write(
      entries().filter { !$0.isOf(pool, origin) }
        + [Entry(origin: origin.description, pool: pool.id, identity: identity)])
  }

  func forget(pool: CognitoPool, origin: Origin) {
    try? write(entries().filter { !$0.isOf(pool, origin) })
  }

  private func write(_ entries: [Entry]) throws(Failure) {
    let lines = entries.map { "\($0.origin) \($0.pool) \($0.identity)" }
    let text = ([Self.header] + lines).joined(separator: "\n") + "\n"
    _ = try RecordFolder.makeHome(in: folder).replace(Self.name, with: Array(text.utf8))
  }

  private func entries() -> [Entry] {
    guard let file = try? file(), let bytes = try? file.read(most: Self.mostBytes),
      let text = String(validating: bytes, as: UTF8.self)
    else { return [] }
    let lines = text.words(between: "\n")
    guard lines.first?.utf8.elementsEqual(Self.header.utf8) == true else { return [] }
    return lines.dropFirst().compactMap { line in
      let words = line.words(between: " ").map(String.init)
      guard words.count == 3, CognitoPool.isIdentity(words[2]) else { return nil }
      return Entry(origin: words[0], pool: words[1], identity: words[2])
    }
  }
}
