extension UploadMachine {
  package struct Settings: Sendable {
    package var plan: UploadPlan
    package var form: ChecksumForm
    /// The form may be stepped down when the store does not take it.
    package var formIsFree: Bool
    package var payloadIsSigned: Bool
    /// A precondition is looked at before the first byte.
    package var checksFirst: Bool
    /// A HEAD is compared even when complete's answer was proof already.
    package var alwaysVerifies: Bool
    /// Something was asked for of the object that has to be confirmed once it is there.
    package var inspects = false
    /// An upload that an earlier run, or another machine, left unfinished is looked for.
    package var finds = false
    /// An earlier run left a record, of an upload that a source in one request has no use for.
    package var hasRecord = false
    /// Without one to resume, the run fails.
    package var requiresResume = false
    /// So long nobody may have sent to an upload that no record knows before it is adopted.
    package var quietTime: Duration = .seconds(60)
    /// The causes that leave a recorded upload for a later run; others abort it.
    package var keepsOn: Set<Failure.Code> = []
    /// The source's length is not known: it comes in pieces.
    package var isStream = false

    package init(
      plan: UploadPlan, form: ChecksumForm = .none, formIsFree: Bool = false, payloadIsSigned: Bool = false,
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
  package enum Event: Sendable {
    case start
    case checked(Failure?)
    /// Whether it stands in a record.
    case created(uploadID: String, isRecorded: Bool = false)
    case createFailed(Failure)
    case found([Candidate])
    case findFailed(Failure)
    case partsListed(PartList)
    case partsListFailed(Failure)
    /// The store has the part with the bytes that are here.
    case partVerified(PartReceipt)
    /// What the store has is something else.
    case partRejected(Int)
    case verifyFailed(Int, Failure)
    /// Whether the upload that was just adopted stands in a record.
    case recorded(Bool)
    /// A stream's next piece is in memory.
    case piece(size: Int64, isLast: Bool)
    case readFailed(Failure)
    /// The stream's last piece was the one before.
    case ended
    /// The judgement of a stream at its end: nil when it may be published.
    case confirmed(Failure?)
    case partDone(PartReceipt)
    case partFailed(Int, Failure)
    /// The whole source went in one PutObject.
    case putDone(Judgement)
    case putFailed(Failure)
    case completeDone(Judgement)
    case completeFailed(Failure)
    case headDone(Judgement)
    case headFailed(Failure)
    case inspected(Inspection)
    /// It could not be looked at, for a cause that may pass.
    case inspectFailed(Failure)
    case abortDone
    case abortFailed(Failure)
    /// The list of parts after an abort or a lost answer; false is what an abort wants.
    case listed(uploadStillThere: Bool)
    case listFailed(Failure)
  }

  /// What to do next.
  package enum Action: Sendable, Equatable {
    case check
    /// Look for unfinished uploads of this object: the recorded one, else those at the store.
    case find
    case listParts(uploadID: String)
    /// The upload is the one to resume: record it.
    case adopt(uploadID: String)
    /// Compare the listed part with the local bytes.
    case verify(part: Int)
    case read
    case confirm
    case create(ChecksumForm)
    case send(part: Int, form: ChecksumForm, attempt: Int, freshConnection: Bool)
    /// The part once more, while the first copy is still under way.
    case sendCopy(part: Int, form: ChecksumForm, freshConnection: Bool)
    /// What is still under way of the part is not needed, or not now; it answers all the same.
    case cancelPart(Int)
    case put(form: ChecksumForm, attempt: Int, freshConnection: Bool)
    case complete(attempt: Int)
    /// `mustBeOurs`: an object that this run has not made, or that is not as it was asked for, is no success, whatever
    /// bytes it holds.
    case head(mustBeOurs: Bool)
    /// After a lost answer to complete: whether the upload is still there.
    case listAfterLoss
    /// See whether the object has what was asked for it.
    case inspect
    /// Stop every part, PutObject, comparison and read under way; each still answers with its event.
    case cancelTransfers
    case abort(uploadID: String)
    case listAfterAbort(uploadID: String)
    case wait(until: Duration)
    case say(Notice)
    case finish(Outcome)
  }

  package enum Notice: Sendable, Equatable {
    case retry(part: Int?, attempt: Int, cause: Failure.Code, message: Wording, wait: Duration)
    case steppedDown(from: ChecksumForm, to: ChecksumForm, message: Wording)
    case startsAnew(message: Wording)
    /// Parts that the store has already are not sent again.
    case resumes(uploadID: String, parts: Int, bytes: Int64)
    /// The upload could not be shown to be gone after its abort.
    case leftBehind(uploadID: String)
    /// An upload that this run has not begun stays as it is.
    case leftAlone(uploadID: String)
    /// Somebody may still be sending to the upload; whether anybody is shows after this time.
    case waitsForQuiet(uploadID: String, wait: Duration)
    /// An upload that no record knows is not adopted, though its parts are the source's.
    case passedBy(uploadID: String, why: String)
    /// Another number of connections from here on.
    case paced(connections: Int, why: String)
  }

  /// Whether the object has what was asked for it.
  package enum Inspection: Sendable {
    /// It has, as far as can be seen; what could not be confirmed, and why where somebody may mend that.
    case kept(unconfirmed: [String], why: String?)
    /// The object is there without it.
    case lost(Failure)
  }

  package enum Outcome: Sendable, Equatable {
    case completed(evidence: String)
    /// `isKept`: a later run can resume the upload.
    case failed(Failure.Code, isKept: Bool = false)

    package var isFailure: Bool {
      if case .failed = self { return true }
      return false
    }

    package var isKept: Bool {
      if case .failed(_, let isKept) = self { return isKept }
      return false
    }
  }
}

/// What an answer about the object says of whether it is the source.
package enum Judgement: Sendable, Equatable {
  /// It is, and by what that is known.
  case proven(evidence: String)
  /// It may well be, but the answer alone does not show it. `weak` is the evidence if complete itself said yes.
  case undecided(weak: String)
  /// There is no object.
  case absent
  /// It may hold the bytes, but this run has not made it, or cannot know that it has.
  case notOurs(message: String)
  /// It is not.
  case contradicted(message: String)
}
