/// Aborts an upload: `DELETE /key?uploadId=…`. Parts that are still being sent may arrive later: only ListParts shows
/// that nothing is left.
package struct AbortMultipartUpload: S3Operation {
  package static let name = OperationName("AbortMultipartUpload", needs: "s3:AbortMultipartUpload")

  package enum Output: Sendable, Equatable {
    case aborted
    /// There was no such upload: it was aborted or completed before.
    case wasGone
  }

  package var bucket: String
  package var key: String
  package var uploadID: String
  package var common: CommonHeaders

  package init(bucket: String, key: String, uploadID: String, common: CommonHeaders = CommonHeaders()) {
    self.bucket = bucket
    self.key = key
    self.uploadID = uploadID
    self.common = common
  }

  package var place: Place { Place(bucket: bucket, key: key, uploadID: uploadID) }

  package func request() throws(Failure) -> S3Request {
    return try S3Request(
      Self.name, .delete, place: place, query: [QueryItem("uploadId", uploadID)], headers: common.list())
  }

  package func output(from answer: Response) throws(Failure) -> Output {
    do {
      try requireSuccess(answer)
      return .aborted
    } catch {
      guard error.code == .uploadGone else { throw error }
      return .wasGone
    }
  }
}
