extension UploadMachine {
  struct Settings: Sendable {
    var plan: UploadPlan
    var form: ChecksumForm
    /// The checksum may be stepped down if the store does not accept it.
    var formIsFree: Bool
    var payloadIsSigned: Bool
    /// Whether a precondition, or the identity of the object with the source, is checked before the first byte.
    var checksFirst: Bool
    /// A HEAD is compared even if the answer to complete was already proof.
    var alwaysVerifies: Bool
    /// The object's requested settings have to be confirmed once it exists.
    var inspects = false
    /// An unfinished upload of an earlier run, or of another machine, is looked for.
    var finds = false
    /// An earlier run has recorded an upload that a source in a single request cannot use.
    var hasRecord = false
    /// Without an upload to resume, the run fails.
    var requiresResume = false
    /// An unrecorded upload is adopted only if nothing was sent to it for this long.
    var quietTime: Duration = .seconds(60)
    /// The failures that leave a recorded upload for a later run; others abort it.
    var keepsOn: Set<Failure.Code> = []
    /// The source is a stream: its length is unknown, and it comes in pieces.
    var isStream = false
    /// A dry run: nothing is sent.
    var onlyLooks = false
    /// An existing object is left as it is, which is not a failure.
    var skipsExisting = false
    /// The upload was begun by the issuer of a ticket: this run fills and completes it, and neither begins nor aborts
    /// one.
    var isTicket = false
    /// The parts of the ticket that this run sends; nil: all.
    var share: Range<Int>?

    init(
      plan: UploadPlan, form: ChecksumForm = .nothing, formIsFree: Bool = false, payloadIsSigned: Bool = false,
      checksFirst: Bool = false, alwaysVerifies: Bool = false
    ) {
      self.plan = plan
      self.form = form
      self.formIsFree = formIsFree
      self.payloadIsSigned = payloadIsSigned
      self.checksFirst = checksFirst
      self.alwaysVerifies = alwaysVerifies
    }
  }

  /// What has happened.
  enum Event: Sendable {
    case checked(Failure?)
    /// The object is already identical to the source.
    case same(evidence: String)
    /// An object exists, which is to be left as it is.
    case exists
    /// The upload was created. `isRecorded`: it is in a record; `plan`: its parts, if they differ from the current
    /// plan.
    case created(uploadID: String, isRecorded: Bool = false, plan: UploadPlan? = nil)
    case createFailed(Failure)
    case found([Candidate])
    case findFailed(Failure)
    case partsListed(PartList)
    case partsListFailed(Failure)
    /// The store's part has the local bytes.
    case partVerified(PartReceipt)
    /// The store's part has other bytes.
    case partRejected(Int)
    case verifyFailed(Int, Failure)
    /// Whether the upload that was just adopted is in a record.
    case recorded(Bool)
    /// A stream's next piece is in memory.
    case piece(size: Int64, isLast: Bool)
    case readFailed(Failure)
    /// The previous piece was the stream's last.
    case ended
    /// The result of checking a stream at its end: nil if it may be published.
    case confirmed(Failure?)
    case partDone(PartReceipt)
    case partFailed(Int, Failure)
    /// The whole source was sent in one PutObject.
    case putDone(Judgement)
    case putFailed(Failure)
    case completeDone(Judgement)
    case completeFailed(Failure)
    case headDone(Judgement)
    case headFailed(Failure)
    case inspected(Inspection)
    /// The settings could not be read, for a transient reason.
    case inspectFailed(Failure)
    case abortDone
    case abortFailed(Failure)
    /// The list of parts after an abort or a lost answer. An abort succeeded if the upload is no longer there.
    case listed(uploadStillThere: Bool)
    case listFailed(Failure)
  }

  /// What to do next.
  enum Action: Sendable, Equatable {
    case check
    /// Look for unfinished uploads of this object: the recorded one, else those at the store.
    case find
    case listParts(uploadID: String)
    /// The upload to resume: record it.
    case adopt(uploadID: String)
    /// Compare the listed part with the local bytes.
    case verify(part: Int)
    case read
    case confirm
    case create(ChecksumForm)
    case send(part: Int, form: ChecksumForm, attempt: Int, freshConnection: Bool)
    /// Send the part once more while the first copy is still being sent.
    case sendCopy(part: Int, form: ChecksumForm, freshConnection: Bool)
    /// Stop what is running for the part, which is not needed, or not now; it still answers.
    case cancelPart(Int)
    /// Stop the part and send it later, because too little of it has been carried; even if its last bytes are in the
    /// kernel, which drops them.
    case takeBack(Int)
    case put(form: ChecksumForm, attempt: Int, freshConnection: Bool)
    case complete(attempt: Int)
    /// Check the object by a HEAD. `mustBeOurs`: an object that this run has not created, or without the requested
    /// settings, is not a success, whatever bytes it has.
    case head(mustBeOurs: Bool)
    /// After a lost answer to complete: whether the upload still exists.
    case listAfterLoss
    /// Check whether the object has the requested settings.
    case inspect
    /// Stop every running part, PutObject, comparison and read; each still answers with its event.
    case cancelTransfers
    /// Stop every running part, because another upload begins. The stream is still read, for that one.
    case cancelParts
    /// The bytes of a stream's part are no longer needed.
    case release(part: Int)
    case abort(uploadID: String)
    case listAfterAbort(uploadID: String)
    case say(UploadEvent)
    case finish(Outcome)
  }

  enum Outcome: Sendable, Equatable {
    case completed(evidence: String)
    /// Nothing had to be sent.
    case unchanged(evidence: String)
    /// An existing object is left as it is. `meanwhile`: it has appeared since this run looked for it.
    case skipped(meanwhile: Bool)
    /// A dry run: it would be sent.
    case planned
    /// This run's share is at the store, but this many parts of other shares are missing.
    case sharing(missing: Int)
    /// `isKept`: a later run can resume the upload.
    case failed(Failure.Code, isKept: Bool = false)

    var isFailure: Bool {
      if case .failed = self { return true }
      return false
    }

    /// Whether a recorded upload was left untouched.
    var leavesRecord: Bool {
      switch self {
      case .unchanged, .skipped(meanwhile: false): true
      default: false
      }
    }

    var isKept: Bool {
      if case .failed(_, let isKept) = self { return isKept }
      return false
    }
  }
}
