import MultipartBasics

/// Creates the object from its parts and determines whether it is what was sent.
final class Finisher: Sendable {
  private struct State: Sendable {
    var expected: Expectation?
    var known = ReportedObject()
    var freshness = Freshness()
    var contradictsEncryption = false
  }

  private let client: S3Client
  private let address: ObjectAddress
  private let conditions: WriteConditions
  private let requested: RequestedSettings?
  /// Whether others may fill and complete the same upload with any bytes.
  private let isOpen: Bool
  private let state = Locked(State())

  init(
    client: S3Client, _ address: ObjectAddress, conditions: WriteConditions = WriteConditions(),
    requested: RequestedSettings? = nil, isOpen: Bool = false
  ) {
    self.client = client
    self.address = address
    self.conditions = conditions
    self.requested = requested
    self.isOpen = isOpen
  }

  var expected: Expectation? { state.withLock { $0.expected } }
  /// What the store has said about the object.
  var known: ReportedObject { state.withLock { $0.known } }

  /// Whether the answer to complete names another encryption than the requested one, whatever the parts had confirmed.
  var contradictsEncryption: Bool { state.withLock { $0.contradictsEncryption } }

  /// What the object must be; set before the request that creates it is sent, because the answer may be lost.
  func expect(_ expectation: Expectation) {
    state.withLock { $0.expected = expectation }
  }

  /// The earliest time at which this run can have created the object. If a PutObject is tried several times, the first
  /// try counts.
  func begin(_ since: Freshness.Since?) {
    state.withLock { state in
      if case .put? = since, case .put? = state.freshness.since { return }
      state.freshness.since = since
    }
  }

  /// The object that was at the key before the first byte was sent.
  func saw(_ found: HeadObject.Output) {
    let before: Freshness.Before =
      switch found {
      case .absent: .nothing
      case .exists(let object): .object(versionID: object.versionID, modified: object.lastModified)
      }
    state.withLock { $0.freshness.before = before }
  }

  /// When the upload was begun, by the store's clock.
  var begun: Timestamp? {
    if case .upload(let begun)? = state.withLock({ $0.freshness.since }) { return begun }
    return nil
  }

  func complete(_ receipts: [PartReceipt], uploadID: String) async throws(Failure) -> Judgement {
    let expected = try Expectation(receipts: receipts)
    expect(expected)
    var operation = operation(receipts, expected, uploadID: uploadID)
    let answer = try await conditions.sending(of: headOperation, client) { (conditions) throws(Failure) in
      operation.conditions = conditions
      return try await client.perform(operation)
    }
    let contradicts = requested?.findings(inWrite: answer.encryption).contains(where: \.contradicts) ?? false
    state.withLock { $0.contradictsEncryption = contradicts }
    return judge(expected, ReportedObject(answer))
  }

  /// Checks the object by a HEAD. `mustBeOurs` is set after a lost answer: an object that existed before, or that
  /// differs from what this run requested, is then not a success, even if it has the same bytes.
  func head(mustBeOurs: Bool) async throws(Failure) -> Judgement {
    guard let expected else { throw Failure(.local, "nothing is known to compare the object with") }
    let asked = client.world.uptime()
    let (freshness, made) = state.withLock { ($0.freshness, $0.known) }
    let object: ObjectInfo
    switch try await ObjectAfterWrite.look(mustBeOurs ? ReportedObject() : made, address, client) {
    case .absent: return .absent
    case .replaced: return .notOurs(message: "another version of the object is at the key now")
    case .object(let found, _): object = found
    }
    let judgement = Verdict.judge(expected, ReportedObject(object), isOpen: isOpen)
    // Only the size is left as evidence, and the store does not return it.
    if case .undecided = judgement, object.size == nil {
      throw Failure(
        .server, "the store does not say how long the object is, so nothing proves it", status: 200,
        requestID: object.requestID)
    }
    if case .contradicted = judgement { return judgement }
    guard mustBeOurs else {
      // By its size alone, an object that this run has not written could pass for its own.
      if case .undecided = judgement,
        let doubt = freshness.certainDoubt(about: object, asked: asked) ?? Self.doubt(about: object, made, expected)
      {
        return .notOurs(message: doubt)
      }
      note(ReportedObject(object))
      return judgement
    }
    note(ReportedObject(object))
    if let doubt = freshness.doubt(about: object, asked: asked) {
      return .notOurs(message: doubt)
    }
    if let difference = requested?.differences(inHead: object.headers).first {
      return .notOurs(message: "the object at the key has \(difference.sentence)")
    }
    return judgement
  }

  /// Whether the store still has the upload, whose parts have been sent.
  func hasParts(_ uploadID: String) async throws(Failure) -> Bool {
    try await client.hasParts(ListParts(address, uploadID: uploadID))
  }

  var headOperation: HeadObject { HeadObject(address) }

  /// Judges the answer to the request that creates the object.
  func judge(_ expected: Expectation, _ reported: ReportedObject) -> Judgement {
    expect(expected)
    note(reported)
    return Verdict.judge(expected, reported, isOpen: isOpen)
  }

  private func note(_ reported: ReportedObject) {
    state.withLock { state in
      state.known.size = reported.size ?? state.known.size
      state.known.etag = reported.etag ?? state.known.etag
      state.known.versionID = reported.versionID ?? state.known.versionID
      state.known.requestID = reported.requestID ?? state.known.requestID
    }
  }

  /// Why the object is not the one that the answer to the write has named; nil if it may be. Only an ETag that is made of
  /// MD5s must stay the same: others may be written differently in each answer.
  private static func doubt(
    about object: ObjectInfo, _ made: ReportedObject, _ expected: Expectation
  ) -> String? {
    guard let own = made.parsedETag, own == expected.etag, let found = ReportedObject(object).parsedETag, found != own
    else { return nil }
    return "the object at the key has another ETag than the store has just reported"
  }

  /// The complete request. Only checksums that the store is known to have for each part may be sent to it again.
  private func operation(
    _ receipts: [PartReceipt], _ expected: Expectation, uploadID: String
  ) -> CompleteMultipartUpload {
    let sum = expected.weakest >= .etag ? expected.sum : nil
    let namesParts = sum?.type == .composite
    var operation = CompleteMultipartUpload(
      address, uploadID: uploadID,
      parts: receipts.map { receipt in
        CompleteMultipartUpload.Part(
          number: receipt.number, etag: receipt.etag,
          checksum: namesParts ? receipt.checksum.map { NamedValue($0.algorithm.headerName, $0.base64) } : nil)
      })
    operation.checksumType = sum?.type
    if let sum, sum.type == .fullObject { operation.objectChecksum = NamedValue(sum.algorithm.headerName, sum.value) }
    operation.objectSize = expected.size
    return operation
  }
}
