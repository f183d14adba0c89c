/// What a log may never show.
package enum SecretHeaders {
  /// Headers whose values are secrets, in lower case. The MD5 of an SSE-C key is among them: a key made from a weak
  /// pass phrase could be guessed from it.
  package static let names: Set<String> = [
    "authorization", "proxy-authorization", "cookie", "set-cookie", "x-amz-security-token", "x-amz-s3session-token",
    "x-amz-server-side-encryption-customer-key", "x-amz-server-side-encryption-customer-key-md5",
    "x-amz-copy-source-server-side-encryption-customer-key",
    "x-amz-copy-source-server-side-encryption-customer-key-md5",
  ]

  /// The same for the query of a URL.
  package static let queryNames: Set<String> = [
    "x-amz-signature", "x-amz-security-token", "x-amz-credential", "signature", "awsaccesskeyid",
  ]

  package static func contains(_ header: String) -> Bool {
    names.contains(header.lowercased())
  }

  /// `Name: value` for a log, with the value of a secret replaced. A redirect repeats our URL, signature and all.
  package static func shown(_ field: HeaderList.Field) -> String {
    "\(field.name): \(contains(field.name) ? "(secret)" : S3Text.cleaned(Redaction.url(field.value), limit: 1000))"
  }
}
