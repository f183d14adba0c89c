import Foundation
@testable import MultipartCore

/// The operations that the fake store knows, named as in S3's own documentation.
package enum FakeOperation: String, Codable, Sendable, CaseIterable {
  case abortMultipartUpload = "AbortMultipartUpload"
  case completeMultipartUpload = "CompleteMultipartUpload"
  case createMultipartUpload = "CreateMultipartUpload"
  case createSession = "CreateSession"
  case deleteObject = "DeleteObject"
  case getBucketLifecycle = "GetBucketLifecycleConfiguration"
  case getBucketLocation = "GetBucketLocation"
  case getObject = "GetObject"
  case getObjectACL = "GetObjectAcl"
  case getObjectLegalHold = "GetObjectLegalHold"
  case getObjectRetention = "GetObjectRetention"
  case getObjectTagging = "GetObjectTagging"
  case headBucket = "HeadBucket"
  case headObject = "HeadObject"
  case listBuckets = "ListBuckets"
  case listMultipartUploads = "ListMultipartUploads"
  case listObjectVersions = "ListObjectVersions"
  case listObjects = "ListObjectsV2"
  case listParts = "ListParts"
  case putObject = "PutObject"
  case uploadPart = "UploadPart"
  case unknown = "Unknown"
}

/// The target of a request: operation, bucket, key, version, upload and part.
struct FakeRoute: Sendable {
  var operation: FakeOperation
  var bucket: String
  var key: String
  var uploadID: String?
  var partNumber: Int?
  var versionID: String?
  /// Whether the key's bytes are not UTF-8, or the path has a broken escape.
  var badKey = false
  /// The host's region, if it is one of AWS's hosts.
  var region: String?

  /// Parses a head: a host `<bucket>.<hostSuffix>` names the bucket, otherwise the first segment of the path does.
  init(_ head: HTTPHead, hostSuffix: String) {
    let host = (head.headers["host"] ?? "").split(separator: ":").first.map { $0.lowercased() } ?? ""
    var path = head.rawPath.dropFirst()
    let aws = FakeAWSHost(host)
    region = aws?.region
    if let named = aws?.bucket {
      bucket = named
    } else if host.hasSuffix("." + hostSuffix) {
      bucket = String(host.dropLast(hostSuffix.utf8.count + 1))
    } else {
      let end = path.firstIndex(of: "/") ?? path.endIndex
      bucket = FakeURL.decode(path[..<end]).map { String(decoding: $0, as: UTF8.self) } ?? ""
      path = end == path.endIndex ? "" : path[path.index(after: end)...]
    }
    let decoded = FakeURL.decode(path).flatMap { String(validating: $0, as: UTF8.self) }
    key = decoded ?? ""
    badKey = decoded == nil
    uploadID = head.query("uploadId")
    partNumber = head.query("partNumber").flatMap { Int($0) }
    versionID = head.query("versionId")
    operation = Self.operation(head, bucket: bucket, key: key)
  }

  private static func operation(_ head: HTTPHead, bucket: String, key: String) -> FakeOperation {
    let has = { (name: String) in head.query(name) != nil }
    let known: Set<String> = [
      "uploads", "uploadId", "partNumber", "location", "lifecycle", "list-type", "prefix", "delimiter", "max-keys",
      "max-parts", "max-uploads", "part-number-marker", "key-marker", "upload-id-marker", "continuation-token",
      "start-after", "encoding-type", "versionId", "x-id", "fetch-owner", "session", "acl", "tagging",
      "retention", "legal-hold", "versions", "version-id-marker",
    ]
    for (name, _) in head.query {
      let lower = name.lowercased()
      if !known.contains(name), !lower.hasPrefix("x-amz-"), !lower.hasPrefix("response-") { return .unknown }
    }
    guard !bucket.isEmpty else { return head.method == "GET" && head.query.isEmpty ? .listBuckets : .unknown }
    if key.isEmpty {
      switch head.method {
      case "HEAD": return .headBucket
      case "GET" where has("uploads"): return .listMultipartUploads
      case "GET" where has("versions"): return .listObjectVersions
      case "GET" where has("session"): return .createSession
      case "GET" where has("location"): return .getBucketLocation
      case "GET" where has("lifecycle"): return .getBucketLifecycle
      case "GET": return .listObjects
      default: return .unknown
      }
    }
    switch head.method {
    case "POST" where has("uploads"): return .createMultipartUpload
    case "POST" where has("uploadId"): return .completeMultipartUpload
    case "PUT" where has("uploadId") || has("partNumber"): return .uploadPart
    case "PUT": return .putObject
    case "DELETE" where has("uploadId"): return .abortMultipartUpload
    case "DELETE": return .deleteObject
    case "GET" where has("uploadId"): return .listParts
    case "GET" where has("acl"): return .getObjectACL
    case "GET" where has("tagging"): return .getObjectTagging
    case "GET" where has("retention"): return .getObjectRetention
    case "GET" where has("legal-hold"): return .getObjectLegalHold
    case "GET": return .getObject
    case "HEAD": return .headObject
    default: return .unknown
    }
  }
}
