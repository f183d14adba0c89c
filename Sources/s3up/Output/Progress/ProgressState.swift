import MultipartCore

/// The state of one upload, for display.
struct ProgressState: Sendable, Equatable {
  var name: String
  /// Bytes in total; nil if not known, as for a stream.
  var total: Int64?
  /// Bytes that the store has, or has acknowledged for parts being sent.
  var done: Int64 = 0
  /// Bytes that this run has sent, including failed tries; the rate is computed from this number.
  var transferred: Int64 = 0
  /// How often the upload has started over; `done` then falls.
  var beginnings = 0
  var activity = UploadActivity.sending
  var partsDone = 0
  var parts: Int?
  var connections = 0
  /// Bytes per second; nil until it is known.
  var rate: Double?
  /// The time left at that rate.
  var eta: Duration?
  /// What the upload is doing, in words; nil while bytes move.
  var words: String?
  /// The same for a narrow terminal.
  var fewerWords: String?

  init(name: String, total: Int64?, parts: Int? = nil) {
    self.name = name
    self.total = total
    self.parts = parts
  }

  init(_ name: String, _ progress: UploadState) {
    self.init(name: name, total: progress.total, parts: progress.parts)
    done = min(progress.bytes, progress.total ?? .max)
    partsDone = progress.partsDone
    connections = progress.connections
    transferred = progress.transferred
    beginnings = progress.beginnings
    activity = progress.activity
  }

  /// The progress, 0...1; an empty file counts as done.
  var fraction: Double? {
    guard let total else { return nil }
    return total <= 0 ? 1 : min(1, max(0, Double(done) / Double(total)))
  }
}
