import Glibc

/// Where the objects of a run of many come from, and which of them are sent.
package struct BatchSources: Sendable {
  package enum Kind: Sendable {
    /// Files, and folders whose contents go below the prefix.
    case named([FilePath])
    /// A list of files, one on a line; `-` is standard input.
    case list(FilePath, endsWithZero: Bool)
    /// Objects with their destinations.
    case batch(OpenBatch)
  }

  package var kind: Kind
  package var prefix: String
  /// The key of the only file, instead of one below the prefix.
  package var key: String?
  package var rules = GlobRules()
  package var followsLinks = false
  package var names = KeyName.Rule.escape
  package var shard: Shard?
  /// Also tells what the rules leave out.
  package var tellsExcluded = false

  package init(_ kind: Kind, prefix: String) {
    self.kind = kind
    self.prefix = prefix
  }

  /// What makes two runs the same.
  var identity: [String] {
    let paths: [String] =
      switch kind {
      case .named(let paths): ["named"] + paths.map(\.text)
      case .list(let path, let endsWithZero): ["list", path.text, "\(endsWithZero)"]
      case .batch(let batch): ["batch", batch.path?.text ?? "-"]
      }
    return paths + [prefix, key ?? "", "\(followsLinks)", "\(shard.map { "\($0.index)/\($0.count)" } ?? "")"]
  }

  /// Gives what it finds, in order.
  func find(
    _ give: @Sendable (CandidateStep) async -> Bool, listing: @Sendable () -> PrefixListing?
  ) async throws {
    switch kind {
    case .named(let paths):
      try refuseMeetings(of: paths)
      for path in paths where await !tell(contentsOf: path, give, listing) { return }
    case .list(let path, let endsWithZero): try await tell(path, endsWithZero, give)
    case .batch(let batch): try await tell(batch, give)
    }
  }

  // MARK: - Files and folders

  private func tell(
    contentsOf path: FilePath, _ give: (CandidateStep) async -> Bool, _ makeListing: () -> PrefixListing?
  ) async -> Bool {
    do throws(Failure) {
      guard Self.isFolder(path) else {
        return await tellFile(path, name: Array(Self.lastComponent(path)), give)
      }
      let walk = try TreeWalk(
        root: path, rules: rules, followsLinks: followsLinks, tellsExcluded: tellsExcluded, shard: shard,
        longest: max(1, KeyName.longest - prefix.utf8.count))
      let listing = makeListing()
      while let finding = walk.next() {
        guard await tell(finding, give, listing) else { return false }
      }
      return true
    } catch {
      return await give(.failed(error.at(Place(file: path.text))))
    }
  }

  private func tell(
    _ finding: TreeFinding, _ give: (CandidateStep) async -> Bool, _ listing: PrefixListing?
  ) async -> Bool {
    switch finding {
    case .failed(let failure): return await give(.failed(failure))
    case .skipped(let skip):
      return await give(
        .skipped(SkippedSource(path: skip.display.text, why: skip.reason.words)))
    case .file(let file):
      do throws(Failure) {
        var item = UploadItem(
          UploadInput(.entry(file, followsLinks: followsLinks)),
          to: try key(of: file.path, file.display))
        item.name = nameInLists(file.display, key: file.path)
        var candidate = Candidate(item, size: file.size)
        if let listing { candidate.found = await listing.find(item.key) }
        return await give(.candidate(candidate))
      } catch {
        return await give(.failed(error))
      }
    }
  }

  /// Of a list, `A/./sub/x` has the key `sub/x`.
  private func nameInLists(_ path: FilePath, key: [UInt8]) -> [UInt8] {
    guard path.bytes.count > key.count, path.bytes.suffix(key.count).elementsEqual(key) else { return path.bytes }
    return path.bytes.dropLast(key.count) + Array("./".utf8) + key
  }

  private func tellFile(
    _ path: FilePath, name: [UInt8], _ give: (CandidateStep) async -> Bool
  ) async -> Bool {
    guard isInShare(name), rules.includes(name) else { return true }
    do throws(Failure) {
      let key = if let key { key } else { try key(of: name, path) }
      var item = UploadItem(UploadInput(.file(path)), to: key)
      item.name = nameInLists(path, key: name)
      return await give(.candidate(Candidate(item, size: Self.size(path))))
    } catch {
      return await give(.failed(error.at(Place(file: path.text))))
    }
  }

  /// Before anything is sent: afterwards the object would be one of the two, nobody knows which.
  private func refuseMeetings(of paths: [FilePath]) throws(Failure) {
    guard paths.count > 1 else { return }
    var files: [(name: [UInt8], file: FilePath)] = []
    var trees: [TreeWalk] = []
    for path in paths {
      guard Self.isFolder(path) else {
        files.append((Array(Self.lastComponent(path)), path))
        continue
      }
      // What cannot be read is said when its turn comes.
      if let walk = try? TreeWalk(root: path, rules: rules, followsLinks: followsLinks, depth: .names) {
        trees.append(walk)
      }
    }
    if let meeting = KeyMeeting.find(files: files, trees: trees, KeyName(prefix: prefix, names)) {
      throw meeting.failure
    }
  }

  private func isInShare(_ name: [UInt8]) -> Bool { shard?.holds(name) ?? true }

  private func key(of name: [UInt8], _ path: FilePath) throws(Failure) -> String {
    try KeyName(prefix: prefix, names).key(of: name, path)
  }

  private static func lastComponent(_ path: FilePath) -> ArraySlice<UInt8> {
    path.bytes.split(separator: UInt8(ascii: "/")).last ?? []
  }

  package static func isFolder(_ path: FilePath) -> Bool {
    var status = stat()
    return path.withCString { stat($0, &status) } == 0 && status.st_mode & S_IFMT == S_IFDIR
  }

  private static func size(_ path: FilePath) -> Int64? {
    var status = stat()
    return path.withCString { stat($0, &status) } == 0 ? Int64(status.st_size) : nil
  }
}

