import MultipartBasics
@testable import MultipartCore
import Support
import Testing

/// Which findings follow from which answers, without a store.
@Suite(.timeLimit(.minutes(15))) struct FindingsTests {
  private static let now = Timestamp(seconds: 1_800_000_000)

  private func place(_ bucket: String = "bucket", region: String = "eu-west-1", url: String? = nil) throws
    -> Examination.Place
  {
    let endpoint = try EndpointResolver.resolve(bucket: bucket, region: region, endpointURL: url)
    return Examination.Place(endpoint, source: "AWS's bucket", regionSource: "AWS_REGION")
  }

  private func exam(_ url: String? = nil) throws -> Examination {
    var exam = Examination(now: Self.now)
    exam.bucket = "bucket"
    exam.place = try place(url: url)
    return exam
  }

  private func keys(end: Int64? = nil, id: String = "AKIAIOSFODNN7EXAMPLE") -> Examination.Signing {
    .keys(
      .init(
        Credentials(
          accessKeyID: id, secretAccessKey: Secret("s"),
          expiration: end.map { Timestamp(seconds: Self.now.seconds + $0) },
          source: "environment")))
  }

  private func visit(status: Int = 403, ahead: Int64? = 0, headers: HeaderList = [:]) -> StoreVisit {
    var visit = StoreVisit(
      outcome: .success(Response(status: status, headers: headers)), connection: ConnectionReport())
    visit.clockAhead = ahead
    return visit
  }

  private func upload(abortDate: Timestamp? = nil) throws -> CreateMultipartUpload.Output {
    var output = try CreateMultipartUpload(ObjectAddress("bucket", "k")).output(
      from: Response(
        status: 200,
        body: Array("<InitiateMultipartUploadResult><UploadId>u</UploadId></InitiateMultipartUploadResult>".utf8)))
    output.abortDate = abortDate
    return output
  }

  private func finding(_ exam: Examination, _ check: StoreFinding.Check) -> StoreFinding? {
    exam.findings.first { $0.check == check }
  }

  @Test("each check has at most one finding, in the order of the checks")
  func order() throws {
    var exam = try exam()
    exam.signing = keys()
    exam.visit = visit()
    exam.addresses = .success(["1.2.3.4"])
    exam.probe = ProbeReport(key: "k", began: .success(try upload()))
    exam.lifecycle = .success([])
    exam.state = StateFolderReport(path: "/s", use: .writable)
    let order = exam.findings.compactMap { StoreFinding.Check.allCases.firstIndex(of: $0.check) }
    #expect(order == order.sorted() && Set(order).count == order.count && order.count >= 10)
  }

  @Test("each failure has a remedy and a code", arguments: Failure.Code.allCases)
  func mended(_ code: Failure.Code) throws {
    var exam = try exam()
    exam.signing = .failed(Failure(code, "c"))
    exam.addresses = .failure(Failure(code, "a"))
    exam.probe = ProbeReport(key: "k", began: .failure(Failure(code, "p")))
    exam.probe?.leftBehind = Failure(code, "l")
    for finding in exam.findings where finding.mark != .ok {
      #expect(finding.remedy?.isEmpty == false && !finding.text.isEmpty, "\(finding)")
      #expect(finding.mark == .warn || finding.code == code, "\(finding)")
    }
    #expect(exam.findings.contains { $0.mark == .fail })
  }

  @Test(
    "of an access key id only both ends are shown, never all of it",
    arguments: [
      ("AKIAIOSFODNN7EXAMPLE", "AKIA…MPLE"), ("minioadmin", "min…min"), ("abc", "a…c"), ("ab", "…"), ("", "…"),
    ])
  func shortened(_ id: String, _ shown: String) {
    let keys = Examination.Keys(
      Credentials(accessKeyID: id, secretAccessKey: Secret("s"), source: "environment"))
    #expect(keys.id == shown)
  }

  @Test("the expiry of credentials is judged by the store's clock")
  func end() throws {
    var exam = try exam()
    exam.signing = keys(end: 600)
    exam.visit = visit(ahead: 0)
    #expect(finding(exam, .credentials)?.mark == .ok)
    #expect(finding(exam, .credentials)?.text.hasSuffix("(in 10 min)") == true)
    exam.visit = visit(ahead: 700)
    #expect(finding(exam, .credentials)?.code == .credentialsExpired)
  }

  @Test(
    "the clock may differ by a minute without a warning, and by a quarter of an hour for S3",
    arguments: [
      (0, StoreFinding.Mark.ok), (60, .ok), (-60, .ok), (61, .warn), (-900, .warn), (901, .fail), (-1200, .fail),
    ] as [(Int64, StoreFinding.Mark)])
  func clock(_ ahead: Int64, _ mark: StoreFinding.Mark) throws {
    var exam = try exam()
    exam.visit = visit(ahead: ahead)
    let found = finding(exam, .clock)
    #expect(found?.mark == mark)
    if abs(ahead) > 1 { #expect(found?.text.contains(ahead > 0 ? "behind" : "ahead of") == true) }
  }

  @Test("a region that the store contradicts is a failure, whichever answer named it")
  func region() throws {
    var exam = try exam()
    exam.visit = visit(headers: ["x-amz-bucket-region": "eu-west-1"])
    #expect(finding(exam, .region)?.mark == .ok)
    exam.visit = visit(headers: ["x-amz-bucket-region": "eu-central-1"])
    #expect(finding(exam, .region)?.remedy == "export AWS_REGION=eu-central-1")
    exam.visit = visit()
    exam.probe = ProbeReport(key: "k", began: .success(try upload()))
    exam.probe?.region = "eu-north-1"
    #expect(finding(exam, .region)?.code == .configuration)
    // Without a bucket there is no region to compare.
    exam.bucket = nil
    #expect(finding(exam, .region)?.mark == .ok)
  }

  @Test("AWS says even without a signature that a bucket does not exist; another store's 404 says nothing")
  func missingBucket() throws {
    var exam = try exam()
    exam.signing = .failed(Failure(.credentials, "none"))
    exam.visit = visit(status: 404)
    #expect(finding(exam, .bucket)?.mark == .fail)
    exam.place = try place(url: "http://127.0.0.1:9000")
    #expect(finding(exam, .bucket) == nil)
  }

  @Test("refused credentials are reported only as such, and missing permissions only for the upload")
  func blame() throws {
    var exam = try exam()
    exam.signing = keys()
    for code in ["SignatureDoesNotMatch", "InvalidAccessKeyId", "ExpiredToken"] {
      exam.probe = ProbeReport(
        key: "k", began: .failure(Failure(.credentials, "no", status: 403, s3Code: code)))
      #expect(exam.findings.filter { $0.mark == .fail }.map(\.check) == [.credentials])
    }
    exam.probe = ProbeReport(
      key: "k", began: .failure(Failure(.credentials, "no", status: 403, s3Code: "AccessDenied")))
    #expect(exam.findings.filter { $0.mark == .fail }.map(\.check) == [.upload])
    let needed =
      "s3:PutObject (kms:GenerateDataKey with KMS, s3:PutObjectTagging with tags, s3:PutObjectAcl with an ACL)"
    #expect(finding(exam, .upload)?.remedy == "allow \(needed) on arn:aws:s3:::bucket/*")
  }

  @Test("STS that cannot be reached is a warning: uploads do not need it")
  func identity() throws {
    var exam = try exam()
    exam.signing = keys()
    exam.identity = .failure(Failure(.network, "no route"))
    #expect(finding(exam, .identity)?.mark == .warn && finding(exam, .credentials)?.mark == .ok)
    exam.identity = .failure(Failure(.credentials, "no", s3Code: "InvalidClientTokenId"))
    #expect(finding(exam, .identity) == nil && finding(exam, .credentials)?.mark == .fail)
  }

  @Test("on AWS an answer without the date means that there is no rule; elsewhere it is unknown")
  func lifecycle() throws {
    var exam = try exam()
    exam.probe = ProbeReport(key: "pre/k", began: .success(try upload()))
    exam.lifecycle = .failure(Failure(.credentials, "no", status: 403, s3Code: "AccessDenied"))
    #expect(finding(exam, .lifecycle)?.text.hasPrefix("no rule") == true)
    exam.place = try place(url: "https://s3.example.com")
    #expect(finding(exam, .lifecycle)?.text.contains("not known") == true)
    exam.lifecycle = .success([.init(prefix: "other/", days: 1), .init(id: "tidy", prefix: "pre", days: 3)])
    #expect(finding(exam, .lifecycle)?.text == "the rule tidy aborts unfinished uploads after 3 days")
    exam.probe = ProbeReport(
      key: "k", began: .success(try upload(abortDate: Timestamp(seconds: Self.now.seconds + 7 * 86_400))))
    #expect(finding(exam, .lifecycle)?.text == "the rule aborts unfinished uploads after 7 days")
  }

  @Test("plain HTTP to another machine is a warning, within this one it is not")
  func plain() throws {
    var exam = try exam("http://10.0.0.1:9000")
    #expect(finding(exam, .tls)?.mark == .warn)
    exam = try self.exam("http://127.0.0.1:9000")
    // Nothing is said about a connection that was not made.
    exam.visit = nil
    #expect(finding(exam, .tls) == nil)
    exam.visit = visit()
    #expect(finding(exam, .tls)?.mark == .ok)
  }

  @Test(
    "a refused certificate is only a TLS failure, and its remedy is passed on",
    arguments: [(9, "clock"), (10, "renewed"), (19, "caBundle"), (62, "another name"), (0, "another name")])
  func certificates(_ reason: Int, _ mend: String) throws {
    var exam = try exam()
    var connection = ConnectionReport()
    connection.isConnected = true
    connection.verifyError = reason
    exam.visit = StoreVisit(
      outcome: .failure(Failure(.tls, "not accepted", remedy: Wording(mend))), connection: connection)
    let found = finding(exam, .tls)
    #expect(found?.mark == .fail && found?.remedy?.contains(mend) == true)
    #expect(finding(exam, .connection)?.mark == .ok)
  }

  @Test("an upload that may have been created, and could not be looked for, is named")
  func leftBehind() throws {
    var exam = try exam()
    exam.probe = ProbeReport(key: "a b", began: .failure(Failure(.network, "lost")))
    #expect(finding(exam, .abort) == nil)
    exam.probe?.leftBehind = Failure(.network, "gone")
    #expect(finding(exam, .abort)?.remedy?.actions == [.listUploads(bucket: "bucket", key: "a b")])
  }
}
