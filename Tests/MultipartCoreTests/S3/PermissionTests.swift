import Support
import Testing

@testable import MultipartCore

@Suite("What a policy must grant")
struct PermissionTests {
  private static let object = ObjectAddress("b", "k")
  private static let bucket = BucketAddress("b")

  /// Every operation, and the permission that it needs at AWS.
  private static let all: [(any S3Operation, String)] = [
    (AbortMultipartUpload(object, uploadID: "u"), "s3:AbortMultipartUpload"),
    (CompleteMultipartUpload(object, uploadID: "u", parts: []), "s3:PutObject (kms:Decrypt with KMS)"),
    (
      CreateMultipartUpload(object),
      "s3:PutObject (kms:GenerateDataKey with KMS, s3:PutObjectTagging with tags, s3:PutObjectAcl with an ACL)"
    ),
    (CreateSession(bucket: "b"), "s3express:CreateSession on the directory bucket"),
    (GetBucketCORS(bucket: bucket), "s3:GetBucketCORS on the bucket"),
    (GetBucketLifecycle(bucket), "s3:GetLifecycleConfiguration on the bucket"),
    (GetObject(object), "s3:GetObject (kms:Decrypt with KMS)"),
    (GetObject(object, versionID: "v"), "s3:GetObjectVersion (kms:Decrypt with KMS)"),
    (GetObjectSettings(object, part: .acl), "s3:GetObjectAcl"),
    (GetObjectSettings(object, part: .acl, versionID: "v"), "s3:GetObjectVersionAcl"),
    (GetObjectSettings(object, part: .tagging), "s3:GetObjectTagging"),
    (GetObjectSettings(object, part: .tagging, versionID: "v"), "s3:GetObjectVersionTagging"),
    (GetObjectSettings(object, part: .retention), "s3:GetObjectRetention"),
    (GetObjectSettings(object, part: .legalHold, versionID: "v"), "s3:GetObjectLegalHold"),
    (HeadObject(object), "s3:GetObject (and s3:ListBucket, without which the answer for a missing object is 403)"),
    (
      HeadObject(object, versionID: "v"),
      "s3:GetObjectVersion (and s3:ListBucket, without which the answer for a missing object is 403)"
    ),
    (ListBuckets(), "s3:ListAllMyBuckets"),
    (ListMultipartUploads(bucket), "s3:ListBucketMultipartUploads on the bucket"),
    (ListObjectVersions(bucket), "s3:ListBucketVersions on the bucket"),
    (ListObjects(bucket), "s3:ListBucket on the bucket"),
    (ListParts(object, uploadID: "u"), "s3:ListMultipartUploadParts"),
    (PutBucketCORS(bucket: bucket, rules: []), "s3:PutBucketCORS on the bucket"),
    (
      PutObject(object, body: .none),
      "s3:PutObject (kms:GenerateDataKey with KMS, s3:PutObjectTagging with tags, s3:PutObjectAcl with an ACL)"
    ),
    (
      UploadPart(object, uploadID: "u", partNumber: 1, body: .none),
      "s3:PutObject (kms:GenerateDataKey and kms:Decrypt with KMS)"
    ),
  ]

  @Test(
    "A 403 names the permission that the operation needs, and for a version that of versions", arguments: all.indices)
  func forbidden(_ index: Int) {
    let (operation, permission) = Self.all[index]
    func refused(_ operation: some S3Operation) -> Failure? {
      s3Failure { _ = try operation.output(from: S3Answers.ok(S3Answers.error("AccessDenied"), status: 403)) }
    }
    let failure = refused(operation)
    #expect(failure?.code == .credentials)
    #expect(
      failure?.remedy?.description
        == "\(operation.operation) needs \(permission): ask the bucket's owner to allow it, or use other credentials")
  }

  @Test("The table above has all operations")
  func complete() throws {
    let declared = try RoomTests.sources("S3").values.reduce(into: Set<String>()) { found, text in
      for match in text.matches(of: /struct (\w+): S3Operation\b/) { found.insert(String(match.1)) }
    }
    #expect(declared == Set(Self.all.map { "\(type(of: $0.0))" }))
    #expect(declared.count > 15)
  }
}
