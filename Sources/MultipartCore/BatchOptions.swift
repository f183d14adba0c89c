import MultipartBasics

/// How a run uploads its objects.
public struct BatchOptions: Sendable {
  /// The options of each object's upload; the deadline applies to the whole run.
  public var upload = UploadOptions()
  /// Stops the run when one object fails.
  public var stopsAtFirstFailure = false

  /// Finds out what would be uploaded, without sending anything.
  public var onlyLooks = false
  /// What an interrupted run has completed; this run adds to it.
  var record: RunRecord?
  /// Receives a line for each object that exists at the store in the end.
  public var manifest: Manifest?
  /// The files that the run writes.
  public var outputs = RunOutputs()
  /// The prefix that the manifest strips from each key, so that `sha256sum -c` finds the files in their folder.
  public var manifestPrefix = ""

  func nameInManifest(_ key: String) -> String {
    guard manifest?.wantsSHA256 == true, key.begins(with: manifestPrefix) else { return key }
    return String(Substring(key.utf8.dropFirst(manifestPrefix.utf8.count)))
  }

  /// The defaults.
  public init() {}
}
