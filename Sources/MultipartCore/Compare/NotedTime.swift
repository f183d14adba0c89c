import MultipartBasics

/// The modification time of a file that a program has stored with its object.
struct NotedTime {
  /// The name for people.
  var name: String
  var text: String
  var isSame: Bool
}

extension FileTime {
  /// The first time that can be read: s3up's, rclone's, s3cmd's, which has whole seconds only.
  static func noted(in metadata: [NamedValue]) -> (time: FileTime, name: String, isWhole: Bool)? {
    for name in [ownName, rcloneName] {
      guard let text = metadata.value(name), let time = FileTime(ASCII.trimmed(text)) else { continue }
      return (time, name, false)
    }
    guard let text = S3cmdAttributes(metadata)?["mtime"], let time = FileTime(text) else { return nil }
    return (time, "s3cmd's mtime", true)
  }

  /// Whether the object is newer than the file, by the time in its metadata or that of its upload; nil if it has none.
  /// Fractions are compared as far as the file's has digits: file systems and tools keep nine, seven, two or none.
  static func isNewer(_ object: ObjectInfo, than file: FileIdentity) -> Bool? {
    let noted = noted(in: object.metadata)?.time
    guard let seconds = noted?.seconds ?? object.lastModified?.seconds else { return nil }
    guard seconds == file.modifiedSeconds else { return seconds > file.modifiedSeconds }
    let own = file.modifiedNanoseconds
    var unit: Int64 = 1
    while unit < 1_000_000_000, own % (unit * 10) == 0 { unit *= 10 }
    let fraction = noted?.nanoseconds ?? 0
    return fraction - fraction % unit > own
  }

  static func noted(in metadata: [NamedValue], of identity: FileIdentity) -> NotedTime? {
    guard let (time, name, isWhole) = noted(in: metadata) else { return nil }
    let isSame = isWhole ? time.seconds == identity.modifiedSeconds : time == FileTime(identity)
    return NotedTime(name: name, text: time.text, isSame: isSame)
  }
}

/// What s3cmd stores about a file: `atime:1700000000/md5:…/mtime:1700000000/uname:root`.
struct S3cmdAttributes {
  private let text: String

  init?(_ metadata: [NamedValue]) {
    guard let text = metadata.value("s3cmd-attrs") else { return nil }
    self.text = text
  }

  subscript(name: String) -> String? {
    for piece in text.utf8.split(separator: UInt8(ascii: "/")) where piece.starts(with: (name + ":").utf8) {
      return String(piece.dropFirst(name.utf8.count + 1))
    }
    return nil
  }
}

extension [NamedValue] {
  func value(_ name: String) -> String? { first { $0.name.utf8.elementsEqual(name.utf8) }?.value }
}
