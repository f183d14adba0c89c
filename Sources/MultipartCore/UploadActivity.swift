/// What an upload is currently doing.
#if hasAttribute(nonexhaustive)
  @nonexhaustive
#endif
public enum UploadActivity: Sendable, Equatable {
  case starting
  /// No answer has come yet in this run. At that uptime a connection that is not made is given up.
  case connecting(until: Duration)
  case waitingForRun
  case waitingForCredentials
  /// Looking for an unfinished upload.
  case looking
  /// Comparing parts that the store has with the local bytes.
  case comparing
  /// Waiting for bytes of a stream.
  case reading
  case sending
  /// Waiting for the answers to requests whose bytes have all arrived.
  case waitingForAnswers
  /// Transferring again what a server has left without an answer, and nothing has been answered since: which try it is,
  /// how many there are, and at which uptime the first of these tries began.
  case tryingAgain(attempt: Int, of: Int, since: Duration)
  /// Receiving the bytes of an object.
  case receiving
  /// Waiting for a retry, and why.
  case waitingToRetry(why: Wording, until: Duration)
  /// Waiting while the store assembles the object.
  case assembling
  /// Checking the object or a condition.
  case checking
  /// Aborting an upload, because its parts would cost money.
  case cleaningUp
  /// Waiting for parts that are almost finished before stopping.
  case stopping
}
