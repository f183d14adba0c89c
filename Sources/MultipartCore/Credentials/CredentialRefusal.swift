/// Which refusals may pass with other credentials.
enum CredentialRefusal {
  /// An expired token; keys that were rotated; and any refused HEAD, whose answer has no body to say why.
  static func mayPass(_ answer: Response, to method: HTTPMethod) -> Bool {
    guard answer.status == 400 || answer.status == 401 || answer.status == 403 else { return false }
    guard let code = S3ErrorBody(answer.body).code ?? S3ErrorBody.code(answer.headers) else {
      return method == .head && answer.headers[HeaderName.bucketRegion] == nil
    }
    return codes.contains(code)
  }

  private static let codes: Set<String> = [
    "ExpiredToken", "ExpiredTokenException", "TokenRefreshRequired", "InvalidAccessKeyId", "InvalidToken",
    "InvalidClientTokenId", "UnrecognizedClientException",
  ]
}
