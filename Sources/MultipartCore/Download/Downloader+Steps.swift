import Glibc
import MultipartBasics

extension Downloader {
  /// The HEAD; nil if only the URL's own request can be sent.
  var headOperation: HeadObject? {
    client.signer.knowsOneRequest ? nil : HeadObject(address, versionID: options.versionID)
  }

  func head() async -> DownloadMachine.Event {
    do throws(Failure) {
      let object = try await found()
      guard object.size != nil else {
        throw Failure(.refused, "the store does not report the object's size", requestID: object.requestID)
      }
      try Self.checkArchive(object)
      known.withLock { ($0.object, $0.isListed, $0.body) = (object, false, nil) }
      return .found
    } catch {
      // 412: a GET that followed the HEAD.
      return .headFailed(error.status == 412 ? Self.meaning(of: error) : error)
    }
  }

  /// Checks the version that was requested. Something on the way may have removed the version from the answer to a URL,
  /// which is of one version.
  func requireVersion(_ object: ObjectInfo) throws(Failure) {
    guard object.versionID != nil || headOperation != nil else { return }
    try object.require(version: options.versionID, at: place)
  }

  private func missing() async -> Failure {
    guard wanted == nil else { return HeadObject.noObject }
    return await HeadObject(address, versionID: options.versionID)
      .absence(client, world, ofFolder: "to download them all: \(run: .downloadFolder)")
  }

  private func found() async throws(Failure) -> ObjectInfo {
    guard var operation = headOperation else {
      let object = try await headByGet()
      try requireVersion(object)
      return object
    }
    guard let part = options.part else {
      guard case .exists(let object) = try await client.perform(operation) else { throw await missing() }
      return object
    }
    operation.partNumber = part
    do throws(Failure) {
      let object = try await client.perform(operation).object()
      guard object.placeOfPart != nil || part == 1 && object.partsCount == nil else {
        throw Failure(
          .refused, "the store does not say where part \(part) of the object is",
          remedy: "ask for its bytes by their range instead")
      }
      return object
    } catch {
      guard error.status == 416 else { throw error }
      throw Failure(
        .refused, "the object has no part \(part)", status: 416, requestID: error.requestID,
        remedy: "see how many it has: \(run: .headObject)")
    }
  }

  /// Refuses an archived object, which has to be restored first; `x-amz-restore` contains the state of that.
  private static func checkArchive(_ object: ObjectInfo) throws(Failure) {
    guard object.isArchived else { return }
    let storage = object.headers[HeaderName.storageClass]?.uppercased() ?? ""
    let isUnderWay = (object.headers["x-amz-restore"] ?? "").contains("ongoing-request=\"true\"")
    let state = isUnderWay ? "a restore is in progress" : "it has to be restored first"
    throw Failure(
      .refused, "the object is archived (\(SafeText.oneLine(storage.isEmpty ? "archive tier" : storage))): \(state)",
      s3Code: "InvalidObjectState",
      remedy: "restore it (S3 RestoreObject), wait until that has finished, and run it again"
    )
  }
}
