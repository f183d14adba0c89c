import MultipartBasics
@testable import MultipartCore

/// The SplitMix64 generator: the same seed gives the same numbers.
struct SimDice {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func word() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }

  mutating func unit() -> Double { Double(word() >> 11) * 0x1p-53 }
  mutating func chance(_ probability: Double) -> Bool { unit() < probability }
  mutating func below(_ count: Int) -> Int { Int(truncatingIfNeeded: word() % UInt64(max(1, count))) }
}

extension Duration {
  /// The duration in the simulator's milliseconds, rounded up.
  var simulated: Int { Int(components.seconds) * 1000 + Int(components.attoseconds / 1_000_000_000_000_000) + 1 }
}

/// A source: each of its parts has its own content, and two sources share only the parts at their beginning.
struct SimFile: Equatable {
  static let garbage = 1

  var version: Int
  var parts: Int
  var tail: Int64
  /// The number of leading parts that are those of another version, if a file has grown.
  var shared = 0
  var base = 0
  var isStream = false
  var partSize: Int64 = 5 << 20

  func content(_ number: Int) -> Int { (number <= shared ? base : version) << 16 | number }
  func size(_ number: Int) -> Int64 { number == parts ? tail : partSize }
  var size: Int64 { Int64(parts - 1) * partSize + tail }
}

final class SimUpload {
  let id: String
  let form: ChecksumForm
  /// The content of each part, by number minus one; 0 means that the part is missing.
  var contents: [Int] = []
  var sizes: [Int64] = []
  /// Why the upload need not be aborted: it was reported, or cannot be known.
  var excuse: String?
  let begun: Int
  /// When it was begun, or when something was last sent to it.
  var lastSent: Int
  /// Set if the upload belongs to another client, which has nothing to do with this program.
  var stranger: SimStranger?

  init(id: String, form: ChecksumForm, at now: Int) {
    self.id = id
    self.form = form
    begun = now
    lastSent = now
  }

  func put(_ number: Int, _ content: Int, _ size: Int64, at now: Int) {
    lastSent = max(lastSent, now)
    while contents.count < number {
      contents.append(0)
      sizes.append(0)
    }
    contents[number - 1] = content
    sizes[number - 1] = size
  }
}

struct SimObject {
  var contents: [Int]
  var size: Int64
  /// For an object of parts, when its upload was begun, as on S3.
  var modified: Int
  /// Whether it has the metadata and other settings that the runs request.
  var isAsAsked = true

  /// Whether it is every part of the source, in order, and nothing else.
  func isExactly(_ file: SimFile) -> Bool {
    guard contents.count == file.parts, size == file.size else { return false }
    for number in 1...file.parts where contents[number - 1] != file.content(number) { return false }
    return true
  }
}

/// How a store treats checksums.
enum SimStoreKind: Int, CaseIterable {
  /// Verifies and returns them, which is proof; most stores in the tests must be of this kind.
  case full
  /// Accepts checksums and returns none: in the end only sizes can be compared.
  case silent
  /// Refuses the algorithm when the upload is created, or only for a part; or MD5 too.
  case refusesAtCreate, refusesAtPart, refusesAll

  var proves: Bool { self == .full }
}

/// A request that the store processes after the client gave up its answer.
enum SimLate {
  case part(upload: String, number: Int, content: Int, size: Int64)
  case complete(upload: String, contents: [Int], file: SimFile, run: SimRun)
}

final class SimStore {
  let kind: SimStoreKind
  /// Whether the store ignores an object's requested settings.
  var dropsOptions = false
  var uploads: [SimUpload] = []
  var object: SimObject?
  var late: [SimLate] = []
  /// Whether the list contains the time when a part arrived.
  var givesMoments = true
  private var created = 0

  init(kind: SimStoreKind) { self.kind = kind }

  func create(_ form: ChecksumForm, at now: Int) -> SimUpload {
    created += 1
    let upload = SimUpload(id: "u\(created)", form: form, at: now)
    uploads.append(upload)
    return upload
  }

  func upload(_ id: String) -> SimUpload? {
    for upload in uploads where upload.id == id { return upload }
    return nil
  }

  func remove(_ id: String) { uploads.removeAll { $0.id == id } }

  /// Assembles the object. False if a named part is not the stored one.
  func complete(_ upload: SimUpload, _ contents: [Int]) -> Bool {
    guard !contents.isEmpty, contents.count <= upload.contents.count else { return false }
    var size: Int64 = 0
    for index in contents.indices {
      guard contents[index] != 0, upload.contents[index] == contents[index] else { return false }
      size += upload.sizes[index]
    }
    object = SimObject(contents: contents, size: size, modified: upload.begun)
    remove(upload.id)
    return true
  }

  func land(_ request: SimLate, at now: Int) {
    switch request {
    case .part(let id, let number, let content, let size): upload(id)?.put(number, content, size, at: now)
    case .complete(let id, let contents, let file, let run):
      guard let upload = upload(id), complete(upload, contents) else { return }
      if object?.isExactly(file) == true { run.hasPublished = true }
    }
  }
}

/// What a run has recorded for the next one.
struct SimRecord {
  var uploadID: String
  var version: Int
  var form: ChecksumForm
  var begun: Int
  /// Contents by part number less one, and the order in which they were appended.
  var parts: [Int: Int] = [:]
  var order: [Int] = []

  mutating func append(_ number: Int, _ content: Int) {
    parts[number] = content
    order.append(number)
  }

  /// Loses the last lines, which were not on the disk yet.
  mutating func lose(_ count: Int) {
    for _ in 0..<min(count, order.count) { parts[order.removeLast()] = nil }
  }
}

/// A machine with its file and its state folder.
final class SimHost {
  let name: String
  var file: SimFile
  var record: SimRecord?
  var diskWorks = true
  var versions: Int

  init(name: String, file: SimFile) {
    self.name = name
    self.file = file
    versions = file.version * 16
  }

  func rewrite() {
    versions += 1
    file.version = versions
    file.shared = 0
  }
}

/// Counts over many plays.
struct SimTally: Sendable {
  var plays = 0, runs = 0, events = 0, sends = 0
  var ends: [String: Int] = [:]
  var faults: [String: Int] = [:]
  var seen: [String: Int] = [:]
  var mistakes: [String] = []

  mutating func add(_ other: SimTally) {
    plays += other.plays
    runs += other.runs
    events += other.events
    sends += other.sends
    ends.merge(other.ends, uniquingKeysWith: +)
    faults.merge(other.faults, uniquingKeysWith: +)
    seen.merge(other.seen, uniquingKeysWith: +)
    mistakes += other.mistakes
  }
}
