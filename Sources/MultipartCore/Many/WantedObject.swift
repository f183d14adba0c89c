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

  /// What identifies the object in a run's record: what the list says, which the next run asks first, or the answer.
  func identity(_ answered: ObjectIdentity) -> String? {
    (listed.map { ObjectIdentity(ObjectInfo($0)) } ?? answered).text
  }

  /// What a run records about a file that is identical to the object, and to what a manifest lists.
  func recorded(_ file: FileIdentity, in bucket: String) -> RunRecord.Object {
    RunRecord.Object(bucket: bucket, key: key, options: noted?.digest ?? "", source: file)
  }
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
  /// An earlier run was about to create the file when it ended.
  let mayBeOwn: Bool
  /// Compares an existing file with the object.
  let compares: Bool
  /// The object is small, and a list says enough about it to request it at once.
  let isOneRequest: Bool

  /// The amount that a sink collects before it writes.
  private static let small = Int64(RangeSink.step)

  init(
    _ object: WantedObject, _ target: DownloadTarget?, _ options: DownloadOptions, _ rangeSize: Int64,
    _ record: RunRecord?, bucket: String
  ) throws(Failure) {
    (self.object, self.record) = (object, record)
    let size = object.listed?.size ?? 0
    let isArchived = object.listed?.storageClass.map(ObjectInfo.archives.contains) ?? false
    // A run that was killed may have completed the file without recording it.
    mayBeOwn = try record?.hasBegun(bucket: bucket, key: object.key) ?? false
    compares = target?.found != nil && (options.skipsSame || mayBeOwn)
    let needsHead = compares || target?.found != nil && options.ifNewer
    isOneRequest =
      (1...min(Self.small, rangeSize)).contains(size) && object.listed?.etag != nil && !isArchived && !needsHead
  }
}
