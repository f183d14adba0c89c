import Glibc
import MultipartBasics
import MultipartCore

/// Reports a run to the runner of a CI job: failures as annotations, and at the end a table and values for later steps.
final class JobReport: Sendable {
  /// An object that the store now has.
  struct Row: Sendable {
    var source: String
    var bucket: String
    var key: String
    var object: UploadedObject

    var url: String { "s3://\(bucket)/\(key)" }
  }

  private struct State: Sendable {
    var rows: [Row] = []
    var count = 0
    var bytes: Int64 = 0
    var marks = 0
    var isFolded = false
    var isWritten = false
  }

  /// GitHub shows ten annotations of a step, and accepts 1 MiB for its page.
  private static let mostMarks = 10
  private static let mostRows = 200

  private let runner: JobRunner?
  private let dotenv: ReportFile?
  private let state = Locked(State())

  /// Nil if there is nothing to write to.
  init?(_ runner: JobRunner?, dotenv: ReportFile?) {
    guard runner != nil || dotenv != nil else { return nil }
    (self.runner, self.dotenv) = (runner, dotenv)
  }

  /// Adds an object, unless this run left it alone or only began it.
  func add(_ row: Row) {
    guard row.object.outcome == .completed || row.object.outcome == .unchanged else { return }
    state.withLock { state in
      state.count += 1
      state.bytes = state.bytes.plus(row.object.size)
      if state.rows.count < Self.mostRows { state.rows.append(row) }
    }
  }

  func mark(_ failure: Failure, _ lines: [String]) -> String? {
    let isShown = state.withLock { state in
      state.marks += 1
      return state.marks <= Self.mostMarks
    }
    return isShown ? runner?.mark(failure, lines) : nil
  }

  /// The line after which the lines of a batch are folded.
  func fold(_ title: String, _ now: Timestamp) -> String? {
    guard let line = runner?.begins(title, at: now) else { return nil }
    return state.withLock { state in
      defer { state.isFolded = true }
      return state.isFolded ? nil : line
    }
  }

  func unfold(_ now: Timestamp) -> String? {
    state.withLock { state in
      defer { state.isFolded = false }
      return state.isFolded ? runner?.ends(at: now) : nil
    }
  }

  /// Writes the report, after the result; only the first call does. A file of the runner that cannot be written costs a
  /// line, but never fails the run; throws if that of `--dotenv` cannot be written.
  func write(_ session: Session) throws(Failure) {
    let (state, isFirst) = state.withLock { state in
      defer { state.isWritten = true }
      return (state, !state.isWritten)
    }
    guard isFirst else { return }
    guard let first = state.rows.first else {
      // Later jobs must not take the values of an earlier run for those of this one.
      _ = dotenv?.withdraw()
      return
    }
    let values = state.count == 1 ? Self.values(first) : []
    append(Self.table(state.rows, state.count, state.bytes), to: runner?.summary, session)
    append(values.map { Self.output($0.name, $0.value) }.joined(), to: runner?.outputs, session)
    let variables = values.compactMap { Self.variable($0.name, $0.value) }.joined()
    do throws(Failure) {
      try dotenv?.write { (put) throws(Failure) in try put(Array(variables.utf8)) }
    } catch {
      var error = error
      error.message += "; the run itself succeeded"
      throw error
    }
  }

  private func append(_ text: String, to file: FilePath?, _ session: Session) {
    guard let file, !text.isEmpty else { return }
    let descriptor = file.withCString { open($0, O_WRONLY | O_CREAT | O_CLOEXEC | O_APPEND, 0o666) }
    var error = descriptor < 0 ? errno : 0
    if descriptor >= 0 {
      error = WholeWrite.write(Array(text.utf8), to: descriptor)
      if close(descriptor) != 0, error == 0 { error = errno }
    }
    guard error != 0 else { return }
    session.console.line("s3up: \(SafeText.oneLine(file.text)) cannot be written: \(String(cString: strerror(error)))")
  }

  private static let names = ["etag", "version-id", "url", "key"]

  private static func values(_ row: Row) -> [(name: String, value: String)] {
    let values = [row.object.etag ?? "", row.object.versionID ?? "", row.url, row.key]
    return zip(names, values).map { ($0, $1) }.filter { !$0.1.isEmpty }
  }

  /// A value of several lines, with an unpredictable delimiter, so that the value cannot contain it.
  private static func output(_ name: String, _ value: String) -> String {
    let bytes = (0..<16).map { _ in UInt8.random(in: .min ... .max) }
    let end = "s3up-" + Hex.encode(bytes)
    return "\(name)<<\(end)\n\(value)\n\(end)\n"
  }

  /// Whether the line is one of a dotenv file that an earlier run has written.
  static func isVariable(_ line: ArraySlice<UInt8>) -> Bool {
    names.contains { line.starts(with: (inFile($0) + "=").utf8) }
  }

  /// The name in a dotenv file.
  private static func inFile(_ name: String) -> String {
    let words = name.utf8.map { $0 == UInt8(ascii: "-") ? UInt8(ascii: "_") : $0 }
    return "S3_" + String(decoding: words, as: UTF8.self).uppercased()
  }

  /// A line of a dotenv file, which cannot express a line break: a value that contains one is nil.
  private static func variable(_ name: String, _ value: String) -> String? {
    guard value.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else { return nil }
    return "\(inFile(name))=\(value)\n"
  }

  private static func table(_ rows: [Row], _ count: Int, _ bytes: Int64) -> String {
    let files = count == 1 ? "" : "\(Human.count(count, "object")), \(Human.size(bytes))\n\n"
    let lines = rows.map { row in
      let sum = row.object.checksum.map { "\($0.name) \($0.value)" } ?? row.object.etag ?? ""
      return "| " + [row.source, row.url, Human.size(row.object.size), sum].map(cell).joined(separator: " | ") + " |\n"
    }
    let more = count > rows.count ? "\nand \(count - rows.count) more\n" : ""
    let head = "| file | object | size | checksum |\n| --- | --- | ---: | --- |\n"
    return "### s3up\n\n\(files)\(head)\(lines.joined())\(more)\n"
  }

  private static func cell(_ text: String) -> String { Escaped.markdown(SafeText.oneLine(text, limit: 300)) }
}
