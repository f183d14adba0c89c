/// How many objects are uploaded in one run.
public struct BatchOptions: Sendable {
  /// For each object; a deadline is for the whole run.
  public var upload = UploadOptions()
  /// Stops the run when one object fails.
  public var stopsAtFirstFailure = false

  /// Finds out what would be uploaded, and sends nothing.
  public var onlyLooks = false
  /// What an interrupted run has done, and what this one does.
  package var record: RunRecord?
  /// Lists what is there.
  package var manifest: Manifest?
  /// What the manifest leaves out at the beginning of each key, so that it can be checked in the folder.
  package var manifestPrefix = ""

  func nameInManifest(_ key: String) -> String {
    guard manifest?.wantsSHA256 == true, key.utf8.starts(with: manifestPrefix.utf8) else { return key }
    return String(Substring(key.utf8.dropFirst(manifestPrefix.utf8.count)))
  }

  /// The defaults.
  public init() {}
}
