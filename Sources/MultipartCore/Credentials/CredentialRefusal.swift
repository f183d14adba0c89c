/// Which refusals credentials of another moment may mend.
enum CredentialRefusal {
  /// An ended token; keys that a rotation has replaced; and an answer to HEAD, which has no body to say why.
  static func mayPass(_ answer: Response, to method: HTTPMethod) -> Bool {
    guard answer.status == 400 || answer.status == 401 || answer.status == 403 else { return false }
    guard let code = S3ErrorBody(answer.body).code ?? S3ErrorBody.code(answer.headers) else {
      return method == .head && answer.headers["x-amz-bucket-region"] == nil
    }
    return codes.contains(code)
  }

  private static let codes: Set<String> = [
    "ExpiredToken", "ExpiredTokenException", "TokenRefreshRequired", "InvalidAccessKeyId", "InvalidToken",
    "InvalidClientTokenId", "UnrecognizedClientException",
  ]
}
