@testable import MultipartCore
import Testing

@Suite("Wordings", .timeLimit(.minutes(15)))
struct WordingTests {
  private let wording: Wording =
    "give \(.region, "eu-west-1"), leave \(.accelerate) out or say \(off: .accelerate), and run \(run: .examine)"

  @Test("a literal becomes text, settings and actions")
  func literal() {
    #expect(
      wording.pieces == [
        .text("give "), .setting(.region, .value("eu-west-1")), .text(", leave "), .setting(.accelerate, .name),
        .text(" out or say "), .setting(.accelerate, .off), .text(", and run "), .action(.examine),
      ])
    #expect(wording.settings == [.region, .accelerate, .accelerate] && wording.actions == [.examine])
  }

  @Test("it is shown in the library's words, or in the program's")
  func words() {
    #expect(
      wording.description
        == "give region: \"eu-west-1\", leave accelerate out or say accelerate: false, and run Store.examine()")
    let text = wording.text(setting: { name, _ in "[\(name)]" }, action: { _ in "!" })
    #expect(text == "give [region], leave [accelerate] out or say [accelerate], and run !")
  }

  @Test("texts with equal contents are equal, however they were built")
  func sums() {
    let (number, word) = (3, "parts")
    var sum: Wording = "\(number) "
    sum += "\(word)"
    sum += ""
    #expect(sum == "3 parts" && sum.pieces == [.text("3 parts")])
    #expect("lower " + "\(.partSize)" as Wording == "lower \(.partSize)")
    #expect("see: \(sum)" as Wording == "see: 3 parts")
    #expect(["\(.fips)", "x"].joined(separator: ", ") as Wording == "\(.fips), x")
  }

  @Test("a failure has its remedy as values")
  func failure() throws {
    let failure = #expect(throws: Failure.self) {
      try EndpointResolver.resolve(bucket: "base--usw2-az1--x-s3", region: "eu-west-1")
    }
    #expect(failure?.remedy?.settings == [.region])
    #expect(failure?.remedy?.pieces.contains(.setting(.region, .value("us-west-2"))) == true)
  }

  @Test("a secret is masked in texts, values and actions, even if it is spread over several of them")
  func secrets() {
    let secret = "s3cretTokenOfThisRunAndNoOther"
    let world = SecretsInUse()
    world.add(Secret(secret))
    let masked = world.masked(
      "a \(secret) b \(.endpoint, "https://\(secret)/") c \(run: .abort(bucket: "b", key: secret, uploadID: secret))")
    #expect(
      masked == """
        a REDACTED b \(.endpoint, "https://REDACTED/") c \
        \(run: .abort(bucket: "b", key: "REDACTED", uploadID: "REDACTED"))
        """)
    world.add(Secret("tokenregioneuwest1"))
    #expect(world.masked("a token\(.region, "eu-west-1")") == "a REDACTED\"")
  }

  @Test("the program's own words stay, even if a weak secret consists of them; the same words from outside are masked")
  func ownWords() {
    let world = SecretsInUse()
    world.add(Secret("secretkey"))
    let own: Wording = "the secret key does not belong to the access key; check \(.region)"
    #expect(world.masked(own) == own)
    let said = "your key is secretkey"
    let message: Wording = "the secret key was refused: \(said)"
    #expect(world.masked(message) == "the secret key was refused: your key is REDACTED")
    // What was masked once stays as it is.
    #expect(world.masked(world.masked(message)) == world.masked(message))
    let spread: Wording = "a secret \("key")"
    #expect(world.masked(spread) == "a REDACTED")
  }
}