extension BatchSources {
  // MARK: - Lists

  private static let standardInput = FilePath("-")

  private func open(_ path: FilePath, _ endsWithZero: Bool) throws(Failure) -> FileList {
    guard path == Self.standardInput else { return try FileList(path, endsWithZero: endsWithZero) }
    return FileList(open: STDIN_FILENO, name: "standard input", endsWithZero: endsWithZero)
  }

  private func tell(
    _ path: FilePath, _ endsWithZero: Bool, _ give: @Sendable (CandidateStep) async -> Bool
  ) async throws(Failure) {
    let mayBeReadTwice = path != Self.standardInput && Self.isRegular(path)
    if mayBeReadTwice { try refuseMeetings(in: path, endsWithZero) }
    var earlier = mayBeReadTwice ? nil : KeysOfPipe()
    let list = try open(path, endsWithZero)
    while let listed = try list.next() {
      guard isInShare(listed.name), rules.includes(listed.name) else { continue }
      var step: CandidateStep
      do throws(Failure) {
        let shown = FilePath(bytes: listed.path)
        let key = try key(of: listed.name, shown)
        try earlier?.add(key, shown)
        let file = try list.find(listed)
        var item = UploadItem(UploadInput(.entry(file, followsLinks: true)), to: key)
        item.name = listed.path
        step = .candidate(Candidate(item, size: file.size))
      } catch {
        step = .failed(error, name: listed.path)
      }
      guard await give(step) else { return }
    }
  }

  private func refuseMeetings(in path: FilePath, _ endsWithZero: Bool) throws(Failure) {
    let meeting = try KeyMeeting.find { () throws(Failure) in
      let list = try FileList(path, endsWithZero: endsWithZero)
      return { () throws(Failure) in
        while let listed = try list.next() {
          let file = FilePath(bytes: listed.path)
          // A name that cannot be a key is refused when its turn comes.
          if let key = try? self.key(of: listed.name, file) { return (key, file) }
        }
        return nil
      }
    }
    if let meeting, meeting.first != meeting.second { throw meeting.failure }
  }

  private func tell(
    _ batch: OpenBatch, _ give: @Sendable (CandidateStep) async -> Bool
  ) async throws(Failure) {
    let file = batch.path.flatMap { Self.isRegular($0) ? $0 : nil }
    if let file { try refuseMeetings(inBatch: file) }
    var earlier = file == nil ? KeysOfPipe() : nil
    while let line = try batch.next() {
      guard isInShare(Array(line.key.utf8)) else { continue }
      do throws(Failure) {
        try earlier?.add(line.address, line.source)
      } catch {
        guard await give(.failed(error, name: line.source.bytes)) else { return }
        continue
      }
      var item = UploadItem(UploadInput(.file(line.source)), to: line.key)
      (item.bucket, item.region, item.contentType) = (line.bucket, line.region, line.contentType)
      if !line.metadata.isEmpty { item.metadata = line.metadata }
      guard await give(.candidate(Candidate(item, size: Self.size(line.source)))) else { return }
    }
  }

  private func refuseMeetings(inBatch path: FilePath) throws(Failure) {
    let meeting = try KeyMeeting.find { () throws(Failure) in
      let list = try BatchList(path)
      return { () throws(Failure) in try list.next().map { ($0.address, $0.source) } }
    }
    if let meeting { throw meeting.failure }
  }

  private static func isRegular(_ path: FilePath) -> Bool {
    var status = stat()
    return path.withCString { stat($0, &status) } == 0 && status.st_mode & S_IFMT == S_IFREG
  }
}

/// The keys that came through a pipe, which cannot be read twice: of two files with one key the first is sent. 16 bytes are
/// kept for each.
private struct KeysOfPipe {
  private var files: [Int: Int] = [:]

  mutating func add(_ key: String, _ file: FilePath) throws(Failure) {
    guard let first = files[key.hashValue] else {
      files[key.hashValue] = file.bytes.hashValue
      return
    }
    guard first != file.bytes.hashValue else { return }
    throw Failure(
      .usage, "\(SafeText.oneLine(file.text)) has the same key as a file that came before it, and is not sent",
      remedy: "send them under different prefixes, or rename one of them"
    ).at(Place(file: file.text, key: key))
  }
}

extension BatchItem {
  fileprivate var address: String { "s3://\(bucket)/\(key)" }
}

/// A batch, one JSON object on a line, whose first one was read: its bucket is needed to find the store.
///
/// `@unchecked Sendable` holds because it is used by one task at a time.
package final class OpenBatch: @unchecked Sendable {
  private let list: BatchList
  private var first: BatchItem?
  /// Nil for standard input.
  package let path: FilePath?
  /// Nil if there is nothing in it.
  package let firstBucket: String?

  /// `-` is standard input.
  package init(_ path: FilePath) throws(Failure) {
    if path == FilePath("-") {
      (list, self.path) = (BatchList(open: STDIN_FILENO, name: "standard input"), nil)
    } else {
      (list, self.path) = (try BatchList(path), path)
    }
    first = try list.next()
    firstBucket = first?.bucket
  }

  func next() throws(Failure) -> BatchItem? {
    if let item = first.take() { return item }
    return firstBucket == nil ? nil : try list.next()
  }
}
