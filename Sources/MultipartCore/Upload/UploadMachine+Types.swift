extension UploadMachine {
  package struct Settings: Sendable {
    package var plan: UploadPlan
    package var concurrency: Int
    package var retry: RetryPolicy
    package var form: ChecksumForm
    /// The form may be stepped down when the store does not take it.
    package var formIsFree: Bool
    package var payloadIsSigned: Bool
    /// A precondition is looked at before the first byte.
    package var checksFirst: Bool
    /// A HEAD is compared even when complete's answer was proof already.
    package var alwaysVerifies: Bool
    /// A failure leaves the upload as it is: somebody else goes on with it.
    package var keepsUpload = false
    package var seed: UInt64

    package init(
      plan: UploadPlan, concurrency: Int = 8, retry: RetryPolicy = RetryPolicy(), form: ChecksumForm = .none,
      formIsFree: Bool = false, payloadIsSigned: Bool = false, checksFirst: Bool = false, alwaysVerifies: Bool = false,
      seed: UInt64 = 0
    ) {
      self.plan = plan
      self.concurrency = max(1, concurrency)
      self.retry = retry
      self.form = form
      self.formIsFree = formIsFree
      self.payloadIsSigned = payloadIsSigned
      self.checksFirst = checksFirst
      self.alwaysVerifies = alwaysVerifies
      self.seed = seed
    }
  }

  /// What has happened.
  package enum Event: Sendable {
    case start
    case checked(Failure?)
    case created(uploadID: String)
    case createFailed(Failure)
    case partDone(PartReceipt)
    case partFailed(Int, Failure)
    /// The whole source went in one PutObject.
    case putDone(Judgement)
    case putFailed(Failure)
    case completeDone(Judgement)
    case completeFailed(Failure)
    case headDone(Judgement)
    case headFailed(Failure)
    case abortDone
    case abortFailed(Failure)
    /// The list of parts after an abort; false is what an abort wants.
    case listed(uploadStillThere: Bool)
    case listFailed(Failure)
    /// The time of a `wait` has come, or may have.
    case tick
    case interrupted(Failure)
  }

  /// What to do next.
  package enum Action: Sendable, Equatable {
    case check
    case create(ChecksumForm)
    case send(part: Int, form: ChecksumForm, attempt: Int, freshConnection: Bool)
    case put(form: ChecksumForm, attempt: Int, freshConnection: Bool)
    case complete(attempt: Int)
    case head
    /// Stop every part and PutObject under way; each still answers with its event.
    case cancelTransfers
    case abort
    case listAfterAbort
    case wait(until: Duration)
    case say(Notice)
    case finish(Outcome)
  }

  package enum Notice: Sendable, Equatable {
    case retry(part: Int?, attempt: Int, cause: Failure.Code, message: String, wait: Duration)
    case steppedDown(from: ChecksumForm, to: ChecksumForm, message: String)
    case startsAnew(message: String)
    /// The upload could not be shown to be gone after its abort.
    case leftBehind(uploadID: String)
  }

  package enum Outcome: Sendable, Equatable {
    case completed(evidence: String)
    case failed(Failure.Code)
  }
}

/// What an answer about the object says of whether it is the source.
package enum Judgement: Sendable, Equatable {
  /// It is, and by what that is known.
  case proven(evidence: String)
  /// It may well be, but the answer alone does not show it. `weak` is the evidence if complete itself said yes.
  case undecided(weak: String)
  /// It is not.
  case contradicted(message: String)
}
