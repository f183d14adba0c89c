import Foundation
@testable import MultipartCore

/// One fault of the fake store: which requests it applies to, and what happens to them. The first fault of a script
/// that fires counts.
package struct Fault: Codable, Sendable {
  package var match: Match
  package var action: Action

  package init(_ match: Match, _ action: Action) {
    self.match = match
    self.action = action
  }

  /// Which requests a fault applies to; a field that is not set matches all. `nth`, `from` and `to` count, from 1, the
  /// requests that match the other fields.
  package struct Match: Codable, Sendable {
    package var operation: FakeOperation?
    package var partNumber: Int?
    package var key: String?
    /// The key id of the signer.
    package var keyID: String?
    /// Where the requested range begins.
    package var rangeFrom: Int?
    /// How many bytes from there it may begin in: a range that broke off is requested from its middle.
    package var rangeWithin: Int?
    /// Only requests that name a version of the object, or only those that do not.
    package var namesVersion: Bool?
    package var nth: Int?
    package var from: Int?
    package var to: Int?
    /// Fires with this probability, pseudo-randomly from `seed`.
    package var probability: Double?
    package var seed: UInt64?

    package init(
      _ operation: FakeOperation? = nil, partNumber: Int? = nil, key: String? = nil, keyID: String? = nil,
      rangeFrom: Int? = nil, rangeWithin: Int? = nil, namesVersion: Bool? = nil, nth: Int? = nil, from: Int? = nil,
      to: Int? = nil, probability: Double? = nil, seed: UInt64? = nil
    ) {
      self.operation = operation
      self.partNumber = partNumber
      self.key = key
      self.keyID = keyID
      self.rangeFrom = rangeFrom
      self.rangeWithin = rangeWithin
      self.namesVersion = namesVersion
      self.nth = nth
      self.from = from
      self.to = to
      self.probability = probability
      self.seed = seed
    }

    package static let all = Match()

    private static func begin(_ headers: HeaderList) -> Int {
      headers["range"].flatMap { Int($0.dropFirst("bytes=".utf8.count).prefix { $0 != "-" }) } ?? -1
    }

    func concerns(_ route: FakeRoute, _ headers: HeaderList) -> Bool {
      (operation == nil || operation == route.operation) && (partNumber == nil || partNumber == route.partNumber)
        && (key.map { $0.utf8.elementsEqual(route.key.utf8) } ?? true)
        && (keyID.map { headers["authorization"]?.contains("Credential=\($0)/") == true } ?? true)
        && (rangeFrom.map { $0..<$0 + (rangeWithin ?? 1) ~= Self.begin(headers) } ?? true)
        && (namesVersion.map { $0 == (route.versionID != nil) } ?? true)
    }
  }

  /// When within a request the fault stalls it.
  package enum Stage: String, Codable, Sendable {
    /// After the head was read, before the body.
    case beforeBody
    /// After half of the body was read.
    case withinBody
    /// After the operation, before the answer.
    case beforeAnswer
    /// After half of the answer's body was sent.
    case withinAnswer
  }

  /// The effect of a fault; `{signature}` in the answer is replaced by the signature of the request.
  package enum Action: Codable, Sendable {
    /// An error instead of the operation. `early`: answered before the body is read, and the connection is then closed.
    case error(
      status: Int, code: String, message: String? = nil, headers: [String: String]? = nil, early: Bool? = nil)
    /// A 200 OK whose body is an error.
    case errorIn200(code: String, message: String? = nil)
    case resetBeforeReading
    case resetAfterBody(bytes: Int)
    /// The operation is done, and the connection is reset instead of an answer.
    case loseAnswer
    /// Nothing moves for this time, or without a number until the client disconnects or the server stops.
    case stall(milliseconds: Int? = nil, stage: Stage? = nil)
    /// Nothing moves while this file exists, so that the test has time, even on a slow machine.
    case hold(file: String, stage: Stage)
    /// The write side is shut instead of an answer; the rest of the body is still read.
    case halfClose
    /// The answer's status at once, then spaces, one every `milliseconds`, then the document. With
    /// `declarationFirst` the XML declaration comes before the spaces, as at some stores.
    case trickle(spaces: Int, milliseconds: Int, declarationFirst: Bool? = nil)
    /// Replaces the ETag in the answer's header and XML; removes it if it is not set.
    case etag(String? = nil)
    /// Replaces the checksum in the answer's header and XML; removes it if it is not set.
    case checksum(String? = nil)
    /// A normal answer with these headers instead of its own.
    case headers([String: String])
    /// Another upload id in the answer.
    case uploadID(String)
    /// The operation is done, and this is the answer.
    case document(status: Int, text: String, type: String)
    /// One bit of the body is flipped on its way to the store.
    case corruptBody
    /// One bit of the answer's body is flipped on its way from the store.
    case corruptAnswer
    /// The body is read no faster than this.
    case slowRead(bytesPerSecond: Int)
    /// The answer comes this much later.
    case delay(milliseconds: Int)
    /// Sends only this many bytes of the answer's body, although its length says more, and then ends the connection.
    case truncateAnswer(bytes: Int)
    /// Sends only this many bytes of the answer's body, and its length says so.
    case shortenAnswer(bytes: Int)
    /// Sends more bytes after the answer's body than its length says.
    case overrunAnswer(bytes: Int)
    /// Before the operation another client replaces the object by one of the same length, five seconds younger.
    case replaceObject
    case hugeHeader(bytes: Int)
    case hugeBody(bytes: Int)
    /// Bytes that are not HTTP instead of an answer.
    case garbage(text: String? = nil)
    /// A good answer, after which the connection ends without a header that announces it.
    case closeAfterAnswer

    /// The fault's name in the request log.
    package var name: String {
      String(String(describing: self).prefix { $0 != "(" })
    }
  }

  /// A script as JSON: an array of `{"match": {"operation": "UploadPart", "nth": 2}, "action": {"delay":
  /// {"milliseconds": 50}}}`.
  package static func script(json: String) throws -> [Fault] {
    try JSONDecoder().decode([Fault].self, from: Data(json.utf8))
  }
}

/// A fault with its counter and its random numbers.
struct ArmedFault: Sendable {
  let fault: Fault
  private var seen = 0
  private var dice: SeededRandom

  init(_ fault: Fault) {
    self.fault = fault
    dice = SeededRandom(seed: fault.match.seed ?? 0)
  }

  mutating func fires(on route: FakeRoute, _ headers: HeaderList = [:]) -> Bool {
    let match = fault.match
    guard match.concerns(route, headers) else { return false }
    seen += 1
    if let nth = match.nth, seen != nth { return false }
    if seen < match.from ?? 1 || seen > match.to ?? .max { return false }
    if let probability = match.probability { return dice.unit() < probability }
    return true
  }
}
