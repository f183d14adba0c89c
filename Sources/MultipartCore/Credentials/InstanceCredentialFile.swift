import Glibc

/// The credentials of this machine's role, kept in the state folder for runs that follow soon: for this user alone
/// (0600 in a folder of 0700), replaced whole, and bound to the service's address and to this boot of this machine,
/// since a home may be shared by many machines with roles of their own.
struct InstanceCredentialFile: Sendable {
  private static let header = "s3up instance 1"
  private static let name = "instance"
  private static let mostBytes = 64 << 10
  /// A role that was exchanged is noticed after this long at the latest.
  private static let longest: Int64 = 15 * 60
  /// With less left they are of no use to a run: it would renew them at once.
  private static let margin: Int64 = 15 * 60

  private let folder: String
  private let machine: @Sendable () -> String?

  /// `machine` names this boot; nil, where the kernel does not say, keeps nothing. Few runs come to ask.
  init(folder: String, machine: @autoclosure @escaping @Sendable () -> String? = InstanceCredentialFile.boot()) {
    self.folder = folder
    self.machine = machine
  }

  /// Nil when there is nothing that is this machine's, fresh and private. Whatever is wrong with the file, the service
  /// is asked.
  func read(address: String, now: Timestamp) -> Credentials? {
    guard let machine = machine(), let file = try? RecordFolder.open(folder)?.file(Self.name, O_RDONLY),
      let bytes = try? file.read(most: Self.mostBytes), let text = String(validating: bytes, as: UTF8.self)
    else { return nil }
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    // The word at the end shows that the file is whole.
    guard lines.count == 11, lines[0] == Self.header, lines[1] == address, lines[2] == machine, lines[9] == "end",
      let written = Int64(lines[3]), let end = Int64(lines[4])
    else { return nil }
    // Differences of numbers that a file holds may overflow; comparisons cannot.
    guard written <= now.seconds, written > now.seconds - Self.longest, end > now.seconds + Self.margin else {
      return nil
    }
    return try? IssuedKeys.credentials(
      id: lines[5], secret: lines[6], token: lines[7], expiration: Timestamp(seconds: end), issuer: "an earlier run",
      source: lines[8])
  }

  /// Only what has an end, and not soon.
  func write(_ credentials: Credentials, address: String, now: Timestamp) throws(Failure) {
    guard let end = credentials.expiration, end.seconds > now.seconds + Self.margin,
      let machine = machine()
    else { return }
    let lines = [
      Self.header, address, machine, String(now.seconds), String(end.seconds), credentials.accessKeyID,
      credentials.secretAccessKey.reveal(), credentials.sessionToken?.reveal() ?? "", credentials.source, "end", "",
    ]
    _ = try RecordFolder.make(folder).replace(Self.name, with: Array(lines.joined(separator: "\n").utf8))
  }

  /// `/proc/sys/kernel/random/boot_id`: another on each machine and after each start.
  static func boot() -> String? {
    let path = "/proc/sys/kernel/random/boot_id"
    guard let bytes = try? SmallFile.read(path, shown: path, limit: 128) else { return nil }
    let text = S3Text.trimmed(String(decoding: bytes, as: UTF8.self))
    return text.isEmpty ? nil : text
  }
}
