import Support
import Testing

@testable import MultipartCore

@Suite(.timeLimit(.minutes(15))) struct AttributeRulesTests {
  private let folder: TemporaryDirectory

  init() throws { folder = try TemporaryDirectory() }

  private func rules(_ text: String) throws -> AttributeRules {
    try AttributeRules(FilePath(try folder.write(text, to: "attributes")))
  }

  private func headers(_ text: String, _ name: String, _ given: ObjectHeaders = ObjectHeaders()) throws -> ObjectHeaders
  {
    var headers = given
    try rules(text).set(&headers, of: Array(name.utf8))
    return headers
  }

  private static let site = """
    \u{FEFF}# what browsers are told
    *.html content-type="text/html; charset=latin1" cache-control=no-cache\r
    \t assets/**   cache-control="public, max-age=31536000, immutable"

    *.gz content-encoding=gzip content-disposition="attachment; filename=\\"a\\\\b\\""
    /index.html !cache-control content-language=de expires=2031-01-31T10:00:00Z
    "with space/*.txt" website-redirect=/x storage-class=STANDARD_IA tag.team=a=b meta.From=x
    """

  @Test("The last matching line that names a property counts, and the globs are those of filters")
  func last() throws {
    var page = ObjectHeaders()
    page.contentType = "text/html; charset=latin1"
    page.cacheControl = "no-cache"
    #expect(try headers(Self.site, "deep/page.html") == page)
    page.cacheControl = "public, max-age=31536000, immutable"
    #expect(try headers(Self.site, "assets/page.html") == page)
    (page.cacheControl, page.contentLanguage) = (nil, "de")
    page.expires = "Fri, 31 Jan 2031 10:00:00 GMT"
    #expect(try headers(Self.site, "index.html") == page)
    var packed = ObjectHeaders()
    (packed.contentEncoding, packed.contentDisposition) = ("gzip", #"attachment; filename="a\b""#)
    #expect(try headers(Self.site, "x.gz") == packed)
    var spaced = ObjectHeaders()
    (spaced.websiteRedirect, spaced.storageClass) = ("/x", "STANDARD_IA")
    (spaced.tags, spaced.metadata) = ([NamedValue("team", "a=b")], [NamedValue("from", "x")])
    #expect(try headers(Self.site, "with space/a.txt") == spaced)
    #expect(try headers(Self.site, "other") == ObjectHeaders())
  }

  @Test("A line's value replaces the option of that name and no other; !NAME restores the option")
  func options() throws {
    var given = ObjectHeaders()
    (given.cacheControl, given.contentLanguage) = ("private", "en")
    given.metadata = [NamedValue("A", "1"), NamedValue("b", "2")]
    given.tags = [NamedValue("A", "1"), NamedValue("a", "2")]
    var wanted = given
    wanted.cacheControl = "no-cache"
    wanted.metadata = [NamedValue("b", "2"), NamedValue("a", "3")]
    wanted.tags = [NamedValue("A", "1"), NamedValue("a", "3")]
    #expect(try headers("* cache-control=no-cache meta.a=3 tag.a=3", "x", given) == wanted)
    #expect(try headers("* cache-control=x meta.a=3\nx !cache-control !meta.A", "x", given) == given)
  }

  @Test("A tag whose letters are written in other bytes is another one")
  func bytes() throws {
    let tags = try headers("* tag.\u{E9}=1 tag.e\u{301}=2 tag.\u{E9}=3", "x").tags
    #expect(tags.map(\.value) == ["2", "3"])
  }

  private static let wrong: [(line: String, word: String)] = [
    ("*.html", "no attribute follows"), ("* cache-control", "has no value"), ("* cache-control=", "is empty"),
    ("* cache_control=x", "no attribute cache_control"), ("* meta.=x", "no attribute meta."),
    ("* meta.a\u{E9}=x", "no attribute meta.a"), ("* tag.=x", "no attribute tag."), ("!* cache-control=x", "negated"),
    ("dir/ cache-control=x", "for folders"), ("\"a cache-control=x", "no end"), ("* cache-control=\"x", "no end"),
    ("\"a\"b cache-control=x", "directly followed"), ("* expires=\"x\"y", "directly followed"),
    ("\"\" expires=x", "glob is empty"),
    ("* !expires=x", "no value itself"), ("* expires=a\u{1}b", "control characters"),
    ("* acl=private", "no attribute acl"),
    ("* cache-control=max-age=1, public", "no attribute public"),
  ]

  @Test("A line without a meaning is refused with its number, and so is a missing file", arguments: wrong)
  func refused(_ line: String, _ word: String) throws {
    let failure = #expect(throws: Failure.self) { try rules("\n# good\n* expires=x\n\(line)\n") }
    #expect(failure?.code == .usage && failure?.place.file == folder.path("attributes"))
    #expect(failure?.message.hasPrefix("line 4 of the file of attributes: ") == true, "\(failure?.message ?? "")")
    #expect(failure?.message.contains(word) == true, "\(failure?.message ?? "")")
    let missing = #expect(throws: Failure.self) { try AttributeRules(FilePath(folder.path("none"))) }
    #expect(missing?.code == .sourceMissing)
  }

  @Test("A value that is not UTF-8 is refused, and a glob of any bytes matches them")
  func notUTF8() throws {
    let path = FilePath(try folder.write(Array("* expires=a".utf8) + [0xFF], to: "bad"))
    #expect(throws: Failure.self) { try AttributeRules(path) }
    let rules = try AttributeRules(FilePath(try folder.write([0xFF] + Array("* expires=a".utf8), to: "good")))
    #expect(rules.attributes(of: [0xFF, 0x61]).count == 1 && rules.attributes(of: [0x61]).isEmpty)
  }

  @Test("The lines that matched nothing are named")
  func unmatched() throws {
    let rules = try rules("# a\n*.a expires=1\n*.b expires=1\n\n*.c expires=1\n")
    #expect(!rules.hasMatched)
    #expect(rules.attributes(of: Array("x.b".utf8)).count == 1)
    let told = rules.unmatched.map(\.description)
    #expect(told.count == 2 && rules.hasMatched)
    #expect(told.first?.hasSuffix("attributes, line 2: *.a matches no file") == true, "\(told)")
    #expect(told.last?.hasSuffix("attributes, line 5: *.c matches no file") == true, "\(told)")
  }
}
