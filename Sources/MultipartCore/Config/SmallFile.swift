import Glibc

/// Reads small files whole (`open`, `read`, `close`).
enum SmallFile {
  /// Reads a file, which messages call `shown`; nil if it does not exist. A file longer than `limit` is refused, so
  /// that a disk image given by mistake does not fill the memory.
  static func read(_ path: FilePath, shown: String, limit: Int = 1 << 20) throws(Failure) -> [UInt8]? {
    let descriptor = path.withCString { open($0, O_RDONLY | O_CLOEXEC) }
    guard descriptor >= 0 else {
      if errno == ENOENT || errno == ENOTDIR { return nil }
      throw failure(shown, errno)
    }
    defer { close(descriptor) }
    guard let bytes = WholeFile.read(descriptor, most: limit) else { throw failure(shown, errno) }
    guard bytes.count <= limit else {
      throw Failure(.configuration, "\(shown) is longer than \(limit) bytes").at(Place(file: shown))
    }
    return bytes
  }

  private static func failure(_ shown: String, _ number: Int32) -> Failure {
    .system(
      .configuration, number, "cannot read \(shown)",
      remedy: number == EISDIR
        ? "it is a folder: name a file" : "make it readable for the user who runs this, or name another file"
    ).at(Place(file: shown))
  }
}

extension Failure {
  /// The failure as one of a file's contents, which may be half written.
  var ofFile: Failure {
    var failure = self
    failure.mayAppear = true
    return failure
  }
}

extension FilePath {
  /// The bytes of a file that is given as an argument: `-` is standard input. They must not be more than `limit`.
  public func input(limit: Int) throws(Failure) -> [UInt8] {
    guard namesDescriptor else { return try contents(limit: limit) }
    return try LineReader(self, title: "the input", longest: limit).rest()
  }

  /// The bytes of the file. It must exist, and must not be longer than `limit`.
  public func contents(limit: Int = 1 << 20) throws(Failure) -> [UInt8] {
    do throws(Failure) {
      guard let bytes = try SmallFile.read(self, shown: text, limit: limit) else {
        throw Failure(.sourceMissing, "there is no file \(text)", remedy: whyMissing)
      }
      return bytes
    } catch {
      var failure = error
      if failure.code == .configuration { failure.code = .sourceMissing }
      throw failure.at(Place(file: text))
    }
  }
}
