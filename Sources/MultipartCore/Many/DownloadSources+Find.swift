import Glibc
import MultipartBasics

/// Finds the objects, one after another, in the order in which they are listed or named.
extension DownloadSources {
  /// What identifies a run apart from its target, so that a later run of the same sources continues it.
  var identity: [String] {
    let words: [String] =
      switch kind {
      case .below(let prefixes): ["below"] + prefixes
      case .named(let keys): ["keys"] + keys
      case .list(let path, let endsWithZero): ["list", path.text, "\(endsWithZero)"]
      case .manifest(let list): ["manifest", list.name]
      }
    let share = shard.map { "\($0.index)/\($0.count)" } ?? ""
    return words + [prefix, share] + (restoresOddNames ? ["restored"] : [])
  }

  /// Passes on what it finds, in order. `asFiles`: each object becomes a file, so that its key must be a path.
  func find(
    in store: Store, asFiles: Bool = true, _ give: @escaping @Sendable (CandidateStep<WantedObject>) async -> Bool
  ) async throws {
    let tally = SourceTally(rules, shard, to: "download", tellsExcluded: tellsExcluded)
    let counted = { @Sendable (step: CandidateStep<WantedObject>) in
      tally.count(step)
      return await give(step)
    }
    var earlier = PathsSoFar()
    switch kind {
    case .below(let prefixes):
      for prefix in prefixes {
        var inOrder = FolderMeeting()
        for try await page in store.list(prefix: prefix).pages {
          for case .object(let object) in page {
            let path = Array(object.key.utf8.dropFirst(prefix.utf8.count))
            if let skip = Self.marker(object, path) {
              guard await counted(.skipped(skip)) else { return }
              continue
            }
            let file = self.file(path)
            guard tally.selects(file) else {
              guard await tally.pass(file, FilePath(bytes: file), counted) else { return }
              continue
            }
            let name = Array(object.key.utf8.dropFirst(self.prefix.utf8.count))
            let wanted = WantedObject(key: object.key, path: file, name: name, listed: object)
            var isNew = true
            let step = step(wanted, isFile: asFiles) { () throws(Failure) in
              if let file = inOrder.add(path) { throw FolderMeeting.failure(file) }
              if prefixes.count > 1 { isNew = try earlier.isNew(wanted) }
            }
            guard isNew else { continue }
            guard await counted(step) else { return }
          }
        }
      }
    case .named(let keys):
      for key in keys {
        let name = Array(key.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).last ?? [])
        let path = keys.count == 1 ? self.name ?? file(name) : file(name)
        let wanted = WantedObject(key: key, path: path, name: Array(key.utf8.dropFirst(prefix.utf8.count)))
        guard try await tell(wanted, isFile: asFiles, tally, &earlier, counted) else { return }
      }
    case .list(let path, let endsWithZero):
      let lines = try LineReader(path, end: endsWithZero ? 0 : UInt8(ascii: "\n"), longest: S3Limits.longestKey)
      while let line = try lines.nextName() {
        guard endsWithZero || line.last != UInt8(ascii: "\r") else {
          throw lines.failure("it ends with a carriage return, as on Windows", remedy: FileList.withoutReturns)
        }
        guard let text = String(validating: line, as: UTF8.self) else {
          throw lines.failure("it is not UTF-8, as every key must be")
        }
        let wanted = WantedObject(key: prefix + text, path: file(Array(line)), name: Array(line))
        guard try await tell(wanted, isFile: asFiles, tally, &earlier, counted) else { return }
      }
    case .manifest(let list):
      while let entry = try list.next() {
        let key = list.form == .sums ? prefix + entry.key : entry.key
        guard let path = key.rest(after: prefix) else {
          let failure = Failure(
            .usage, "the manifest lists a key that is not below the prefix", remedy: "name the manifest's prefix")
          guard await counted(.failed(failure.at(Place(bucket: store.bucket, key: key)), name: nil)) else { return }
          continue
        }
        let bytes = Array(path.utf8)
        let wanted = WantedObject(key: key, path: file(bytes), name: bytes, listed: entry.listed(key), noted: entry)
        guard try await tell(wanted, isFile: asFiles, tally, &earlier, counted) else { return }
      }
    }
    let empty =
      if case .below(let prefixes) = kind {
        Failure(
          .sourceMissing,
          prefixes.count == 1 ? "there is no object below the prefix" : "there is no object below the prefixes",
          remedy: "check the bucket and the prefix, or give \(.allowsNothing) if that is intended"
        ).at(Place(bucket: store.bucket, key: prefixes.count == 1 ? prefixes[0] : nil))
      } else { BatchSources.emptyList }
    if !allowsNothing, let failure = tally.failure(ifEmpty: empty) { throw failure }
  }

  private func tell(
    _ wanted: WantedObject, isFile: Bool, _ tally: SourceTally, _ earlier: inout PathsSoFar,
    _ give: @Sendable (CandidateStep<WantedObject>) async -> Bool
  ) async throws -> Bool {
    guard tally.selects(wanted.path) else { return await tally.pass(wanted.path, FilePath(bytes: wanted.path), give) }
    var isNew = true
    let step = step(wanted, isFile: isFile) { () throws(Failure) in isNew = try earlier.isNew(wanted) }
    return isNew ? await give(step) : true
  }

  private func step(
    _ wanted: WantedObject, isFile: Bool, _ check: () throws(Failure) -> Void
  ) -> CandidateStep<WantedObject> {
    do throws(Failure) {
      if isFile { try FilePathOfKey.check(wanted.path) }
      try check()
      return .candidate(wanted)
    } catch {
      return .failed(error.at(Place(key: wanted.key)), name: wanted.name)
    }
  }

  /// The path of the file for this name in a list of keys.
  private func file(_ name: [UInt8]) -> [UInt8] {
    guard restoresOddNames else { return name }
    let slash = UInt8(ascii: "/")
    let components = name.split(separator: slash, omittingEmptySubsequences: false)
    return Array(components.map { KeyName.restored($0) ?? Array($0) }.joined(separator: [slash]))
  }

  /// The reason for skipping an empty object that consoles create for a folder.
  private static func marker(_ object: ListedObject, _ path: [UInt8]) -> SkippedSource? {
    guard object.size == 0, path.isEmpty || path.last == UInt8(ascii: "/") else { return nil }
    return SkippedSource(path: object.key, reason: .folderMarker)
  }
}

extension ManifestEntry {
  /// What is known about an entry, if it is enough to request the object at once.
  fileprivate func listed(_ key: String) -> ListedObject? {
    size.map { ListedObject(key: key, size: $0, etag: etag) }
  }
}

/// The paths of keys that come in no particular order: of two objects with the same path the first is downloaded.
private struct PathsSoFar {
  private var objects = FirstOfName()

  /// Whether the object is new; false if the same one came before. A manifest may list a key twice, but not as two
  /// different objects.
  mutating func isNew(_ wanted: WantedObject) throws(Failure) -> Bool {
    let digest = wanted.noted.map { Array($0.digest.utf8) }
    switch objects.meet(wanted.path, [Array(wanted.key.utf8), digest]) {
    case .new: return true
    case .same: return false
    case .other: break
    }
    guard wanted.noted == nil else {
      throw Failure(
        .precondition, "the manifest lists another object for the same path, or something else of this one",
        remedy: "find out which of its lines is right, and remove the other")
    }
    throw Failure(
      .precondition, "an earlier object has the same path", remedy: "download it into another folder")
  }
}
