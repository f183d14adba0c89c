/// An object that a run of many is going to bring.
struct WantedObject: Findable {
  var key: String
  /// Where it goes, below the target's folder.
  var path: [UInt8]
  /// Its name in a list of keys.
  var name: [UInt8]
  /// What a list of the bucket says of it.
  var listed: ListedObject?
  /// What a manifest says of it.
  var noted: ManifestEntry?

  var size: Int64? { listed?.size ?? noted?.size }
}

/// What a run of many knows of the object of one download, and wants of it besides.
struct WantedFile: Sendable {
  var object: WantedObject
  /// What an interrupted run has brought.
  var record: RunRecord?
  /// Finds out what would be written, and writes nothing.
  var onlyLooks = false
  /// The object is small, and what a list says of it is enough to ask for it at once.
  let isOneRequest: Bool

  /// As large as what a sink collects before it writes.
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
