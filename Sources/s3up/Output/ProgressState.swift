import MultipartCore

/// What there is to draw of one upload at one moment.
struct ProgressState: Sendable, Equatable {
  var name: String
  /// Nil: not known, as of a stream.
  var total: Int64?
  /// What the store has, and what its side has acknowledged of parts under way.
  var done: Int64 = 0
  /// What this run has brought there, failed tries too: what tells the rate.
  var taken: Int64 = 0
  /// Each time the upload begins anew, `done` may fall.
  var beginnings = 0
  var activity = UploadActivity.sending
  var partsDone = 0
  var parts: Int?
  var connections = 0
  /// Bytes a second; nil until it can be said.
  var rate: Double?
  /// What remains by that rate.
  var eta: Duration?
  /// What it is doing, in words; nil while it sends and bytes arrive.
  var words: String?

  init(name: String, total: Int64?, parts: Int? = nil) {
    self.name = name
    self.total = total
    self.parts = parts
  }

  /// 0...1; an empty file is done.
  var fraction: Double? {
    guard let total else { return nil }
    return total <= 0 ? 1 : min(1, max(0, Double(done) / Double(total)))
  }
}
