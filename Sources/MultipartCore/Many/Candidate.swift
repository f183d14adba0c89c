/// An object that a run of many is going to upload.
struct Candidate: Sendable {
  var item: UploadItem
  /// Nil if it is not known before the source is opened.
  var size: Int64?
  /// What a list of the destination says of the object at its key.
  var found = PrefixListing.Found.unknown

  init(_ item: UploadItem, size: Int64? = nil) {
    (self.item, self.size) = (item, size)
  }
}

/// What a finder yields.
enum CandidateStep: Sendable {
  case candidate(Candidate)
  case skipped(SkippedSource)
  /// It cannot be uploaded; the others can.
  case failed(Failure, name: [UInt8] = [])
}

/// Finds the candidates of a run one after another and gives them away; it ends when `give` returns false. What it throws
/// ends the run.
typealias Finder = @Sendable (_ give: @Sendable (CandidateStep) async -> Bool) async throws -> Void
