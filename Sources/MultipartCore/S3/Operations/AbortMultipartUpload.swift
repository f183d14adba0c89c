/// Aborts an upload: `DELETE /key?uploadId=…`. Parts that are still being sent may arrive later: only ListParts shows
/// that nothing is left.
struct AbortMultipartUpload: S3Operation {
  static let name = OperationName("AbortMultipartUpload", needs: "s3:AbortMultipartUpload")

  enum Output: Sendable, Equatable {
    case aborted
    /// There was no such upload: it had been aborted or completed before.
    case wasGone
  }

  var address: ObjectAddress
  var uploadID: String

  init(_ address: ObjectAddress, uploadID: String) {
    self.address = address
    self.uploadID = uploadID
  }

  var place: Place { address.place(uploadID: uploadID) }

  func request() throws(Failure) -> S3Request {
    return try S3Request(
      Self.name, .delete, place: place, query: [QueryItem("uploadId", uploadID)], headers: address.common.list())
  }

  func output(from answer: Response) throws(Failure) -> Output {
    do {
      try requireSuccess(answer)
      return .aborted
    } catch {
      guard error.code == .uploadGone else { throw error }
      return .wasGone
    }
  }
}
