import Glibc
import MultipartBasics

/// Finds the sources, one after another, in the order in which they are named.
extension BatchSources {
  /// What identifies a run, so that a later run of the same sources continues it.
  var identity: [String] {
    let paths: [String] =
      switch kind {
      case .named(let paths): ["named"] + paths.map(\.text)
      case .list(let path, let endsWithZero): ["list", path.text, "\(endsWithZero)"]
      case .batch(let batch): ["batch", batch.path?.text ?? "-"]
      }
    return paths + [prefix, key ?? "", "\(followsLinks)", "\(shard.map { "\($0.index)/\($0.count)" } ?? "")"]
  }

  /// Passes on what it finds, in order. Objects that name no bucket go to `bucket`.
  func find(
    in bucket: String, besides outputs: RunOutputs = RunOutputs(),
    _ give: @escaping @Sendable (UploadStep) async -> Bool,
    listing: @Sendable () -> PrefixListing?
  ) async throws {
    let tally = SourceTally(rules, shard, tellsExcluded: tellsExcluded)
    let counted = { @Sendable (step: UploadStep) in
      tally.count(step)
      return await give(step)
    }
    switch kind {
    case .named(let paths):
      try refuseOutputs(outputs, bucket, paths)
      try refuseMeetings(of: paths)
      for path in paths where await !tell(contentsOf: path, outputs, tally, counted, listing) { return }
    case .list(let path, let endsWithZero):
      guard try await tell(path, endsWithZero, bucket, outputs, tally, counted) else { return }
    case .batch(let batch):
      guard try await tell(batch, outputs, tally, counted) else { return }
    }
    let isList = if case .named = kind { false } else { true }
    if !allowsNothing, let failure = tally.failure(ifEmpty: isList ? Self.emptyList : nil) { throw failure }
    // With shares, the other lines may match files in another machine's share.
    let unmatched = shard == nil ? attributes?.unmatched ?? [] : []
    for advice in tally.advice + unmatched where await !give(.advice(advice)) { return }
  }

  // MARK: - Files and folders

  private func tell(
    contentsOf path: FilePath, _ outputs: RunOutputs, _ tally: SourceTally,
    _ give: (UploadStep) async -> Bool, _ makeListing: () -> PrefixListing?
  ) async -> Bool {
    do throws(Failure) {
      guard path.isFolder else {
        return await tellFile(path, name: Array(path.lastName), tally, give)
      }
      let walk = try TreeWalk(
        root: path, rules: rules, followsLinks: followsLinks, tellsExcluded: tellsExcluded, shard: shard,
        longest: max(1, S3Limits.longestKey - prefix.utf8.count), stateFolder: outputs.stateFolder.map { FilePath($0) })
      defer { tally.add(walk.watch) }
      let listing = makeListing()
      while let finding = walk.next() {
        guard await tell(finding, outputs, give, listing) else { return false }
      }
      return true
    } catch {
      return await give(.failed(error.at(Place(file: path.text)), name: nil))
    }
  }

  private func tell(
    _ finding: TreeFinding, _ outputs: RunOutputs, _ give: (UploadStep) async -> Bool, _ listing: PrefixListing?
  ) async -> Bool {
    switch finding {
    case .failed(let failed):
      return await give(.failed(failed.failure, name: failed.path.map { nameInLists(failed.display, key: $0) }))
    case .skipped(let skip):
      let source = SkippedSource(path: skip.display.text, reason: skip.reason)
      return await give(skip.reason == .ownState ? .leftOut(source) : .skipped(source))
    case .file(let file) where outputs.isReport(file.inode):
      return await give(.leftOut(SkippedSource(path: file.display.text, reason: .ownReport)))
    case .file(let file):
      let name = nameInLists(file.display, key: file.path)
      do throws(Failure) {
        var item = UploadItem(
          UploadInput(.entry(file, followsLinks: followsLinks)),
          to: try key(of: file.path, file.display))
        item.name = name
        item.attributes = attributes?.attributes(of: file.path) ?? []
        var candidate = Candidate(item, size: file.size, inode: file.inode)
        if let listing { candidate.found = await listing.find(item.key) }
        return await give(.candidate(candidate))
      } catch {
        return await give(.failed(error, name: name))
      }
    }
  }

  /// The name of a file in lists: `A/./sub/x` has the key `sub/x`.
  private func nameInLists(_ path: FilePath, key: [UInt8]) -> [UInt8] {
    guard path.bytes.count > key.count, path.bytes.suffix(key.count).elementsEqual(key) else { return path.bytes }
    return path.bytes.dropLast(key.count) + Array("./".utf8) + key
  }

