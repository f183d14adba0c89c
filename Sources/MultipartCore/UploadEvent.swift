/// What an upload reports while it runs.
#if hasAttribute(nonexhaustive)
  @nonexhaustive
#endif
public enum UploadEvent: Sendable, Equatable {
  /// The upload begins. Size and parts are nil while they are not known; the id is nil if a single request sends
  /// everything.
  case started(uploadID: String?, size: Int64?, parts: Int?, partSize: Int64)
  /// The store has the part.
  case part(number: Int, size: Int64, etag: String, took: Duration)
  /// A request, or this part, is tried again after the wait.
  case retry(part: Int?, attempt: Int, wait: Duration, cause: Failure.Code, message: Wording)
  /// The store rejects a checksum, or does not verify it; another one is used from now on.
  case checksumChanged(from: ChecksumForm, to: ChecksumForm, why: Wording)
  /// An earlier upload is resumed: these parts are already at the store and are not sent again.
  case resumed(uploadID: String, parts: Int, bytes: Int64)
  /// An unfinished upload cannot be resumed; a new one is started.
  case startsAnew(why: Wording)
  /// Another client may still be sending to the upload to be adopted; after this wait the store is asked again.
  case waitsForQuiet(uploadID: String, wait: Duration)
  /// Another run is uploading to this object, and this one waits for it to end. The process is nil if it is not known.
  case waitsForRun(process: Int32?)
  /// An unfinished upload without a record was not adopted.
  case passedBy(uploadID: String, why: String)
  /// The upload may be left at the store, which has not confirmed that it is gone.
  case leftBehind(uploadID: String)
  /// An upload that this run did not begin was left as it is.
  case leftAlone(uploadID: String)
  /// The number of connections changes.
  case connections(Int, why: String)
  /// A warning to show to the user; the upload continues.
  case warning(Wording)
  /// A hint to show only on a terminal; the upload continues.
  case advice(Wording)
}
