import MultipartBasics

/// Two sources that would become the same object.
struct KeyMeeting: Sendable {
  let key: String
  let first: FilePath
  let second: FilePath

  var failure: Failure {
    Failure(
      .usage, "\(SafeText.oneLine(first.text)) and \(SafeText.oneLine(second.text)) have the same key",
      remedy: "send them under different prefixes, or rename one of them"
    ).at(Place(key: key))
  }

  /// Finds such sources among files by name and trees. Trees come in the order of their keys, so only one file of each
  /// is held at a time. Files that cannot be read or named are left to the upload.
  static func find(
    files: [(name: [UInt8], file: FilePath)] = [], trees: [TreeWalk] = [], _ naming: KeyName
  ) -> KeyMeeting? {
    let listed = files.compactMap { Head($0.name, naming, .listed($0.file)) }.sorted { $0.precedes($1) }
    var merge = Merge(listed: listed, trees: trees, naming)
    var last: Head?
    while let head = merge.next() {
      if let last, last.key == head.key {
        return KeyMeeting(key: String(decoding: head.key, as: UTF8.self), first: last.display, second: head.display)
      }
      last = head
    }
    return nil
  }

  /// Finds such sources among the entries of a list, which is opened again if two hashes of keys are equal. Eight bytes
  /// are kept for each entry. With `filesMayRepeat` a file may be named twice.
  static func find(
    filesMayRepeat: Bool, inList open: () throws(Failure) -> (() throws(Failure) -> (key: String, file: FilePath)?)
  ) throws(Failure) -> KeyMeeting? {
    var hashes: [UInt64] = []
    let next = try open()
    while let entry = try next() { hashes.append(Shard.hash(of: entry.key.utf8)) }
    hashes.sort()
    var doubles: Set<UInt64> = []
    for (a, b) in zip(hashes, hashes.dropFirst()) where a == b { doubles.insert(a) }
    guard !doubles.isEmpty else { return nil }
    hashes = []
    var seen: [[UInt8]: FilePath] = [:]
    let again = try open()
    while let entry = try again() {
      let key = Array(entry.key.utf8)
      guard doubles.contains(Shard.hash(of: key)) else { continue }
      if let first = seen.updateValue(entry.file, forKey: key), !filesMayRepeat || first != entry.file {
        return KeyMeeting(key: entry.key, first: first, second: entry.file)
      }
    }
    return nil
  }
}

/// The next file of a source.
private struct Head {
  enum Source {
    case listed(FilePath)
    case tree(TreeFile, Int)
  }

  let key: [UInt8]
  let source: Source

  init?(_ name: [UInt8], _ naming: KeyName, _ source: Source) {
    guard let key = try? naming.key(of: name, FilePath(bytes: name)) else { return nil }
    self.key = Array(key.utf8)
    self.source = source
  }

  var display: FilePath {
    switch source {
    case .listed(let file): file
    case .tree(let file, _): file.display
    }
  }

  func precedes(_ other: Head) -> Bool { key.lexicographicallyPrecedes(other.key) }
}

/// The files of all sources in the order of their keys: a heap of each source's next file.
private struct Merge {
  private var listed: ArraySlice<Head>
  private let trees: [TreeWalk]
  private let naming: KeyName
  private var heap: [Head] = []

  init(listed: [Head], trees: [TreeWalk], _ naming: KeyName) {
    self.listed = listed[...]
    self.trees = trees
    self.naming = naming
    if let head = self.listed.popFirst() { insert(head) }
    for tree in trees.indices { advance(tree) }
  }

  mutating func next() -> Head? {
    guard let first = heap.first else { return nil }
    let last = heap.removeLast()
    if !heap.isEmpty {
      heap[0] = last
      sink()
    }
    switch first.source {
    case .listed: if let head = listed.popFirst() { insert(head) }
    case .tree(_, let tree): advance(tree)
    }
    return first
  }

  private mutating func advance(_ tree: Int) {
    while let finding = trees[tree].next() {
      if case .file(let file) = finding, let head = Head(file.path, naming, .tree(file, tree)) { return insert(head) }
    }
  }

  private mutating func insert(_ head: Head) {
    heap.append(head)
    var at = heap.count - 1
    while at > 0, heap[at].precedes(heap[(at - 1) / 2]) {
      heap.swapAt(at, (at - 1) / 2)
      at = (at - 1) / 2
    }
  }

  private mutating func sink() {
    var at = 0
    while case let child = 2 * at + 1, child < heap.count {
      let right = child + 1
      let least = right < heap.count && heap[right].precedes(heap[child]) ? right : child
      guard heap[least].precedes(heap[at]) else { return }
      heap.swapAt(at, least)
      at = least
    }
  }
}
