/// An object that a batch is going to download.
struct WantedObject: Findable {
  var key: String
  /// The path below the target's folder.
  var path: [UInt8]
  /// The name in a list of keys.
  var name: [UInt8]
  /// What a list of the bucket says about it.
  var listed: ListedObject?
  /// What a manifest says about it.
  var noted: ManifestEntry?

  var size: Int64? { listed?.size ?? noted?.size }
}

/// What a batch knows about the object of one download, and wants from it.
struct WantedFile: Sendable {
  var object: WantedObject
  /// The record of what an interrupted run has downloaded.
  var record: RunRecord?
  /// What earlier runs have learned about the line.
  var line: LineClass?
  /// Finds out what would be written, without writing anything.
  var onlyLooks = false
  /// The object is small, and a list says enough about it to request it at once.
  let isOneRequest: Bool

  /// The amount that a sink collects before it writes.
  private static let small = Int64(RangeSink.step)

  init(_ object: WantedObject, _ target: DownloadTarget, _ options: DownloadOptions, _ rangeSize: Int64) {
    self.object = object
    let size = object.listed?.size ?? 0
    let isArchived = object.listed?.storageClass.map(ObjectInfo.archives.contains) ?? false
    let compares = target.found != nil && (options.skipsSame || options.ifNewer)
    isOneRequest =
      (1...min(Self.small, rangeSize)).contains(size) && object.listed?.etag != nil && !isArchived && !compares
  }
}
