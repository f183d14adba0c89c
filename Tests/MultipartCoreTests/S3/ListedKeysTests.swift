import Testing

@testable import MultipartCore

/// How the keys of a page are encoded, if the store's claim and the page itself disagree.
@Suite struct ListedKeysTests {
  @Test("The requested prefix shows whether keys are encoded, whatever the store says", arguments: ["url", nil])
  func prefix(_ type: String?) {
    let plain = ListedKeys(["a%20b/c%2Bd"], encodingType: type, prefix: "a%20b/")
    #expect(plain.decoded("a%20b/c%2Bd") == "a%20b/c%2Bd")
    #expect(plain.other("a%20b/c%2Bd") == nil && !plain.areDoubtful)
    let encoded = ListedKeys(["a%20b/c%2Bd"], encodingType: type, prefix: "a b/")
    #expect(encoded.decoded("a%20b/c%2Bd") == "a b/c+d")
    #expect(encoded.other("a%20b/c%2Bd") == nil && !encoded.areDoubtful)
  }

  @Test("An encoded slash shows that a store encodes, even if it leaves a character that others escape")
  func slashes() {
    let keys = ListedKeys(["a%2Fb^c", "d%20e"], encodingType: "url")
    #expect(keys.decoded("a%2Fb^c") == "a/b^c" && keys.decoded("d%20e") == "d e")
    // If slashes are not encoded, `%2F` may be part of the name.
    let plain = ListedKeys(["a/%2Fb^c"], encodingType: "url")
    #expect(plain.decoded("a/%2Fb^c") == "a/%2Fb^c")
  }
}
