/// What a run of many makes an object of.
protocol Findable: Sendable {
  /// Nil if it is not known yet.
  var size: Int64? { get }
}

/// An object that a run of many is going to upload.
struct Candidate: Findable {
  var item: UploadItem
  /// Nil if it is not known before the source is opened.
  var size: Int64?
  /// Which file it was when it was found, if it is one.
  var inode: Inode?
  /// What a list of the destination says of the object at its key.
  var found = PrefixListing.Found.unknown

  init(_ item: UploadItem, size: Int64? = nil, inode: Inode? = nil) {
    (self.item, self.size, self.inode) = (item, size, inode)
  }
}

/// What a finder yields.
enum CandidateStep<Found: Sendable>: Sendable {
  case candidate(Found)
  case skipped(SkippedSource)
  /// It is s3up's own, and no source.
  case leftOut(SkippedSource)
  /// What whoever chose the sources should know.
  case advice(Wording)
  /// Nothing can be made of it; the others can be tried.
  case failed(Failure, name: [UInt8] = [])
}

/// Finds the candidates of a run one after another and gives them away; it ends when `give` returns false. What it throws
/// ends the run.
typealias Finder<Found: Sendable> =
  @Sendable (_ give: @escaping @Sendable (CandidateStep<Found>) async -> Bool) async throws -> Void

typealias UploadStep = CandidateStep<Candidate>
