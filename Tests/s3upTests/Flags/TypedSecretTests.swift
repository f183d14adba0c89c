import MultipartBasics
@testable import MultipartCore
import Testing

@testable import s3up

/// A secret that a person types into the wrong place is not shown.
@Suite(.timeLimit(.minutes(15))) struct TypedSecretTests {
  private func shown(_ words: [String], _ read: (Invocation) throws -> Void) -> String {
    do {
      try read(try Parser.parse(words.map { Argument($0) }, environment: [:]))
      return ""
    } catch {
      guard let failure = error as? Failure else { return "\(error)" }
      return ErrorText.lines(for: failure).joined(separator: "\n")
    }
  }

  @Test(
    "The password of an endpoint",
    arguments: ["user:s3cret@host:9000", "htp://user:s3cret@host", "https://user:s3cret @host", "https://u:s3cret@h"])
  func endpoint(_ url: String) {
    let text = shown(["create", "s3://bucket/k", "--endpoint-url", url]) { _ = try StoreOptions($0) }
    #expect(text.contains("--endpoint-url"))
    #expect(!text.contains("s3cret"), "\(text)")
  }

  @Test("The signature of a presigned URL given as an object or an extra argument")
  func presigned() {
    let url = "https://host/b/k?X-Amz-Credential=s3cret&X-Amz-Signature=s3cret"
    let wrong = shown(["part", "f", url]) { _ = try S3URL(try $0.arguments("FILE", "s3://BUCKET/KEY")[1]) }
    let extra = shown(["part", "f", "s3://b/k", url]) { _ = try $0.arguments("FILE", "s3://BUCKET/KEY") }
    for text in [wrong, extra] {
      #expect(text.contains("https://host/b/k"))
      #expect(!text.contains("s3cret"), "\(text)")
    }
  }

  @Test("The signature of a URL that is typed where a file, a folder or a setting belongs, in every part of a message")
  func anywhere() {
    let url = "http://u:s3cret@host/b/k?X-Amz-Signature=s3cret&x=1"
    var failure = Failure(.usage, "there is no file \(url), or '\(url)': it is \(url).", remedy: "Leave \(url) out.")
    failure = failure.at(Place(file: url, bucket: "bucket", key: "x/?X-Amz-Signature=s3cret"))
    let text = ErrorText.lines(for: failure).joined(separator: "\n")
    let json = Event.failed(Event.Subject(failure.place), failure, resumable: false).json
    for shown in [text, json] { #expect(shown.contains("host/b/k?") && !shown.contains("s3cret"), "\(shown)") }
    for piece in ["&x=1, or '", "&x=1': it is ", "s3://bucket/x/?"] { #expect(text.contains(piece), "\(text)") }
    // A name that only looks like a part of a URL stays as it is.
    for name in ["a?b=c", "what? token", "s3://b/k?versionId=3", "50% of x=1"] { #expect(Redaction.text(name) == name) }
  }

  @Test("Messages do not show user and password of a presigned URL")
  func user() {
    #expect(PresignedPart("https://user:s3cret@host:1/b/k?partNumber=2").host == "host:1")
    let named = PresignedPart("https://host:1/b/k?partNumber=2&uploadId=a%2Bb%3D")
    #expect(named.host == "host:1" && named.part == 2 && named.uploadID == "a+b=")
  }

  @Test("A command to copy is quoted for a shell")
  func quoting() {
    #expect(ShellWord.quoted("s3://b/k-1_2.txt") == "s3://b/k-1_2.txt")
    #expect(ShellWord.quoted("a b;c'd$(e)") == #"'a b;c'\''d$(e)'"#)
    #expect(ShellWord.quoted("") == "''")
    #expect(Array(ShellWord.quoted("'\u{301};id").utf8) == Array("''\\''\u{301};id'".utf8))
  }
}
