import MultipartBasics
import Support
import Testing

@testable import MultipartCore

@Suite(.timeLimit(.minutes(15))) struct ShardTests {
  private func refusal(_ text: String, _ environment: [String: String] = [:]) -> Failure? {
    do throws(Failure) {
      _ = try Shard(parsing: text, environment)
      return nil
    } catch {
      return error
    }
  }

  @Test("Each name is in one share, and the shares are about equal", arguments: [1, 2, 3, 8, 100])
  func shares(count: Int) throws {
    let shards = try (0..<count).map { try #require(Shard(index: $0, count: count)) }
    var sizes = [Int](repeating: 0, count: count)
    for number in 0..<5000 {
      let name = Array("folder-\(number % 7)/file-\(number).bin".utf8)
      let holders = shards.indices.filter { shards[$0].holds(name) }
      try #require(holders.count == 1)
      sizes[holders[0]] += 1
    }
    let even = 5000 / count
    #expect(sizes.allSatisfy { abs($0 - even) < even / 10 + 50 })
  }

  @Test("The share of a name never changes between versions, and is computed as its description says")
  func stable() {
    let known: [([UInt8], UInt64)] = [
      ([], 0), (Array("a".utf8), 0xB0A5_B0A9_AD52_2F0F), (Array("sub/file.bin".utf8), 0xAAA3_B3E7_3666_3577),
      ([0xFF, 0x25], 0xEB45_B062_BC69_3DA4),
    ]
    for (name, hash) in known { #expect(Shard.hash(of: name) == hash) }
    #expect(Shard(index: 8, count: 8) == nil && Shard(index: -1, count: 8) == nil && Shard(index: 0, count: 0) == nil)
  }

  @Test("Shares are counted from 1")
  func parses() throws {
    #expect(try Shard(parsing: "1/8", [:]) == Shard(index: 0, count: 8))
    #expect(try Shard(parsing: "8/8", [:]) == Shard(index: 7, count: 8))
    #expect(refusal("0/8")?.remedy?.contains("counted from 1/8 to 8/8") == true)
    #expect(refusal("9/8")?.message.contains("no share 9/8") == true)
    for text in [
      "", "/", "3", "1/0", "1/", "/8", "a/8", "1/8/2", "-1/8", "+1/8", "1 /8", "auto/", "auto/0", "Auto", "٣/٨",
      "1/1000000001", "9223372036854775807/9223372036854775807", "auto/9223372036854775807",
    ] {
      #expect(refusal(text)?.code == .usage, "\(text)")
    }
  }

  private static let whole: [(environment: [String: String], index: Int, count: Int)] = [
    (
      [
        "SLURM_ARRAY_TASK_ID": "3", "SLURM_ARRAY_TASK_MIN": "1", "SLURM_ARRAY_TASK_MAX": "8",
        "SLURM_ARRAY_TASK_COUNT": "8",
      ], 2, 8
    ),
    (
      [
        "SLURM_ARRAY_TASK_ID": "10", "SLURM_ARRAY_TASK_MIN": "4", "SLURM_ARRAY_TASK_MAX": "10",
        "SLURM_ARRAY_TASK_STEP": "3",
        "SLURM_ARRAY_TASK_COUNT": "3",
      ], 2, 3
    ),
    (["SLURM_ARRAY_TASK_ID": "5", "SLURM_ARRAY_TASK_MIN": "5", "SLURM_ARRAY_TASK_MAX": "5"], 0, 1),
    (["AWS_BATCH_JOB_ARRAY_INDEX": "0", "AWS_BATCH_JOB_ARRAY_SIZE": "4"], 0, 4),
    (["OMPI_COMM_WORLD_RANK": "3", "OMPI_COMM_WORLD_SIZE": "4"], 3, 4),
    (["PMI_RANK": "1", "PMI_SIZE": "2", "SLURM_PROCID": "0", "SLURM_STEP_NUM_TASKS": "1"], 1, 2),
    (["SLURM_PROCID": "5", "SLURM_STEP_NUM_TASKS": "6", "SLURM_NTASKS": "6"], 5, 6),
    // A batch script that has four tasks allotted, and runs once.
    (
      [
        "SLURM_ARRAY_TASK_ID": "2", "SLURM_ARRAY_TASK_MIN": "0", "SLURM_ARRAY_TASK_MAX": "2", "SLURM_PROCID": "0",
        "SLURM_NTASKS": "4",
      ], 2, 3
    ),
    // A job submitted from a step of four tasks, whose number it inherits.
    (
      [
        "SLURM_ARRAY_TASK_ID": "2", "SLURM_ARRAY_TASK_MIN": "0", "SLURM_ARRAY_TASK_MAX": "2", "SLURM_PROCID": "0",
        "SLURM_STEP_NUM_TASKS": "4", "SLURM_NTASKS": "4", "PMI_RANK": "0", "PMI_SIZE": "4",
      ], 2, 3
    ),
  ]

  @Test("A scheduler that gives both numbers is believed", arguments: whole.indices)
  func auto(index: Int) throws {
    let told = Self.whole[index]
    #expect(try Shard(parsing: "auto", told.environment) == Shard(index: told.index, count: told.count))
  }

  private static let wrong: [(environment: [String: String], word: String)] = [
    ([:], "SLURM_ARRAY_TASK_ID"),
    (["SLURM_PROCID": "0", "SLURM_NTASKS": "4"], "no scheduler"),
    (["SLURM_PROCID": "0", "SLURM_NTASKS": "1", "SLURM_STEP_NUM_TASKS": "4"], "no scheduler"),
    (["JOB_COMPLETION_INDEX": "0"], "JOB_COMPLETION_INDEX gives the index of this share, but not the number of shares"),
    (["SLURM_ARRAY_TASK_ID": "1", "SLURM_ARRAY_TASK_MIN": "0"], "SLURM_ARRAY_TASK_MAX is not set"),
    (
      ["SLURM_ARRAY_TASK_ID": "x", "SLURM_ARRAY_TASK_MIN": "0", "SLURM_ARRAY_TASK_MAX": "1"],
      "SLURM_ARRAY_TASK_ID is not a number"
    ),
    (
      [
        "SLURM_ARRAY_TASK_ID": "3", "SLURM_ARRAY_TASK_MIN": "1", "SLURM_ARRAY_TASK_MAX": "7",
        "SLURM_ARRAY_TASK_COUNT": "3",
      ],
      "not evenly spaced"
    ),
    (["SLURM_ARRAY_TASK_ID": "9", "SLURM_ARRAY_TASK_MIN": "1", "SLURM_ARRAY_TASK_MAX": "7"], "not evenly spaced"),
    (["AWS_BATCH_JOB_ARRAY_INDEX": "4", "AWS_BATCH_JOB_ARRAY_SIZE": "4"], "AWS_BATCH_JOB_ARRAY_INDEX is 4"),
    (["PMI_RANK": "1", "PMI_SIZE": "-2"], "PMI_SIZE is not a number"),
    (["PMI_RANK": "1", "PMI_SIZE": "99999999999999999999"], "PMI_SIZE is not a number"),
    (
      [
        "SLURM_ARRAY_TASK_ID": "0", "SLURM_ARRAY_TASK_MIN": "0", "SLURM_ARRAY_TASK_MAX": "9223372036854775807",
      ], "SLURM_ARRAY_TASK_MAX is not a number"
    ),
    (
      ["SLURM_ARRAY_TASK_ID": "0", "SLURM_ARRAY_TASK_MIN": "0", "SLURM_ARRAY_TASK_MAX": "1000000000"],
      "share 0 of 1000000001"
    ),
  ]

  @Test(
    "A number that a scheduler does not give, or gives wrongly, is an error that names the variable",
    arguments: wrong.indices)
  func notAuto(index: Int) {
    let failure = refusal("auto", Self.wrong[index].environment)
    #expect(failure?.code == .usage && failure?.remedy?.contains("auto/0") != true)
    #expect(failure?.message.contains(Self.wrong[index].word) == true, "\(failure.map { "\($0)" } ?? "")")
  }

  @Test(
    "With only an index, consecutive ones have each share once, wherever they begin",
    arguments: [
      ("JOB_COMPLETION_INDEX", 0), ("PBS_ARRAY_INDEX", 3), ("PBS_ARRAYID", 0), ("SGE_TASK_ID", 1), ("PARALLEL_SEQ", 1),
      ("SLURM_ARRAY_TASK_ID", 100), ("AWS_BATCH_JOB_ARRAY_INDEX", 0),
    ])
  func index(_ name: String, _ first: Int) throws {
    let shares = try (first..<(first + 8)).map { try Shard(parsing: "auto/8", [name: "\($0)"]).index }
    #expect(shares.sorted() == Array(0..<8))
    #expect(refusal("auto/8", [name: "x"])?.message.contains("\(name) is not a number") == true)
  }

  @Test("Two schedulers that disagree are an error; a word of Grid Engine's for no array is ignored")
  func several() throws {
    #expect(try Shard(parsing: "auto/4", ["SGE_TASK_ID": "undefined", "PARALLEL_SEQ": "2"]).index == 2)
    #expect(try Shard(parsing: "auto/4", ["PBS_ARRAY_INDEX": "6", "PARALLEL_SEQ": "2"]).index == 2)
    let failure = refusal("auto/4", ["PBS_ARRAY_INDEX": "1", "PARALLEL_SEQ": "2"])
    #expect(failure?.message.contains("PBS_ARRAY_INDEX and PARALLEL_SEQ") == true)
    #expect(refusal("auto/4")?.message.contains("JOB_COMPLETION_INDEX") == true)
  }
}
