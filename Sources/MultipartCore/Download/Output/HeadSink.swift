/// Ends a transfer at the first byte of its body: only the headers are wanted.
///
/// `@unchecked Sendable` holds because only the loop's thread uses it until the answer, and only the task that waits
/// for the answer afterwards.
final class HeadSink: BodySink, @unchecked Sendable {
  private(set) var head: Response?

  func begin(_ status: Int, _ headers: HeaderList) -> Failure? {
    if let page = WebPage.failure(status, headers) { return page }
    head = Response(status: status, headers: headers)
    return Failure(.interrupted, "the rest of the answer is not wanted")
  }

  func receive(_ bytes: UnsafeRawBufferPointer) -> Bool { false }
}

extension Downloader {
  /// What a HEAD would return, by a GET: a presigned URL is signed for no other method.
  func headByGet() async throws(Failure) -> ObjectInfo {
    do throws(Failure) {
      return try await headByGet(range: 0 ... .max)
    } catch {
      // An empty object has no range.
      guard error.status == 416 else { throw error }
      return try await headByGet(range: nil)
    }
  }

  private func headByGet(range: ClosedRange<Int64>?) async throws(Failure) -> ObjectInfo {
    let sink = HeadSink()
    let get = GetObject(address, range: range, versionID: options.versionID, wantsChecksums: false, sink: sink)
    do throws(Failure) {
      return try await client.perform(get).object
    } catch {
      guard let head = sink.head else { throw error }
      return ObjectInfo(head)
    }
  }
}
