/// The identity of the credentials, as STS reports it.
package struct CallerIdentity: Sendable, Equatable {
  package var account: String
  package var arn: String

  package init(account: String, arn: String) {
    self.account = account
    self.arn = arn
  }
}

extension STSClient {
  /// `GetCallerIdentity`, which needs no permission: it fails only if the credentials are wrong.
  package func callerIdentity(
    signedBy credentials: Credentials, limit: Duration = .seconds(5)
  ) async throws(Failure) -> CallerIdentity {
    let action = "GetCallerIdentity"
    let signer = SigV4Signer(region: address.region, service: "sts")
    let (form, now) = ([("Action", action), ("Version", "2011-06-15")], services.world.now)
    let signature = (signer: signer, credentials: credentials)
    return try await ask(action, form, signedBy: signature, limit: limit) { (answer, name) throws(Failure) in
      guard answer.status == 200 else {
        var failure = STSRefusal.failure(
          answer, action: action, role: "these credentials", by: credentials, at: now())
        // The remedy for AssumeRole does not apply here.
        if failure.s3Code == "AccessDenied" { failure.remedy = nil }
        throw failure
      }
      func text(_ tree: XMLTree, _ name: String) -> String? {
        tree.first(name).map { SafeText.oneLine(ASCII.trimmed($0.text)) }.flatMap { $0.isEmpty ? nil : $0 }
      }
      guard let tree = try? XMLReader.read(answer.body), let account = text(tree, "Account"),
        let arn = text(tree, "Arn")
      else { throw Failure(.server, "the answer to \(name) names nobody", status: answer.status) }
      return CallerIdentity(account: account, arn: arn)
    }
  }
}