  private func tellFile(
    _ path: FilePath, name: [UInt8], _ tally: SourceTally, _ give: (UploadStep) async -> Bool
  ) async -> Bool {
    guard tally.selects(name) else { return await tally.pass(name, path, give) }
    let listed = nameInLists(path, key: name)
    do throws(Failure) {
      let key = if let key { key } else { try key(of: name, path) }
      var item = UploadItem(UploadInput(.file(path)), to: key)
      item.name = listed
      item.attributes = attributes?.attributes(of: name) ?? []
      let status = path.status
      return await give(
        .candidate(Candidate(item, size: status.map { Int64($0.st_size) }, inode: status.map { Inode($0) })))
    } catch {
      return await give(.failed(error.at(Place(file: path.text)), name: listed))
    }
  }

  /// Refuses sources with the same key before anything is sent: otherwise the object would be an arbitrary one of the
  /// two.
  private func refuseMeetings(of paths: [FilePath]) throws(Failure) {
    guard paths.count > 1 else { return }
    var files: [(name: [UInt8], file: FilePath)] = []
    var trees: [TreeWalk] = []
    for path in paths {
      guard path.isFolder else {
        files.append((Array(path.lastName), path))
        continue
      }
      // Paths that cannot be read are reported when their turn comes.
      if let walk = try? TreeWalk(root: path, rules: rules, followsLinks: followsLinks, depth: .names) {
        trees.append(walk)
      }
    }
    if let meeting = KeyMeeting.find(files: files, trees: trees, KeyName(prefix: prefix, oddNames)) {
      throw meeting.failure
    }
  }

  /// Refuses outputs of the run that would replace its sources, before anything is sent.
  private func refuseOutputs(_ outputs: RunOutputs, _ bucket: String, _ paths: [FilePath]) throws(Failure) {
    for path in paths {
      if path.isFolder {
        try outputs.refuse(folder: path, bucket: bucket, prefix: prefix, rules: rules)
      } else {
        let name = Array(path.lastName)
        guard rules.includes(name) else { continue }
        try outputs.refuse(source: path, bucket: bucket, key: key ?? (try? key(of: name, path)))
      }
    }
  }

  private func key(of name: [UInt8], _ path: FilePath) throws(Failure) -> String {
    try KeyName(prefix: prefix, oddNames).key(of: name, path)
  }
}

extension BatchSources {
  // MARK: - Lists

  private func tell(
    _ path: FilePath, _ endsWithZero: Bool, _ bucket: String, _ outputs: RunOutputs, _ tally: SourceTally,
    _ give: @Sendable (UploadStep) async -> Bool
  ) async throws(Failure) -> Bool {
    if path.isRereadable { try refuseMeetings(in: path, endsWithZero, bucket, outputs) }
    var earlier = path.isRereadable ? nil : KeysSoFar(filesMayRepeat: true)
    let list = try FileList(path, endsWithZero: endsWithZero)
    while let listed = try list.next() {
      guard tally.selects(listed.name) else {
        guard await tally.pass(listed.name, FilePath(bytes: listed.path), give) else { return false }
        continue
      }
      var step: UploadStep
      do throws(Failure) {
        let shown = FilePath(bytes: listed.path)
        let key = try key(of: listed.name, shown)
        try earlier?.add(key, shown, at: Place(key: key))
        let file = try list.find(listed)
        var item = UploadItem(UploadInput(.entry(file, followsLinks: true)), to: key)
        item.name = listed.path
        item.attributes = attributes?.attributes(of: listed.name) ?? []
        step = .candidate(Candidate(item, size: file.size, inode: file.inode))
      } catch {
        step = .failed(error, name: listed.path)
      }
      guard await give(step) else { return false }
    }
    return true
  }

  /// Refuses sources with the same key before anything is sent, for a list that can be read twice.
  private func refuseMeetings(
    in path: FilePath, _ endsWithZero: Bool, _ bucket: String, _ outputs: RunOutputs
  ) throws(Failure) {
    let meeting = try KeyMeeting.find(filesMayRepeat: true) { () throws(Failure) in
      let list = try FileList(path, endsWithZero: endsWithZero)
      return { () throws(Failure) in
        while let listed = try list.next() {
          guard rules.includes(listed.name) else { continue }
          let file = FilePath(bytes: listed.path)
          let key = try? self.key(of: listed.name, file)
          try outputs.refuse(source: file, bucket: bucket, key: key)
          // A name that cannot be a key is refused when its turn comes.
          if let key { return (key, file) }
        }
        return nil
      }
    }
    if let meeting { throw meeting.failure }
  }

