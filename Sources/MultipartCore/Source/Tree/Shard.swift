internal import CKernels
import MultipartBasics

/// One machine's share of many files, selected by a hash of their names. Machines that agree on the number of shares
/// need nothing else to send each file exactly once, in any order.
///
/// The share of a name is part of the format, because runs of different versions must agree on it: the CRC64NVME of the
/// bytes of the object's name below the prefix, before anything in it is escaped, then the finalizer of SplitMix64 (`z
/// ^= z >> 30; z *= 0xBF58476D1CE4E5B9; z ^= z >> 27; z *= 0x94D049BB133111EB; z ^= z >> 31`), modulo the number of
/// shares.
public struct Shard: Sendable, Equatable {
  /// The index, from 0.
  public let index: Int
  /// How many shares there are.
  public let count: Int

  /// The largest number of shares: a thousand times more than any cluster has machines, and small enough to be
  /// multiplied by a number of parts.
  static let most = 1_000_000_000

  /// A share counted from 1: the third of eight is `Shard(3, of: 8)`. Nil if there is no such share.
  public init?(_ number: Int, of count: Int) {
    guard number > 0 else { return nil }
    self.init(index: number - 1, count: count)
  }

  init?(index: Int, count: Int) {
    guard (1...Self.most).contains(count), (0..<count).contains(index) else { return nil }
    (self.index, self.count) = (index, count)
  }

  func holds(_ name: [UInt8]) -> Bool {
    Self.hash(of: name) % UInt64(count) == UInt64(index)
  }

  static func hash(of name: some Collection<UInt8>) -> UInt64 {
    let name = Array(name)
    var z = ck_crc64nvme(0, name, name.count)
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }

  /// Parses a share. `3/8` is the third of eight. With `auto` both numbers come from the scheduler, with `auto/8` only
  /// the index.
  public init(parsing text: String, _ environment: [String: String]) throws(Failure) {
    let parts = text.pieces(at: "/")
    if text == "auto" {
      self = try ScheduledShard(environment).whole()
    } else if parts.count == 2, let count = Self.number(parts[1]), count > 0 {
      if parts[0] == "auto" {
        self = try ScheduledShard(environment).index(of: count)
        return
      }
      guard let number = Self.number(parts[0]), let shard = Shard(index: number - 1, count: count) else {
        throw Failure(
          .usage, "there is no share \(text)",
          remedy: "the shares of \(count) are counted from 1/\(count) to \(count)/\(count)")
      }
      self = shard
    } else {
      throw Failure(
        .usage, "\(text) is not a share",
        remedy: "a share is I/N, such as 1/8 for the first of eight, auto, or auto/N; N is at most \(Self.most)")
    }
  }

  static func number(_ text: some StringProtocol) -> Int? { Int(text, in: 0...most) }
}

/// The share that a scheduler assigns to a process.
struct ScheduledShard {
  private let environment: [String: String]

  init(_ environment: [String: String]) {
    self.environment = environment
  }

  /// Array jobs that set both numbers: the names of the index, counted from 0, and of the count.
  private static let arrays = [("AWS_BATCH_JOB_ARRAY_INDEX", "AWS_BATCH_JOB_ARRAY_SIZE")]
  /// SLURM_NTASKS is missing: a batch script that is allotted four tasks has it too, and yet runs once.
  private static let ranks = [
    ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"), ("PMI_RANK", "PMI_SIZE"),
    (slurmRank, "SLURM_STEP_NUM_TASKS"),
  ]
  /// Variables that set an index: Kubernetes counts it from 0, PBS as the job says, Grid Engine and GNU parallel from
  /// 1.
  private static let indexes = [
    "JOB_COMPLETION_INDEX", "PBS_ARRAY_INDEX", "PBS_ARRAYID", "SGE_TASK_ID", "PARALLEL_SEQ",
  ]
  private static let slurm = "SLURM_ARRAY_TASK_ID"

