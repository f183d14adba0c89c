import MultipartBasics

/// An unrecorded upload at the key.
struct ForeignUpload: Sendable {
  var id: String
  var begun: Timestamp?
  /// The list from the search for uploads, which the comparison uses instead of requesting it again.
  private var firstList: S3Client.PartListing?

  init(_ upload: ListMultipartUploads.Upload, _ list: S3Client.PartListing) {
    id = upload.uploadID
    begun = upload.initiated
    firstList = list
  }

  var isEmpty: Bool { firstList?.parts.isEmpty ?? true }

  mutating func takeFirstList() -> S3Client.PartListing? {
    defer { firstList = nil }
    return firstList
  }

  /// How long nothing was sent to it, by the first list; nil if unknown.
  var quiet: Duration? {
    firstList.map(activity).flatMap { $0.quiet(since: $0) }
  }

  func activity(_ list: S3Client.PartListing) -> UploadMachine.Activity {
    var activity = UploadMachine.Activity(clock: list.date)
    var (last, isKnown) = (begun, begun != nil)
    for part in list.parts {
      activity.traces[part.number] = "\(part.etag) \(part.lastModified?.seconds ?? 0)"
      if let moment = part.lastModified { last = max(last ?? moment, moment) } else { isKnown = false }
    }
    activity.last = isKnown ? last : nil
    return activity
  }
}

/// Looks for an unrecorded upload. Other clients may have begun any number of them at this key, with any content: that
/// does not affect how many are examined, for how long, and in how much memory.
extension Uploader {
  private static let mostLookedAt = 8
  private static let lookedAtOnce = 4
  private static let longestLook = Duration.seconds(10)

  /// Finds uploads to adopt: those that nothing is being sent to come first, and in each group the newest.
  func findForeign() async -> UploadMachine.Event {
    guard job.asksForNothingUnseen else {
      tell(
        .warning(
          "no unfinished upload is adopted, because it cannot be seen whether one was created with the requested encryption, "
            + "access, lock, headers or tags"))
      return .found([])
    }
    do throws(Failure) {
      let listing = try await uploadsAtKey()
      state.withLock { $0.lacksList = false }
      let newest = listing.uploads.sorted { ($0.initiated?.seconds ?? 0) > ($1.initiated?.seconds ?? 0) }
        .prefix(Self.mostLookedAt)
      let looked = await look(at: Array(newest))
      if looked.count < listing.uploads.count { tell(.warning("\(shortfall(looked.count, newest.count, listing))")) }
      let usable = looked.filter { !$0.isEmpty }
      state.withLock { state in
        for upload in usable { state.foreign[upload.id] = upload }
      }
      let isQuiet = { (upload: ForeignUpload) in upload.quiet.map { $0 >= self.job.quietTime } ?? false }
      return .found(
        (usable.filter(isQuiet) + usable.filter { !isQuiet($0) })
          .map { UploadMachine.Candidate(uploadID: $0.id, use: .foreign) })
    } catch {
      state.withLock { $0.lacksList = true }
      return .findFailed(error.at(job.place))
    }
  }

  private func shortfall(_ looked: Int, _ tried: Int, _ listing: S3Client.UploadListing) -> String {
    let all = (listing.isComplete ? "" : "at least ") + String(listing.uploads.count)
    let which = looked == 0 ? "none" : looked == tried ? "the \(looked) newest" : "\(looked) of the \(tried) newest"
    let plural = listing.uploads.count == 1 ? "" : "s"
    let text = "examined \(which) of \(all) unfinished upload\(plural) of this key"
    return looked == tried ? text : text + ": the others could not be read"
  }

  /// A directory bucket lists only folders.
  private var prefix: String {
    guard job.isDirectoryBucket else { return job.key }
    let bytes = Array(job.key.utf8)
    return String(decoding: bytes[..<((bytes.lastIndex(of: UInt8(ascii: "/")) ?? -1) + 1)], as: UTF8.self)
  }

  /// Lists the uploads. `aside`: while parts are sent. libcurl would give this request's connection to one of the parts
  /// in place of one that has reached its speed, and on a long line that part would take twice as long.
  func uploadsAtKey(aside: Bool = false) async throws(Failure) -> S3Client.UploadListing {
    var client = client
    client.closesConnections = aside
    let list = ListMultipartUploads(job.address.inBucket, prefix: prefix)
    return try await client.uploads(ofKey: job.key, list)
  }

  /// Reads the lists of parts, in the order of the uploads; those that cannot be read in time, or after three tries,
  /// are left out.
  private func look(at uploads: [ListMultipartUploads.Upload]) async -> [ForeignUpload] {
    let seen = Locked<[String: S3Client.PartListing]>([:])
    _ = await world.within(Self.longestLook, "the unfinished uploads were not examined") {
      [self] () async throws(Failure) in
      await withTaskGroup(of: Void.self) { group in
        var rest = uploads[...]
        for upload in rest.prefix(Self.lookedAtOnce) { group.addTask { await self.look(at: upload, seen) } }
        rest = rest.dropFirst(Self.lookedAtOnce)
        for await _ in group {
          if let next = rest.popFirst() { group.addTask { await self.look(at: next, seen) } }
        }
      }
    }
    let lists = seen.withLock { $0 }
    return uploads.compactMap { upload in lists[upload.uploadID].map { ForeignUpload(upload, $0) } }
  }

  private func look(
    at upload: ListMultipartUploads.Upload, _ seen: Locked<[String: S3Client.PartListing]>
  ) async {
    let list = ListParts(job.address, uploadID: upload.uploadID)
    do throws(Failure) {
      let parts = try await client.allParts(list, retrying: RetryPolicy(tries: Lookup.triesOfNonsense))
      // If a list is incomplete, not all the parts are known.
      if parts.isComplete { seen.withLock { $0[upload.uploadID] = parts } }
    } catch {
      world.log(1, "the parts of upload \(upload.uploadID) could not be listed: \(error.message)")
    }
  }
}
