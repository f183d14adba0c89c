import MultipartBasics
import Testing

@testable import MultipartCore
@testable import s3up

/// The progress display of a run of many files.
@Suite(.timeLimit(.minutes(15))) struct ManyProgressTests {
  /// The progress of fifty files of 1 MiB, of which the first ones have arrived, after this many seconds.
  private func progress(
    running: Int = 0, seconds: Int = 4, foundAll: Bool = true, _ change: (inout BatchState) -> Void = { _ in }
  ) -> ManyProgress {
    var progress = ManyProgress()
    for second in 0...seconds {
      var batch = BatchState()
      (batch.found, batch.foundBytes, batch.foundAll) = (50, 50 << 20, foundAll)
      batch.summary.uploaded = 3 * second
      (batch.bytes, batch.transferred, batch.connections) = (Int64(3 * second) << 20, Int64(3 * second) << 20, 4)
      batch.remaining = batch.foundBytes - batch.bytes
      for number in 0..<running {
        var state = UploadState(TransferProgress(total: 1 << 20, parts: 1), activity: .sending)
        state.bytes = 1 << 19
        batch.running.append(BatchState.Running("photos/of/the/summer/image-\(1000 + number).jpeg", state))
      }
      change(&batch)
      progress.measure(batch, at: .seconds(second))
    }
    return progress
  }

  @Test("The total has percent, files, bytes of how many, rate and time left, also in a log")
  func total() {
    let wanted = ["24%", "12 of 50 files", "12 MiB of 50 MiB", "3.0 MiB/s", "ETA 13s", "4 connections"]
    let progress = progress()
    #expect(progress.lines(width: 198, rows: 24) == [wanted.joined(separator: "  ")])
    #expect(progress.plain == wanted.joined(separator: ", "))
    let more = self.progress(foundAll: false).plain
    #expect(more == "12 of 50+ files, 12 MiB of 50 MiB+, 3.0 MiB/s, 4 connections")
    #expect(self.progress { $0.summary.failed = 2 }.plain.contains("14 of 50 files, 12 MiB of 50 MiB, 2 failed"))
  }

  @Test("No line is wider than the terminal, and the percent and the files stay longest", arguments: [18, 38, 78, 198])
  func widths(_ width: Int) {
    let lines = progress(running: 3).lines(width: width, rows: 24)
    #expect(lines.count == 4 && lines.allSatisfy { TextWidth.columns($0) <= width }, "\(lines)")
    #expect(lines.last?.hasPrefix(width < 20 ? "24%" : "24%  12 of 50 files") == true, "\(lines)")
    for (number, line) in lines.dropLast().enumerated() { #expect(line.contains("50%"), "\(number): \(line)") }
  }

  @Test("In forty columns names that differ at their ends differ on the screen")
  func names() {
    let lines = progress(running: 3).lines(width: 38, rows: 24)
    for number in 0..<3 { #expect(lines[number].contains("100\(number).jpeg"), "\(lines)") }
  }

  @Test("Eight files under way have a line, fewer on a low terminal, and none that has only just begun")
  func rows() {
    let lines = progress(running: 20).lines(width: 78, rows: 24)
    #expect(lines.count == 10 && lines[8] == "and 12 more", "\(lines)")
    #expect(progress(running: 20).lines(width: 78, rows: 5).count == 5)
    #expect(progress(running: 20).lines(width: 78, rows: 1).count == 1)
    #expect(progress(running: 20, seconds: 0).lines(width: 78, rows: 24).count == 1)
  }

  @Test("A file that makes no progress shows the reason, without a rate")
  func words() {
    let waiting = progress {
      ($0.remaining, $0.bytes, $0.transferred) = (0, 50 << 20, 50 << 20)
      $0.summary.uploaded = 46
    }.plain
    #expect(waiting == "100%, 46 of 50 files, 50 MiB of 50 MiB, waiting for the store, 4 connections")
    let stalled = progress(seconds: 9) { ($0.remaining, $0.bytes, $0.transferred) = (49 << 20, 1 << 20, 1 << 20) }.plain
    #expect(stalled.contains("stalled for ") && !stalled.contains("/s") && !stalled.contains("ETA"), "\(stalled)")
  }
}
