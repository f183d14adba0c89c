/// What an upload is currently doing.
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
  /// All bytes of the requests under way have arrived, and their answers are missing.
  case waitingForAnswers
  /// Bytes of an object are coming.
  case receiving
  /// Waiting until a retry, and why.
  case waitingToRetry(why: Wording, until: Duration)
  /// The store assembles the object.
  case assembling
  /// Checking the object or a condition.
  case checking
  /// Aborting an upload, whose parts would cost money.
  case cleaningUp
  /// Letting parts finish that are nearly done.
  case stopping
}
