import Foundation
@testable import MultipartCore
import Support

/// The system's curl as a second client: its signatures come from neither the product nor the fake.
struct CurlClient {
  var fake: FakeS3
  var credential = FakeCredential.standard
  var region = "us-east-1"
  var signs = true
  var extra: [String] = []

  struct Answer {
    var exit: Int32?
    var status = 0
    var headers: HeaderList = [:]
    var body: [UInt8] = []
    var text: String { String(decoding: body, as: UTF8.self) }
    var code: String? { between("<Code>", "</Code>") }
    var requestsOnWire = 0

    func between(_ open: String, _ close: String) -> String? {
      guard let start = text.range(of: open), let end = text.range(of: close, range: start.upperBound..<text.endIndex)
      else { return nil }
      return String(text[start.upperBound..<end.lowerBound])
    }
  }

  /// Calls curl; `target` is the path and query, encoded and sorted, each name with its `=`, because that is what curl
  /// 7.88 signs.
  func call(
    _ method: String, _ target: String, body: [UInt8]? = nil, headers: [String] = [], payload: String? = nil
  ) async throws -> Answer {
    let folder = try TemporaryDirectory("curl")
    var arguments = ["-D", folder.path("head"), "-o", folder.path("body"), "--path-as-is", "-H", "Expect:"]
    if method == "HEAD" { arguments.append("-I") } else { arguments += ["-X", method] }
    if signs {
      arguments += [
        "--aws-sigv4", "aws:amz:\(region):s3", "--user", "\(credential.keyID):\(credential.secret)",
        "-H", "x-amz-content-sha256: \(payload ?? "UNSIGNED-PAYLOAD")",
      ]
      if let token = credential.sessionToken { arguments += ["-H", "x-amz-security-token: \(token)"] }
    }
    for header in headers { arguments += ["-H", header] }
    if let body {
      arguments += ["--data-binary", "@" + (try folder.write(body, to: "sent")), "-H", "Content-Type:"]
    } else if method == "PUT" || method == "POST" {
      arguments += ["-H", "Content-Length: 0"]
    }
    arguments += extra
    arguments.append(target.hasPrefix("http") ? target : fake.endpoint + target)
    let result = try await curl(arguments)
    var answer = Answer(exit: result.status)
    let heads = String(decoding: (try? folder.read("head")) ?? [], as: UTF8.self)
    for line in heads.components(separatedBy: "\r\n") where !line.isEmpty {
      if line.hasPrefix("HTTP/") {
        answer.headers = [:]
        answer.status = Int(line.split(separator: " ").dropFirst().first ?? "") ?? 0
        answer.requestsOnWire += 1
      } else if let colon = line.firstIndex(of: ":") {
        answer.headers.add(
          String(line[..<colon]), line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces))
      }
    }
    answer.body = (try? folder.read("body")) ?? []
    return answer
  }

  /// Creates an upload and returns its id.
  func create(_ key: String = "key", headers: [String] = []) async throws -> String {
    let answer = try await call("POST", "/bucket/\(key)?uploads=", headers: headers)
    return answer.between("<UploadId>", "</UploadId>") ?? "none: \(answer.status) \(answer.text)"
  }

  func part(
    _ number: Int, of upload: String, _ body: [UInt8], key: String = "key", headers: [String] = []
  ) async throws -> Answer {
    try await call("PUT", "/bucket/\(key)?partNumber=\(number)&uploadId=\(upload)", body: body, headers: headers)
  }

  func complete(
    _ upload: String, _ parts: [(number: Int, etag: String)], key: String = "key", headers: [String] = [],
    inner: [Int: String] = [:]
  ) async throws -> Answer {
    let list = parts.map {
      "<Part><PartNumber>\($0.number)</PartNumber><ETag>\($0.etag)</ETag>\(inner[$0.number] ?? "")</Part>"
    }
    let document = "<CompleteMultipartUpload>\(list.joined())</CompleteMultipartUpload>"
    return try await call("POST", "/bucket/\(key)?uploadId=\(upload)", body: Array(document.utf8), headers: headers)
  }
}

/// A fake that accepts unsigned requests and small parts, and a curl client for it.
func openStore(
  faults: [Fault] = [], _ change: (inout FakeOptions) -> Void = { _ in }
) throws -> (fake: FakeS3, client: CurlClient) {
  let fake = try FakeS3(
    FakeOptions {
      $0.allowsAnonymous = true
      $0.minimumPartSize = 1
      change(&$0)
    }, faults: faults)
  return (fake, CurlClient(fake: fake, signs: false))
}
