/// Finds out everything that a store reveals about an object: by a HEAD, and a small request for each property that the
/// HEAD does not show.
struct Inquiry: Sendable {
  private let store: Store
  private let head: HeadObject

  init(_ store: Store, _ head: HeadObject) { (self.store, self.head) = (store, head) }

  /// The result of one more request; `why`: the store does not reveal it.
  private enum Answer<Value: Sendable>: Sendable {
    case known(Value)
    case unknown(why: String)
  }

  func run() async throws(Failure) -> ObjectDescription {
    guard case .exists(let object) = try await store.client.perform(head, retrying: store.retry) else {
      throw await store.absence(of: head.address.key, versionID: head.versionID)
    }
    let (shownRetention, shownHold) = (object.retention, object.headers[HeaderName.legalHold])
    // In a directory bucket an object has neither tags nor locks.
    let hasSettings = !store.isDirectoryBucket
    async let parts = parts(of: object)
    async let tags = hasSettings ? settings(.tagging) : nil
    async let retention = hasSettings && shownRetention == nil ? settings(.retention) : nil
    async let legalHold = hasSettings && shownHold == nil ? settings(.legalHold) : nil
    var description = ObjectDescription(object: object)
    (description.parts, description.retention, description.legalHold) = (object.partCount, shownRetention, shownHold)
    switch try await parts.get() {
    case .known(let parts):
      description.parts = parts?.count ?? description.parts
      description.partSize = parts?.size
    case .unknown(let why): if object.isInParts { description.unknown[.parts] = why }
    }
    switch try await tags?.get() {
    case .known(.tags(let tags)): description.tags = tags
    case .known: description.tags = []
    case .unknown(let why): description.unknown[.tags] = why
    case nil: break
    }
    switch try await retention?.get() {
    case .known(.retention(let mode?, let until)): description.retention = .init(mode: mode, until: until)
    case .known, nil: break
    case .unknown(let why): description.unknown[.retention] = why
    }
    switch try await legalHold?.get() {
    case .known(.legalHold(let status)): description.legalHold = status
    case .known, nil: break
    case .unknown(let why): description.unknown[.legalHold] = why
    }
    return description
  }

  private func parts(of object: ObjectInfo) async -> Result<Answer<PartsOfObject?>, Failure> {
    await ask(HeadObject.name) { () async throws(Failure) in
      try await store.client.parts(of: object, head, retrying: store.retry)
    }
  }

  private func settings(_ part: GetObjectSettings.Part) async -> Result<Answer<GetObjectSettings.Output>, Failure> {
    let operation = GetObjectSettings(head.address, part: part, versionID: head.versionID)
    return await ask(operation.operation) { () async throws(Failure) in
      try await store.client.perform(operation, retrying: store.retry)
    }.map { answer in
      if case .known(.object) = answer {
        .unknown(why: "the store does not know \(operation.operation)")
      } else {
        answer
      }
    }
  }

  /// Asks for a property. One that the store refuses is unknown; without an answer the request fails.
  private func ask<Value: Sendable>(
    _ operation: OperationName, _ work: () async throws(Failure) -> Value
  ) async -> Result<Answer<Value>, Failure> {
    do throws(Failure) {
      return .success(.known(try await work()))
    } catch {
      return error.status == nil ? .failure(error) : .success(.unknown(why: error.reason(of: operation)))
    }
  }
}

extension ObjectInfo {
  /// The retention, which a HEAD shows only to users who may read it.
  fileprivate var retention: ObjectDescription.Retention? {
    headers[HeaderName.lockMode].map { .init(mode: $0, until: headers[HeaderName.lockDate]) }
  }
}
