import Foundation
import MultipartBasics
import Support
import Testing

@testable import MultipartCore

/// A run's secrets are found in a text from outside, however they are written there.
@Suite(.timeLimit(.minutes(5))) struct SecretSearchTests {
  private static func hexed(_ bytes: [UInt8]) -> String { Hex.encode(bytes) }

  private static func percent(_ bytes: [UInt8], all: Bool, lower: Bool) -> String {
    bytes.map { byte in
      guard all || !ASCII.isAlphanumeric(byte) else { return String(UnicodeScalar(byte)) }
      let text = "%" + Hex.encode([byte]).uppercased()
      return lower ? text.lowercased() : text
    }.joined()
  }

  /// Every form a server could give a secret, each with its name.
  private static func forms(_ secret: [UInt8], _ dice: inout SeededRandom) -> [(name: String, text: String)] {
    let plain = String(decoding: secret, as: UTF8.self)
    var forms: [(name: String, text: String)] = [
      ("as is", plain), ("percent", percent(secret, all: false, lower: false)),
      ("percent, lower", percent(secret, all: false, lower: true)),
      ("percent, whole", percent(secret, all: true, lower: false)),
      ("percent twice", percent(Array(percent(secret, all: true, lower: true).utf8), all: false, lower: false)),
      ("form", plain.replacing("+", with: " ")), ("space as plus", plain.replacing(" ", with: "+")),
      ("hex", hexed(secret)), ("hex, upper", hexed(secret).uppercased()),
      ("XML", plain.replacing("&", with: "&amp;").replacing("+", with: "&#43;").replacing("/", with: "&#x2F;")),
      ("XML, whole", secret.map { "&#\($0);" }.joined()),
      ("JSON", plain.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("/", with: "\\/")),
      ("JSON, whole", secret.map { "\\u00" + hexed([$0]) }.joined()),
      ("JSON in percent", percent(Array(secret.map { "\\u00" + hexed([$0]) }.joined().utf8), all: false, lower: true)),
    ]
    for before in 0..<3 {
      let padded = Base64.encode((0..<before).map { _ in UInt8(truncatingIfNeeded: dice.next()) } + secret)
      forms.append(("base64, \(before) before", padded))
      forms.append(("base64 without padding, \(before) before", padded.replacing("=", with: "")))
      forms.append(
        ("base64url, \(before) before", padded.replacing("+", with: "-").replacing("/", with: "_")))
      forms.append(("base64 in percent, \(before) before", percent(Array(padded.utf8), all: false, lower: false)))
    }
    // The form is broken by lines and spaces, as in mail and web pages.
    let cut = Int(dice.next() % UInt64(max(1, secret.count - 1))) + 1
    forms.append(("broken", "\(plain.prefix(cut))\n  \(plain.dropFirst(cut))"))
    forms.append(("broken often", plain.map { "\($0) " }.joined()))
    return forms
  }

  private static func secret(_ kind: Int, _ dice: inout SeededRandom) -> [UInt8] {
    func letters(_ alphabet: String, _ count: Int) -> [UInt8] {
      let letters = Array(alphabet.utf8)
      return (0..<count).map { _ in letters[Int(dice.next() % UInt64(letters.count))] }
    }
    let base64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
    let count = Int(dice.next() % 40)
    return switch kind {
    case 0: letters(base64, 40)
    case 1: letters("0123456789abcdef", 64)
    case 2: letters(base64, 100 + 20 * count) + Array("==".utf8)
    case 3: letters("abcdefghijklmnopqrstuvwxyz0123456789", 10 + count)
    default: letters(base64 + "!$*()-_.~ \"&\\", 24 + count)
    }
  }

  /// The number of consecutive bytes that must not be shown. Hex digits occur in every ETag.
  private static func most(_ text: [UInt8]) -> Int {
    text.allSatisfy { Hex.value(of: $0) != nil } ? SecretForms.hexLength : 8
  }

  /// A piece of eight characters of `form` that is in `shown`; nil if there is none.
  private static func leak(of form: String, in shown: String) -> String? {
    let form = Array(form.utf8)
    let seen = Set(eights(Array(shown.utf8)))
    for (start, word) in eights(form).enumerated() where seen.contains(word) {
      let piece = Array(form[start..<start + 8])
      if piece.allSatisfy(ASCII.isAlphanumeric), most(piece) == 8 { return String(decoding: piece, as: UTF8.self) }
    }
    return nil
  }

  /// Each sequence of eight bytes, as one number.
  private static func eights(_ bytes: [UInt8]) -> [UInt64] {
    var word: UInt64 = 0
    return bytes.enumerated().compactMap { index, byte in
      word = word << 8 | UInt64(byte)
      return index >= 7 ? word : nil
    }
  }

  @Test("a random secret in a random text is shown in none of its forms", arguments: 0..<5)
  func anyForm(_ kind: Int) {
    var dice = SeededRandom(seed: UInt64(kind) + 77)
    for _ in 0..<40 {
      let secret = Self.secret(kind, &dice)
      let search = SecretSearch([secret])
      for (name, form) in Self.forms(secret, &dice) {
        let around = ("The thing \(dice.next() % 100) says: <Message>\"", "\"</Message>, and no more.")
        let shown = search.masked(around.0 + form + around.1)
        #expect(shown.contains(Redaction.mask), "\(name): \(form)")
        for known in [form, String(decoding: secret, as: UTF8.self)] {
          // The four characters at each end of a base64 text may belong to the bytes around it.
          let inner = name.hasPrefix("base64") && known == form ? String(known.dropFirst(4).dropLast(4)) : known
          let piece = Self.leak(of: inner, in: shown)
          #expect(piece == nil, "\(name): \(piece ?? "") of \(form) in \(shown)")
        }
        #expect(shown.contains("The thing") && shown.contains("no more"), "\(name): \(shown)")
      }
    }
  }

  @Test("digits and padding at the ends of a secret are hidden with it, and what stands beside it is not")
  func ends() {
    for secret in ["tok/SECRETTOKEN+1234567890==", "1234567890abc/SECRETTOKENS", "ABCDEFGHIJKLMNOPQRSTUVWXYZ01234567="]
    {
      let search = SecretSearch([Array(secret.utf8)])
      #expect(search.masked("token=\(secret); 400 Bad") == "token=REDACTED; 400 Bad")
      #expect(search.masked("123 \(secret) 123") == "123 REDACTED 123")
    }
  }

  @Test("a piece of a secret is hidden too, wherever it was cut off", arguments: [0, 2, 4])
  func pieces(_ kind: Int) {
    var dice = SeededRandom(seed: UInt64(kind) + 5)
    for _ in 0..<200 {
      let secret = Self.secret(kind, &dice)
      let start = Int(dice.next() % UInt64(secret.count - 16))
      let count = 16 + Int(dice.next() % UInt64(secret.count - start - 15))
      let piece = String(decoding: secret[start..<start + count], as: UTF8.self)
      // A letter next to the piece could be the next one of the secret.
      let shown = SecretSearch([secret]).masked("got ü(\(piece))ü of you")
      #expect(Self.leak(of: piece, in: shown) == nil, "\(piece) in \(shown)")
      #expect(shown.hasPrefix("got ü") && shown.hasSuffix("ü of you"), "\(shown)")
    }
  }

  @Test("the few pieces by which answers are searched for a signature find each stretch of it that must be masked")
  func stretches() throws {
    var dice = SeededRandom(seed: 11)
    var found = 0
    for _ in 0..<60 {
      let signature = Self.secret(1, &dice)
      let whole = SecretSearch([signature])
      let few = SecretSearch(try #require(SecretForms(stretchesOf: signature)))
      for (name, form) in Self.forms(signature, &dice) {
        for _ in 0..<10 {
          let start = Int(dice.next() % UInt64(form.utf8.count))
          let stretch = form.utf8.dropFirst(start).prefix(20 + Int(dice.next() % 60))
          let text = "got ü(\(String(decoding: Array(stretch), as: UTF8.self)))ü of you"
          guard whole.masked(Array(text.utf8), .lengths) != nil else { continue }
          found += 1
          #expect(few.mayMask(text.utf8), "\(name): \(text)")
        }
      }
      #expect(!few.mayMask("\"\(Hex.encode(Self.secret(1, &dice).prefix(16)))\" Tue, 24 Nov 2026 10:11:12 GMT".utf8))
    }
    #expect(found > 2000)
    #expect(SecretForms(stretchesOf: Array("SecretSecret/Secret".utf8)) == nil)
  }

  @Test("texts without a secret are not changed")
  func untouched() {
    var dice = SeededRandom(seed: 3)
    let search = SecretSearch((0..<5).map { Self.secret($0, &dice) })
    for _ in 0..<300 {
      let bytes = (0..<64).map { _ in UInt8(truncatingIfNeeded: dice.next()) }
      let text =
        "\"\(Hex.encode(bytes.prefix(16)))-12\" \(Base64.encode(bytes)) &quot;x&quot; 2026-01-01T10:11:12Z %41 \\u0041"
      #expect(search.masked(Array(text.utf8)) == nil, "\(text)")
    }
  }

  @Test("a short secret hides nothing", arguments: ["", "s", "store", "hunter2"])
  func short(_ secret: String) {
    let text = "the store does not know hunter2"
    #expect(SecretSearch([Array(secret.utf8)]).masked(text) == text)
  }

  @Test(
    "a secret with few letters is found as a whole", arguments: ["12345678", "p@$$-w0r", "deadbeef1234", "!!!!????"])
  func odd(_ secret: String) {
    let search = SecretSearch([Array(secret.utf8)])
    #expect(search.masked("it was \(secret), no") == "it was REDACTED, no")
    #expect(
      search.masked("it was \(Self.percent(Array(secret.utf8), all: true, lower: true)), no") == "it was REDACTED, no")
    #expect(search.masked("it was 1234567, deadbeef123, no") == "it was 1234567, deadbeef123, no")
  }

  @Test(
    "an incomplete or invalid escape does not end the search",
    arguments: ["%", "%4", "&", "&#", "&#x;", "\\", "\\u00", "&#99999999;"])
  func cutEscapes(_ escape: String) {
    let search = SecretSearch([Array("SecretSecretSecret".utf8)])
    #expect(search.masked(escape) == escape)
    #expect(search.masked("\(escape)") == escape)
    #expect(!search.masked("SecretSecretSecret\(escape)").contains("Secret"))
    #expect(!search.masked("\(escape) SecretSecretSecret").contains("SecretSecret"))
  }
}
