import Foundation
import Support
import Testing

@testable import MultipartCore
@testable import s3up

/// The largest and smallest numbers from every outside source: each ends in an exit code of the contract, never in a
/// signal. Which options take numbers is read from their definitions.
@Suite(.timeLimit(.minutes(15))) struct NumberTests {
  private static let numbers = [
    "9223372036854775807", "-9223372036854775808", "18446744073709551615", "9223372036854775808", "0", "-1",
    "1000000000000000000000000000000", "1e308", "nan", "9223372036854775807T", "9223372036854775807d",
    "9223372036854775807ms", "9223372036854775807/9223372036854775807", "9223372036854775807-9223372036854775807",
    "00:00=9223372036854775807,23:59=off",
  ]
  private static let dates = [
    "0000-01-01", "9999-12-31T23:59:59Z", "9999-12-31T23:59:59-23:59", "1970-01-01T00:00:00+23:59", "99999-01-01",
  ]

  /// The words for values that are numbers; an option with a new word must be added here or to the words for texts.
  private static let ofNumbers: Set<String> = ["SIZE", "N", "RATE", "DURATION", "BYTES", "A", "B", "I"]
  private static let ofTexts: Set<String> = [
    "'NAME: VALUE'", "ACL", "ALGORITHM", "ARN", "BASE64", "BUCKET", "CLASS", "DIR", "ETAG", "FILE", "FORM", "GLOB",
    "HEX",
    "HOW", "ID", "K=V", "KEY", "KIND", "METHOD", "MODE", "NAME", "PERMISSION=TYPE=ID", "PROVIDER=FILE", "REGION",
    "STYLE",
    "TEXT", "TYPE", "URL", "WHAT", "WHEN", "WHOSE",
  ]

  struct Case: CustomTestStringConvertible, Sendable {
    let command: CommandName
    let option: FlagName
    let isDate: Bool
    var testDescription: String { "\(command.rawValue) --\(option.rawValue)" }
  }

  private static func words(of flag: Flag) -> [String] {
    (flag.metavar ?? "").split { "|/-".contains($0) }.map(String.init).filter { $0 == $0.uppercased() && $0 != "" }
  }

  private static let cases: [Case] = CommandName.allCases.flatMap { command in
    FlagList.of(command).compactMap { flag in
      let words = Set(words(of: flag))
      guard words.contains("DATE") || !words.isDisjoint(with: ofNumbers) else { return nil }
      return Case(command: command, option: flag.name, isDate: words.contains("DATE"))
    }
  }

  /// A run that is correct except for the number, and gets as far as the store.
  private func words(_ command: CommandName, _ option: FlagName, _ number: String) -> [[String]] {
    let given = "--\(option.rawValue)=\(number)"
    let key = ["s3://bucket/k"]
    let upload = ["--upload-id", "none"]
    return switch (command, option) {
    case (.put, .parts): [["put", "two-parts", "--ticket", "t.json", given]]
    case (.put, .shard):
      [["put", "two-parts", "--ticket", "t.json", given], ["put", "-r", "d", "s3://bucket/p/", given]]
    case (.put, .expectSize), (.put, .minSize), (.put, .partSize):
      [["put", "f"] + key + [given], ["put", "-"] + key + [given]]
    case (.part, .part): [["part", "f"] + key + ["--upload-id", "none", given]]
    case (.part, _): [["part", "f"] + key + upload + ["--part", "1", given]]
    case (.presign, .part): [["presign"] + key + upload + [given]]
    case (.ticket, .size), (.ticket, .maxSize): [["ticket", "issue"] + key + ["-o", "-", given]]
    case (.ticket, _): [["ticket", "issue", "--size", "6M"] + key + ["-o", "-", given]]
    case (.put, _): [["put", "f"] + key + [given]]
    case (.parts, _), (.complete, _), (.abort, _): [[command.rawValue] + key + upload + [given]]
    case (.uploads, _), (.doctor, _): [[command.rawValue, "s3://bucket", given]]
    default: [[command.rawValue] + key + [given]]
    }
  }

  private func box() async throws -> BlackBox {
    var box = try BlackBox()
    try box.files.write("hello", to: "f")
    try box.files.write("hello", to: "d/f")
    try box.sample("two-parts", 6 * mebi)
    box.environment["S3UP_RETRIES"] = "1"
    // The report of a crash takes seconds.
    box.environment["SWIFT_BACKTRACE"] = "enable=no"
    return box
  }

  private func issue(_ box: BlackBox) async throws {
    try await box.run("ticket", "issue", "--size", "6M", "--part-size", "5M", "s3://bucket/t", "-o", "t.json")
      .expectSuccess()
  }

  private static let codes: Set<Int32> = [0, 1, 64, 65, 66, 69, 73, 74, 75, 77, 78]

  private func expect(_ box: BlackBox, _ words: [String], where location: SourceLocation = #_sourceLocation)
    async throws
  {
    let result = try await box.run(words, input: words.contains("-") ? .bytes(Array("hello".utf8)) : .none)
    #expect(
      result.signal == nil && !result.timedOut && Self.codes.contains(result.status ?? -1),
      "\(words) \(box.environment): \(String(describing: result))", sourceLocation: location)
  }

  @Test("each option's value is classified as a number or a text")
  func sorted() {
    let known = Self.ofNumbers.union(Self.ofTexts).union(["DATE"])
    for flag in FlagList.all {
      let strange = Self.words(of: flag).filter { !known.contains($0) }
      #expect(strange.isEmpty, "\(flag.long) \(strange)")
    }
    #expect(Self.cases.count > 40)
  }

  @Test("an option's number never ends the process", arguments: cases)
  func ofOptions(_ given: Case) async throws {
    let box = try await box()
    if [.parts, .shard].contains(given.option) { try await issue(box) }
    for number in given.isDate ? Self.dates + ["9223372036854775807", "-1"] : Self.numbers {
      for words in words(given.command, given.option, number) { try await expect(box, words) }
    }
  }

  private static let most = "9223372036854775807"
  private static let schedulers: [[String: String]] = [
    ["SLURM_ARRAY_TASK_ID": most, "SLURM_ARRAY_TASK_MIN": most, "SLURM_ARRAY_TASK_MAX": most],
    ["SLURM_ARRAY_TASK_ID": "0", "SLURM_ARRAY_TASK_MIN": "0", "SLURM_ARRAY_TASK_MAX": most],
    ["SLURM_ARRAY_TASK_ID": most, "SLURM_ARRAY_TASK_MIN": "0", "SLURM_ARRAY_TASK_MAX": most],
    [
      "SLURM_ARRAY_TASK_ID": "0", "SLURM_ARRAY_TASK_MIN": "0", "SLURM_ARRAY_TASK_MAX": most,
      "SLURM_ARRAY_TASK_STEP": most, "SLURM_ARRAY_TASK_COUNT": most,
    ],
    ["SLURM_ARRAY_TASK_ID": "-9223372036854775808", "SLURM_ARRAY_TASK_MIN": "-9223372036854775808"],
    ["AWS_BATCH_JOB_ARRAY_INDEX": "9223372036854775806", "AWS_BATCH_JOB_ARRAY_SIZE": most],
    ["OMPI_COMM_WORLD_RANK": "9223372036854775806", "OMPI_COMM_WORLD_SIZE": most],
    ["PMI_RANK": "9223372036854775806", "PMI_SIZE": most],
    ["SLURM_PROCID": "9223372036854775806", "SLURM_STEP_NUM_TASKS": most, "SLURM_NTASKS": most],
    ["JOB_COMPLETION_INDEX": most], ["PBS_ARRAY_INDEX": most], ["SGE_TASK_ID": most], ["PARALLEL_SEQ": most],
    ["JOB_COMPLETION_INDEX": "-1"], ["JOB_COMPLETION_INDEX": "1e308"],
  ]

  @Test("a scheduler's number never ends the process", arguments: schedulers.indices)
  func ofSchedulers(_ index: Int) async throws {
    var box = try await box()
    try await issue(box)
    box.environment.merge(Self.schedulers[index]) { $1 }
    for shard in ["auto", "auto/8", "auto/\(Self.most)"] {
      try await expect(box, ["put", "two-parts", "--ticket", "t.json", "--shard", shard])
      try await expect(box, ["put", "-r", "d", "s3://bucket/p/", "--shard", shard])
    }
  }

  @Test(
    "a variable's number never ends the process",
    arguments: [
      "AWS_MAX_ATTEMPTS", "AWS_METADATA_SERVICE_TIMEOUT", "AWS_METADATA_SERVICE_NUM_ATTEMPTS", "COLUMNS",
      "S3UP_VERBOSE", "S3UP_JSON", "AWS_USE_FIPS_ENDPOINT",
    ])
  func variables(_ name: String) async throws {
    var box = try await box()
    if name.hasPrefix("AWS_METADATA") {
      box.environment = box.environment.filter { !$0.key.hasPrefix("AWS_ACCESS") && !$0.key.hasPrefix("AWS_SECRET") }
      box.environment["AWS_EC2_METADATA_DISABLED"] = "false"
      box.environment["AWS_EC2_METADATA_SERVICE_ENDPOINT"] = "http://127.0.0.1:1"
    }
    for number in Self.numbers {
      box.environment[name] = number
      try await expect(box, ["put", "f", "s3://bucket/k"])
    }
  }

  @Test(
    "a number in a ticket never ends the process",
    arguments: ["\"s3up_ticket\":1", "\"size\":6291456", "\"part_size\":5242880", "\"part\":1", "\"after\":0"])
  func tickets(_ field: String) async throws {
    let box = try await box()
    try await issue(box)
    let text = String(decoding: try box.files.read("t.json"), as: UTF8.self)
    let name = field.prefix { $0 != ":" }
    try #require(text.contains(field), "\(text)")
    for number in Self.numbers {
      for named in [String(name), "\"max_size\""] where named == name || name == "\"size\"" {
        try box.files.write(text.replacing(field, with: "\(named):\(number)"), to: "changed.json")
        try await expect(box, ["put", "two-parts", "--ticket", "changed.json"])
        try await expect(box, ["ticket", "show", "changed.json"])
      }
    }
  }

  @Test("a number in a line of a batch or of a list of parts never ends the process")
  func lines() async throws {
    let box = try await box()
    for number in Self.numbers {
      try box.files.write(
        """
        {"localUri": "f", "bucket": "bucket", "key": "k", "metadata": {"a": \(number)}}
        {"localUri": \(number), "bucket": \(number), "key": \(number), "region": \(number), "mimeType": \(number)}

        """, to: "b.jsonl")
      try await expect(box, ["put", "--batch", "b.jsonl"])
      for line in ["\(number) \"e\"", "1 \(number) \"e\"", "{\"part\":\(number),\"size\":\(number),\"etag\":\"e\"}"] {
        try box.files.write(line + "\n", to: "parts")
        try await expect(box, ["complete", "s3://bucket/k", "--upload-id", "none", "--parts-file", "parts"])
      }
      try box.files.write("\(number) 1B2M2Y8AsgTpgAmY7PhCfg==\n", to: "md5s")
      try await expect(
        box,
        ["presign", "s3://bucket/k", "--upload-id", "none", "--part", "1", "--content-md5-file", "md5s"])
    }
  }

  @Test("a number in a record of the state folder never ends the process")
  func records() async throws {
    var box = try await box()
    let state = box.files.path("state")
    box.environment["S3UP_STATE_DIR"] = state
    let target = RecordTarget(origin: box.fake.endpoint, bucket: "bucket", key: "k")
    var source = FileIdentity.none
    source.size = 5
    let header = UploadRecord.Header(
      target: target, sourcePath: FilePath(box.files.path("f")), source: source, uploadID: "none", partSize: 8 << 20,
      form: .md5, optionsDigest: String(repeating: "ab", count: 32), created: Timestamp(seconds: 0))
    let plain = RecordText.words(header)
    let opening = RecordLine.write(["s3up", "record", "2"].map { Array($0.utf8) }).bytes
    // The positions of the numbers: the file's identity, the part's size, the time.
    for place in [5, 6, 7, 8, 9, 10, 11, 13, 16] {
      for number in Self.numbers.prefix(8) {
        var words = plain
        words[place] = Array(number.utf8)
        let (line, seed) = RecordLine.write(words)
        var bytes = opening + line
        for part in [["1", number], ["2", number], [number, "5"]] {
          bytes += RecordLine.write((["part"] + part + ["\"e\"", "-"]).map { Array($0.utf8) }, seed: seed).bytes
        }
        let path = try box.files.write(bytes, to: "state/uploads/\(target.name()).record")
        for (file, mode) in [(path, 0o600), (state + "/uploads", 0o700), (state, 0o700)] { chmod(file, mode_t(mode)) }
        try await expect(box, ["uploads"])
        try await expect(box, ["uploads", "--json", "--older-than", "3650d"])
        try await expect(box, ["put", "f", "s3://bucket/k"])
      }
    }
  }

  @Test(
    "files that claim to have more bytes together than 64 bits count are refused one by one", .enabled(if: hasLongFiles)
  )
  func longFiles() async throws {
    let box = try await box()
    let folder = "/dev/shm/s3up-long-\(getpid())"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    for name in ["a", "b", "c"] { #expect(Self.makeLong(folder + "/" + name)) }
    for options in [["--dry-run"], []] {
      let result = try await box.run(["put", "-r", folder, "s3://bucket/p/"] + options)
      #expect(result.status == 64 && result.errors.contains("more than an object can hold"), "\(result)")
    }
  }

  private static func makeLong(_ path: String) -> Bool {
    let file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
    defer { if file >= 0 { close(file) } }
    return file >= 0 && ftruncate(file, 7 << 60) == 0
  }

  private static let hasLongFiles: Bool = {
    let path = "/dev/shm/s3up-probe-\(getpid())"
    defer { unlink(path) }
    return makeLong(path)
  }()

  @Test("a limit below 1 KiB a second is said to be one, unless -q is given; others are not")
  func slow() async throws {
    let box = try await box()
    let put = ["put", "empty", "s3://bucket/k"]
    try box.files.write([UInt8](), to: "empty")
    let line = "s3up: --limit-rate 20 is 20 bytes a second; 20M is 20 MiB a second\n"
    let told = try await box.run(put + ["--limit-rate", "20"])
    #expect(told.status == 0 && told.errors == line, "\(told.errors)")
    for words in [["--limit-rate", "20", "-q"], ["--limit-rate", "20K"]] {
      try await box.run(put + words).expectSuccess()
    }
    try await box.run(put + ["--limit-rate", "1.5M"]).expectFailure(64, "not a rate", "whole: 1536K, not 1.5M")
  }

  @Test("what --part-size 8, 8Mb and 8kB meant is suggested, and nothing is guessed")
  func sizes() async throws {
    let box = try await box()
    try await box.run("put", "f", "s3://bucket/k", "--part-size", "8").expectFailure(64, "did you mean 8M?")
    for size in ["8Mb", "8kB", "8mB", "8Kb", "8b"] {
      try await box.run("put", "f", "s3://bucket/k", "--part-size", size)
        .expectFailure(64, "'\(size)' is not a size", "Mb would be bits")
    }
    #expect(box.fake.objectCount == 0)
  }

  @Test("a missing bundle of certificates is named before any request")
  func bundle() async throws {
    var box = try await box()
    try await box.run("put", "f", "s3://bucket/k", "--ca-bundle", "gone.pem")
      .expectFailure(78, "--ca-bundle cannot be read from gone.pem: No such file or directory")
    box.environment["AWS_CA_BUNDLE"] = "gone.pem"
    try await box.run("put", "f", "s3://bucket/k").expectFailure(78, "AWS_CA_BUNDLE cannot be read from gone.pem")
    #expect(box.fake.requests(.putObject).isEmpty)
    // Nothing is verified, so the bundle is not read.
    #expect(try await box.run("put", "f", "s3://bucket/k", "--insecure").status == 0)
  }
}
