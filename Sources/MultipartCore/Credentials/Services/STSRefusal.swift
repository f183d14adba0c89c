import MultipartBasics

/// What a refusal by STS means, and its remedy.
enum STSRefusal {
  /// `signer` are the credentials that signed the request; nil if it carried an identity token.
  static func failure(
    _ answer: Response, action: String, role: String, by signer: Credentials?, at now: Timestamp
  ) -> Failure {
    let body = S3ErrorBody(answer.body)
    let code = meaning(body.code, status: answer.status)
    var failure = Failure(
      code, "STS refused \(action) for \(SafeText.oneLine(role))" + (body.message.map { ": \($0)" } ?? ""),
      status: answer.status, s3Code: body.code,
      requestID: S3ErrorBody.requestID(answer.headers) ?? body.requestID,
      remedy: remedy(body.code, code: code, signer: signer))
    if signer != nil, let skew = secondsBehind(answer, now) {
      failure.code = .clockSkew
      failure.remedy = "\(words(of: skew)): set it"
    }
    return failure
  }

  static func words(of secondsBehind: Int64) -> String {
    "this machine's clock is \(abs(secondsBehind)) s \(secondsBehind > 0 ? "behind" : "ahead of") that of STS"
  }

  private static func meaning(_ code: String?, status: Int) -> Failure.Code {
    switch code {
    // The identity provider did not respond to STS: AWS says to try again.
    case "IDPCommunicationError", "InternalFailure", "InternalError", "RequestTimeout": .server
    case "ValidationError", "InvalidParameterValue", "MissingParameter", "PackedPolicyTooLarge",
      "MalformedPolicyDocument":
      .configuration
    default: code.flatMap { S3ErrorTable.codes[$0] } ?? ServiceClient.meaning(of: status)
    }
  }

  private static func remedy(_ code: String?, code meaning: Failure.Code, signer: Credentials?) -> Wording? {
    switch code {
    case "AccessDenied":
      if let signer {
        "let the role's trust policy name the caller (the credentials from \(signer.source)), which needs sts:AssumeRole; "
          + "check external_id and mfa_serial"
      } else {
        "let the role's trust policy name the identity provider, and conditions that this token meets"
      }
    case "ExpiredTokenException" where signer == nil, "ExpiredToken" where signer == nil:
      "the identity token has expired: write a new one into its file"
    case "ExpiredTokenException", "ExpiredToken":
      "the credentials from \(signer?.source ?? "the source") have expired: renew them"
    case "InvalidIdentityToken":
      "the token must be a JWT of an identity provider that the role's account knows, with its audience"
    case "InvalidClientTokenId", "SignatureDoesNotMatch", "IncompleteSignature", "UnrecognizedClientException":
      "STS does not accept the credentials from \(signer?.source ?? "the source"): check id and secret"
    case "RegionDisabledException": "STS is switched off in this region: choose another one with \(.region)"
    default: meaning == .configuration ? "check the role's ARN, its session name and its duration" : nil
    }
  }

  /// How many seconds this machine's clock is behind, if a signature was refused and the difference exceeds the five
  /// minutes that STS allows.
  static func secondsBehind(_ answer: Response, _ now: Timestamp) -> Int64? {
    guard answer.status == 403 || answer.status == 400,
      ["SignatureDoesNotMatch", "RequestExpired", "InvalidSignatureException"].contains(S3ErrorBody(answer.body).code),
      let date = answer.headers["Date"].flatMap(DateText.http)
    else { return nil }
    let behind = date.seconds - now.seconds
    return abs(behind) > 300 ? behind : nil
  }
}
