import Foundation
import MultipartBasics
@testable import MultipartCore
import Testing

@testable import Support

/// The findings of a run of `doctor`, by check.
struct Said {
  struct Finding {
    let mark: String
    let message: String
    let hint: String
    let exit: Int
    let facts: [String: Any]
  }

  let status: Int32?
  let all: String
  /// The time from its start to its end, however late the tests' threads noticed.
  let seconds: Double
  private let findings: [String: Finding]

  init(_ result: ChildProcess.Result) {
    status = result.status
    all = result.output + result.errors
    seconds = result.seconds
    var findings: [String: Finding] = [:]
    for line in result.lines {
      guard let json = try? JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any],
        json["event"] as? String == "finding", let check = json["check"] as? String
      else { continue }
      findings[check] = Finding(
        mark: json["mark"] as? String ?? "", message: json["message"] as? String ?? "",
        hint: json["hint"] as? String ?? "", exit: json["exit"] as? Int ?? -1,
        facts: json["facts"] as? [String: Any] ?? [:])
    }
    self.findings = findings
  }

  subscript(check: String) -> Finding? { findings[check] }
  var failed: Set<String> { Set(findings.filter { $0.value.mark == "fail" }.keys) }

  /// Expects one problem, with these words in its message and remedy.
  func expect(
    _ check: String, _ mark: String = "fail", exit: Int32, says: [String], mends: String,
    where location: SourceLocation = #_sourceLocation
  ) {
    #expect(status == exit, "\(all)", sourceLocation: location)
    let found = findings[check]
    #expect(found?.mark == mark, "\(all)", sourceLocation: location)
    for word in says { #expect(found?.message.contains(word) == true, "\(word): \(all)", sourceLocation: location) }
    #expect(found?.hint.contains(mends) == true, "\(all)", sourceLocation: location)
    #expect(failed == (mark == "fail" ? [check] : []), "\(all)", sourceLocation: location)
    if mark == "fail" { #expect(found?.exit == Int(exit), sourceLocation: location) }
  }
}

/// What the suites of `doctor` share.
protocol DoctorSuite {}

extension DoctorSuite {
  static var credential: FakeCredential {
    FakeCredential(
      keyID: "AKIADOCTORTESTS1", secret: "SecretSecretSecret/+0123456789abcdefABCD",
      sessionToken: "TokenTokenToken/+=0123456789" + String(repeating: "t0Ken", count: 20))
  }

  func box(
    secure: Bool = false, faults: [Fault] = [], _ change: (inout FakeOptions) -> Void = { _ in }
  ) throws -> BlackBox {
    var box = try BlackBox(secure: secure, faults: faults) { options in
      options.credentials = [Self.credential]
      options.abortDate = "Fri, 01 Jan 2038 00:00:00 GMT"
      change(&options)
    }
    box.environment["AWS_ACCESS_KEY_ID"] = Self.credential.keyID
    box.environment["AWS_SECRET_ACCESS_KEY"] = Self.credential.secret
    box.environment["AWS_SESSION_TOKEN"] = Self.credential.sessionToken
    return box
  }

  /// Runs `doctor`; its whole output must contain no secret.
  func doctor(
    _ box: BlackBox, _ words: String..., where location: SourceLocation = #_sourceLocation
  ) async throws -> Said {
    let result = try await box.run(["doctor", "-vv", "--json"] + words)
    var secrets = [Self.credential.secret, Self.credential.sessionToken ?? "", Self.credential.keyID]
    for request in box.fake.requests {
      if let header = request.headers["authorization"], let mark = header.range(of: "Signature=") {
        secrets.append(String(header[mark.upperBound...]))
      }
    }
    for secret in secrets {
      #expect(!(result.output + result.errors).contains(secret), "\(secret.prefix(6))…", sourceLocation: location)
    }
    return Said(result)
  }
}