  /// The share of an array's task, else that of a rank. In an array no rank counts: a job inherits the variables of the
  /// step that it was submitted from, and files of ranks that do not run would not be sent. Ranks that do run in an
  /// array's task send the same files, which does no harm.
  func whole() throws(Failure) -> Shard {
    let slurm = try slurmArray
    var found = if let slurm { slurm } else { try pair(in: Self.arrays) }
    if found == nil { found = try pair(in: Self.ranks.filter { $0.0 != Self.slurmRank || isStep }) }
    guard let found else {
      let known = Self.indexes.first { environment[$0] != nil }
      throw Failure(
        .usage,
        known.map { "\($0) gives the index of this share, but not the number of shares" }
          ?? "no scheduler gives the index of this share: none of \(Self.names) is set",
        remedy: known == nil ? "give I/N, such as 1/8 for the first of eight" : "give auto/N with the number of tasks")
    }
    guard let shard = Shard(index: found.index, count: found.count) else {
      throw Failure(.usage, "the scheduler gives share \(found.index) of \(found.count), which does not exist")
    }
    return shard
  }

  private static let slurmRank = "SLURM_PROCID"

  /// Whether this is a Slurm step, for which both numbers of tasks are set. A batch script has a SLURM_PROCID too, and
  /// may have inherited the number of the step that it was submitted from.
  private var isStep: Bool {
    environment["SLURM_NTASKS"] != nil && environment["SLURM_NTASKS"] == environment["SLURM_STEP_NUM_TASKS"]
  }

  private static var names: String {
    ([slurm] + (arrays + ranks).map(\.0)).joined(separator: ", ")
  }

  /// The scheduler's index modulo `count`: a range of that many consecutive indexes, wherever it begins, contains each
  /// share once.
  func index(of count: Int) throws(Failure) -> Shard {
    var found: (name: String, index: Int)?
    for name in Self.indexes + [Self.slurm] + Self.arrays.map(\.0) {
      // Grid Engine sets it to a word outside of an array.
      guard let text = environment[name], text != "undefined" else { continue }
      let index = try number(name) % count
      if let found, found.index != index {
        throw Failure(
          .usage, "\(found.name) and \(name) give different shares of \(count)",
          remedy: "give I/\(count), such as 1/\(count) for the first")
      }
      found = (name, index)
    }
    guard let found, let shard = Shard(index: found.index, count: count) else {
      throw Failure(
        .usage,
        "no scheduler gives the index of this share of \(count): none of "
          + "\((Self.indexes + [Self.slurm] + Self.arrays.map(\.0)).joined(separator: ", ")) is set",
        remedy: "give I/\(count), such as 1/\(count) for the first")
    }
    return shard
  }

  /// The index and count of a Slurm array, which may begin anywhere and have a step.
  private var slurmArray: (index: Int, count: Int)? {
    get throws(Failure) {
      guard environment[Self.slurm] != nil else { return nil }
      let task = try number(Self.slurm)
      let (first, last) = (try number("SLURM_ARRAY_TASK_MIN"), try number("SLURM_ARRAY_TASK_MAX"))
      let step = environment["SLURM_ARRAY_TASK_STEP"] == nil ? 1 : try number("SLURM_ARRAY_TASK_STEP")
      let told = environment["SLURM_ARRAY_TASK_COUNT"] == nil ? nil : try number("SLURM_ARRAY_TASK_COUNT")
      guard step > 0, first <= task, task <= last, (task - first) % step == 0, (last - first) % step == 0,
        case let count = (last - first) / step + 1, told == nil || told == count
      else {
        throw Failure(
          .usage,
          "the indexes of the Slurm array are not evenly spaced: SLURM_ARRAY_TASK_COUNT does not fit "
            + "SLURM_ARRAY_TASK_MIN, _MAX and _STEP",
          remedy: "give auto/N, where N consecutive indexes contain each share once")
      }
      return ((task - first) / step, count)
    }
  }

  private func pair(in pairs: [(String, String)]) throws(Failure) -> (index: Int, count: Int)? {
    for (name, countName) in pairs where environment[name] != nil && environment[countName] != nil {
      let (index, count) = (try number(name), try number(countName))
      guard index < count else { throw Failure(.usage, "\(name) is \(index), and \(countName) is \(count)") }
      return (index, count)
    }
    return nil
  }

  private func number(_ name: String) throws(Failure) -> Int {
    guard let text = environment[name] else { throw Failure(.usage, "\(name) is not set") }
    guard let number = Shard.number(text) else {
      throw Failure(.usage, "\(name) is not a number from 0 to \(Shard.most): \(SafeText.oneLine(text, limit: 40))")
    }
    return number
  }
}
