import Glibc
import MultipartBasics

/// What a run does over time: each request on its connection, the waits and their causes, what is computed on this
/// machine, and what each object is going through. Given to a store's options it collects all of that, up or down, for
/// one object or for many; without it nothing is collected.
///
///     let timeline = Timeline()
///     var options = StoreOptions(endpoint: "https://s3.example.com")
///     options.timeline = timeline
///     let store = try await Store(bucket: "my-bucket", options)
///     try await store.upload(.file("disk.img"), to: "images/disk.img")
///     try timeline.writeTrace(to: "run.json")
///
/// A trace has names of files, keys and addresses in it, but no URLs, headers or secrets. It can be written at any time,
/// also after a failure. Of a long run at most a million events are kept; the totals count the others too.
public final class Timeline: Sendable {
  private struct State: Sendable {
    var log: TimelineLog
    var clock: (@Sendable () -> Duration)?
    var secrets: SecretsInUse?
    /// Why events are missing that could not be kept.
    var trouble: Failure?
  }

  private let state: Locked<State>
  private let events: ScratchBytes?
  private let words: @Sendable (Wording) -> String

  /// Events that do not fit into 256 KiB of memory go into a file of this folder, which is removed with the process.
  public convenience init(temporaryFolder: String = "/tmp") {
    self.init(events: temporaryFolder)
  }

  /// `events`: where they go; nil: only the figures are collected. `words` shows a text with the names that the program
  /// has for settings.
  public init(events folder: String?, words: @escaping @Sendable (Wording) -> String = { $0.description }) {
    events = folder.map { ScratchBytes(in: $0) }
    state = Locked(State(log: TimelineLog(keepsLines: folder != nil)))
    self.words = words
  }

  /// Writes the trace in the Trace Event Format, which Perfetto (ui.perfetto.dev) and Chrome (chrome://tracing) show. A
  /// file that is there is replaced once all of it is written.
  public func writeTrace(to path: String) throws(Failure) {
    let file = FilePath(path)
    let failure = { @Sendable (error: Int32) in
      Failure.system(.output, error, "the trace cannot be written").at(Place(file: file.text))
    }
    try WholeFile.replace(file, mode: nil, failing: failure) { (descriptor) throws(Failure) in
      try writeTrace { (bytes) throws(Failure) in
        guard WholeWrite.write(bytes, to: descriptor) == 0 else { throw failure(errno) }
      }
    }
  }

  /// Writes the trace in pieces.
  public func writeTrace(_ put: ([UInt8]) throws(Failure) -> Void) throws(Failure) {
    let (log, trouble) = state.withLock { state in (state.log.closed(at: now(state)), state.trouble) }
    if var trouble {
      (trouble.code, trouble.message) = (.output, "the trace lacks events: " + trouble.message)
      throw trouble
    }
    try put(Array(TraceFormat.head.utf8))
    try events?.forEachPiece(put)
    try put(Array((log.lines + TraceFormat.tail(log.figures)).utf8))
  }

  /// Whether a file that begins with this line is a trace.
  public static func begins(_ line: ArraySlice<UInt8>) -> Bool { TraceFormat.begins(line) }

  /// The lines of a self-contained HTML page about the run so far. Its policy allows no script, no request, and only its
  /// own style, which has the nonce. `plan` says what was to be done and why, `end` how it ended; any text is escaped.
  public func page(title: String, plan: [String] = [], end: [String] = [], nonce: String) -> [String] {
    let figures = state.withLock { $0.log.closed(at: now($0)).figures }
    return RunPage(figures: figures, title: title, plan: plan, end: end, nonce: nonce).lines
  }

  /// Whether a file that begins with this line is such a page.
  public static func beginsPage(_ line: ArraySlice<UInt8>) -> Bool { line.elementsEqual(RunPage.firstLine.utf8) }

  /// Whether nothing has been sent or tried.
  public var isEmpty: Bool { state.withLock { $0.log.isEmpty } }

  // MARK: - For the run

  /// Begins the time of the run, unless it has begun: the first store does it too.
  public func begin(in world: World) {
    let start = world.uptime()
    state.withLock { state in
      guard state.clock == nil else { return }
      (state.clock, state.secrets) = ({ world.uptime() - start }, world.secrets)
      state.log.figures.started = world.now()
    }
  }

  private func now(_ state: State) -> Duration { state.clock?() ?? .zero }

  /// `what` gets the log and the time, and must not take long.
  @discardableResult
  func record<Result>(_ what: (inout TimelineLog, Duration) -> Result) -> Result {
    state.withLock { state in
      let result = what(&state.log, now(state))
      let lines = state.log.takeLines()
      guard let events, !lines.isEmpty, state.trouble == nil else { return result }
      do throws(Failure) {
        try events.append(Array(lines.utf8))
      } catch {
        state.trouble = error
      }
      return result
    }
  }

  /// A text for people without secrets, on one line.
  func text(_ wording: Wording) -> String { text(words(wording)) }

  func text(_ text: String) -> String {
    let secrets = state.withLock { $0.secrets }
    return SafeText.oneLine(secrets?.masked(text) ?? text)
  }
}