  private func tell(
    _ batch: OpenBatch, _ outputs: RunOutputs, _ tally: SourceTally,
    _ give: @Sendable (UploadStep) async -> Bool
  ) async throws(Failure) -> Bool {
    let file = batch.path.flatMap { $0.isRereadable ? $0 : nil }
    if let file { try refuseMeetings(inBatch: file, outputs) }
    var earlier = file == nil ? KeysSoFar(filesMayRepeat: false) : nil
    var bucket: String?
    while let line = try batch.next() {
      let name = Array(line.key.utf8)
      guard tally.selects(name) else {
        guard await tally.pass(name, line.source, give) else { return false }
        continue
      }
      do throws(Failure) {
        try outputs.refuse(bucket: line.bucket, besides: &bucket, at: Place(bucket: line.bucket, key: line.key))
        try earlier?.add(line.address, line.source, at: Place(bucket: line.bucket, key: line.key))
      } catch {
        guard await give(.failed(error, name: line.line)) else { return false }
        continue
      }
      var item = UploadItem(UploadInput(.file(line.source)), to: line.key)
      (item.bucket, item.region, item.contentType, item.name) = (line.bucket, line.region, line.contentType, line.line)
      if !line.metadata.isEmpty { item.metadata = line.metadata }
      // Attributes for which the line has a member of its own are not set by a glob.
      item.attributes =
        (attributes?.attributes(of: name) ?? []).filter { !line.replaces($0.name) } + line.attributes
      let status = line.source.status
      let candidate = Candidate(item, size: status.map { Int64($0.st_size) }, inode: status.map { Inode($0) })
      guard await give(.candidate(candidate)) else { return false }
    }
    return true
  }

  private func refuseMeetings(inBatch path: FilePath, _ outputs: RunOutputs) throws(Failure) {
    let meeting = try KeyMeeting.find(filesMayRepeat: false) { () throws(Failure) in
      let list = try BatchList(path)
      var bucket: String?
      return { () throws(Failure) in
        while let line = try list.next() {
          guard rules.includes(Array(line.key.utf8)) else { continue }
          try outputs.refuse(source: line.source, bucket: line.bucket, key: line.key)
          try outputs.refuse(bucket: line.bucket, besides: &bucket, at: Place(file: path.text))
          return (line.address, line.source)
        }
        return nil
      }
    }
    if let meeting { throw meeting.failure }
  }
}

/// What came first under each name, of names in no particular order. 16 bytes are kept for each.
struct FirstOfName {
  enum Standing { case new, same, other }

  private var seen: [Int: Int] = [:]

  /// The name is given as bytes: a `String` has the same hash as every other encoding of its characters.
  mutating func meet(_ name: [UInt8], _ thing: some Hashable) -> Standing {
    let (name, thing) = (name.hashValue, thing.hashValue)
    guard let first = seen[name] else {
      seen[name] = thing
      return .new
    }
    return first == thing ? .same : .other
  }
}

/// The keys of a list that cannot be read twice, such as a pipe or the tickets of a folder: of two files with the same
/// key the first is sent.
struct KeysSoFar {
  private var files = FirstOfName()
  private let filesMayRepeat: Bool

  /// `filesMayRepeat` is false if two lines about the same file can ask for different things.
  init(filesMayRepeat: Bool) {
    self.filesMayRepeat = filesMayRepeat
  }

  /// `key` may have the bucket in it; `place` names the object in messages.
  mutating func add(_ key: String, _ file: FilePath, at place: Place) throws(Failure) {
    let standing = files.meet(Array(key.utf8), file.bytes)
    guard standing == .other || standing == .same && !filesMayRepeat else { return }
    throw Failure(
      .usage, "\(SafeText.oneLine(file.text)) has the same key as an earlier file, and is left out",
      remedy: "send them under different prefixes, or rename one of them"
    ).at(place).at(Place(file: file.text))
  }
}

extension BatchItem {
  fileprivate var address: String { "s3://\(bucket)/\(key)" }

  /// Whether `mimeType` or `metadata` overrides the attribute.
  fileprivate func replaces(_ name: ObjectAttribute.Name) -> Bool {
    switch name {
    case .metadata: !metadata.isEmpty
    case .header(.contentType): contentType != nil
    case .header, .tag: false
    }
  }
}
