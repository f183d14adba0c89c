/// Something that a batch makes an object of.
protocol Findable: Sendable {
  /// The size; nil if it is not known yet.
  var size: Int64? { get }
}

/// An object that a batch is going to upload.
struct Candidate: Findable {
  var item: UploadItem
  /// The size; nil if it is not known before the source is opened.
  var size: Int64?
  /// The inode of a file when it was found.
  var inode: Inode?
  /// What a list of the destination says about the object at its key.
  var found = PrefixListing.Found.unknown

  init(_ item: UploadItem, size: Int64? = nil, inode: Inode? = nil) {
    (self.item, self.size, self.inode) = (item, size, inode)
  }
}

/// What a finder yields.
enum CandidateStep<Found: Sendable>: Sendable {
  case candidate(Found)
  case skipped(SkippedSource)
  /// It is s3up's own file, and not a source.
  case leftOut(SkippedSource)
  /// Advice for the user who chose the sources.
  case advice(Wording)
  /// It cannot become an object; the others can be tried. `name` is its name in a list of sources; nil if no list can
  /// name it, such as a folder that cannot be read.
  case failed(Failure, name: [UInt8]?)
}

extension CandidateStep {
  func map<Other: Sendable>(_ change: (Found) -> Other) -> CandidateStep<Other> {
    switch self {
    case .candidate(let found): .candidate(change(found))
    case .skipped(let source): .skipped(source)
    case .leftOut(let source): .leftOut(source)
    case .advice(let text): .advice(text)
    case .failed(let failure, let name): .failed(failure, name: name)
    }
  }
}

/// Finds the candidates of a run one after another and passes them on; ends when `give` returns false. A thrown failure
/// ends the run.
typealias Finder<Found: Sendable> =
  @Sendable (_ give: @escaping @Sendable (CandidateStep<Found>) async -> Bool) async throws -> Void

typealias UploadStep = CandidateStep<Candidate>
