import MultipartBasics
import Testing

@testable import MultipartCore

/// Whether a HEAD shows an object that this run can have created, to the second.
@Suite struct FreshnessTests {
  /// The time this many seconds after 2026-11-22T10:00:00Z.
  private static func http(_ second: Int) -> String {
    "Sun, 22 Nov 2026 10:0\(second / 60):\(second % 60 < 10 ? "0" : "")\(second % 60) GMT"
  }

  private static func moment(_ second: Int) throws -> Timestamp { try #require(DateText.http(http(second))) }

  private func head(modified: Int?, date: Int? = 30, version: String? = nil) -> ObjectInfo {
    var headers: HeaderList = ["Content-Length": "3"]
    headers.add("Last-Modified", modified.map(Self.http))
    headers.add("Date", date.map(Self.http))
    headers.add("x-amz-version-id", version)
    return ObjectInfo(Response(status: 200, headers: headers))
  }

  private func isOurs(_ freshness: Freshness, _ object: ObjectInfo, asked: Duration = .zero) -> Bool {
    freshness.doubt(about: object, asked: asked) == nil
  }

  @Test("An object of parts is not older than its upload, begun at the Date of create's answer minus its duration")
  func upload() throws {
    let freshness = Freshness(since: Freshness.begun(answered: try Self.moment(20), took: .milliseconds(1200)))
    #expect(freshness.since == .upload(try Self.moment(18)))
    for (modified, isOurs) in [(17, false), (18, true), (20, true), (30, true), (31, true), (32, false)] {
      #expect(self.isOurs(freshness, head(modified: modified)) == isOurs, "\(modified)")
    }
  }

  /// The store's clock was within 30..<31 when it answered, and 10.4 s had passed since the first try, which was
  /// therefore sent before 20.6 s: an object of second 21 or earlier may be older.
  @Test("An object of one PUT must be provably newer than the first try; a doubt because of rounding is not a success")
  func put() {
    let freshness = Freshness(since: .put(.seconds(100)))
    for (modified, isOurs) in [(10, false), (20, false), (21, false), (22, true), (30, true), (32, false)] {
      #expect(self.isOurs(freshness, head(modified: modified), asked: .milliseconds(110_400)) == isOurs, "\(modified)")
    }
    // Less than a second after the first try no object is certainly newer than it.
    #expect(!isOurs(freshness, head(modified: 30), asked: .milliseconds(100_900)))
  }

  @Test("However the seconds are rounded, an object from before the first try is never accepted")
  func rounding() {
    // In tenths of a second: the first try, an object created before it, and a HEAD after it, on one exact clock.
    for first in 200..<220 {
      for made in stride(from: first - 25, to: first, by: 1) {
        for head in stride(from: first, through: first + 60, by: 1) {
          let freshness = Freshness(since: .put(.milliseconds(first * 100)))
          let object = self.head(modified: made / 10, date: head / 10)
          if isOurs(freshness, object, asked: .milliseconds(head * 100)) {
            Issue.record("made at \(made), first try at \(first), HEAD at \(head)")
          }
        }
      }
    }
  }

  @Test("What was not at the key before is this upload's, unless it is older than clocks and answers can differ")
  func notBefore() throws {
    let asked = Duration.seconds(170)
    for since in [Freshness.Since.put(.seconds(100)), .upload(try Self.moment(120))] {
      for before in [Freshness.Before.nothing, .object(versionID: "v1", modified: try Self.moment(10))] {
        let freshness = Freshness(before: before, since: since)
        for (modified, isOurs) in [(0, false), (59, false), (60, true), (119, true), (190, true), (240, true)] {
          let head = head(modified: modified, date: 190, version: "v2")
          #expect(self.isOurs(freshness, head, asked: asked) == isOurs, "\(since) \(before) \(modified)")
        }
        #expect(isOurs(freshness, head(modified: nil, date: 190, version: "v2"), asked: asked) == true)
      }
    }
  }

  @Test("What was at the key before decides, however seconds are rounded: nothing, another version, an earlier time")
  func before() throws {
    let put = Freshness.Since.put(.seconds(100))
    let asked = Duration.seconds(100)
    #expect(isOurs(Freshness(before: .nothing, since: put), head(modified: 30), asked: asked))
    let old = Freshness(before: .object(versionID: "v1", modified: try Self.moment(29)), since: put)
    #expect(isOurs(old, head(modified: 30), asked: asked))
    #expect(isOurs(old, head(modified: 29, version: "v2"), asked: asked))
    #expect(!isOurs(old, head(modified: 29, version: "v1"), asked: asked))
    #expect(!isOurs(old, head(modified: 29), asked: asked))
    let unversioned = Freshness(before: .object(versionID: "null", modified: nil), since: put)
    #expect(!isOurs(unversioned, head(modified: 29, version: "null"), asked: asked))
    #expect(!isOurs(unversioned, head(modified: 29, version: "v1"), asked: asked))
  }

  @Test("An object is certainly older only if more than a minute lies between it and a beginning that is known")
  func certainly() throws {
    let known: [Freshness.Since] = [.put(.seconds(100)), .upload(try Self.moment(120))]
    for (modified, isOlder) in [(0, true), (59, true), (60, false), (190, false), (240, false)] {
      for since in known {
        let head = head(modified: modified, date: 190)
        let doubt = Freshness(since: since).certainDoubt(about: head, asked: .seconds(170))
        #expect((doubt != nil) == isOlder, "\(since) \(modified)")
      }
      // Its upload may have been begun long before the first of its parts arrived, and S3 gives it that time.
      let parts = Freshness(since: .uploadUntil(try Self.moment(120)))
      #expect(parts.certainDoubt(about: head(modified: modified, date: 190), asked: .zero) == nil)
      #expect(isOurs(parts, head(modified: modified, date: 190)) == (120...191).contains(modified), "\(modified)")
    }
  }

  @Test("A store that gives no time proves nothing")
  func unsaid() throws {
    let freshness = Freshness(since: .upload(try Self.moment(0)))
    #expect(isOurs(freshness, head(modified: 1)))
    #expect(!isOurs(freshness, head(modified: nil)))
    #expect(!isOurs(freshness, head(modified: 1, date: nil)))
    #expect(!isOurs(Freshness(), head(modified: 1)))
  }
}
