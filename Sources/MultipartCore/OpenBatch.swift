/// A batch, one JSON object per line, whose first object has been read: its bucket is needed to find the store.
///
/// `@unchecked Sendable` holds because it is used by one task at a time.
public final class OpenBatch: @unchecked Sendable {
  private let list: BatchList
  private var first: BatchItem?
  /// The path; nil for standard input.
  public let path: FilePath?
  /// The bucket of the first object; nil if the batch is empty.
  public let firstBucket: String?

  /// Opens the batch; `-` is standard input.
  public init(_ path: FilePath) throws(Failure) {
    list = try BatchList(path)
    self.path = StreamFile.isStandardInput(path) ? nil : path
    first = try list.next()
    firstBucket = first?.bucket
  }

  func next() throws(Failure) -> BatchItem? {
    if let item = first.take() { return item }
    return firstBucket == nil ? nil : try list.next()
  }
}
