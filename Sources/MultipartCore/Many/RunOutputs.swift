import Glibc
import MultipartBasics

/// The files and objects that a run writes itself, and so must not read or replace: its reports, the object of its
/// manifest, its state. Files are identified by device and inode, keys by their bytes.
public struct RunOutputs: Sendable {
  /// The reports.
  public var files: [ReportFile] = []
  /// The object that the manifest becomes.
  public var object: Place?
  /// The folder of the records.
  var stateFolder: String?

  /// A run that writes no file of its own.
  public init() {}

  /// Whether a file in a folder is an earlier report, or will be one, so that it is not a source.
  func isReport(_ inode: Inode?) -> Bool { report(inode)?.isReplaceable ?? false }

  /// Why an object cannot be uploaded, as far as that was not checked before. A report that would replace its source is
  /// then not written.
  func refusal(of inode: Inode?, _ file: FilePath, bucket: String, key: String) -> Failure? {
    if let report = report(inode) {
      report.spare()
      return report.isSource("the source", file)
    }
    return isObject(bucket, key) ? objectFailure(file) : nil
  }

  /// Why an object cannot be downloaded to this name in a folder: a report would replace it at the end.
  public func refusal(of target: FilePath) -> Failure? {
    let report = files.first { report in
      guard let place = report.place, place.lastName.elementsEqual(target.lastName) else { return false }
      return Inode(place.folder).map { $0 == Inode(target.folder) } ?? false
    }
    return report?.isSource("the target of an object", target)
  }

  /// Throws if a file that the run names is one that it writes. `what` describes the file's role.
  public func refuse(_ what: Wording, _ file: FilePath) throws(Failure) {
    let isInput = StreamFile.isStandardInput(file)
    try refuse(isInput ? Inode(open: STDIN_FILENO) : Inode(file), what, file)
  }

  private func refuse(_ inode: Inode?, _ what: Wording, _ file: FilePath) throws(Failure) {
    if let report = report(inode) { throw report.isSource(what, file) }
  }

  /// Throws if files of different buckets would be listed in one manifest, whose lines have no bucket. `first` is that
  /// of the first file.
  func refuse(bucket: String, besides first: inout String?, at place: Place) throws(Failure) {
    guard object != nil || files.contains(where: \.isManifest) else { return }
    guard let known = first else { return first = bucket }
    guard !isSame(known, bucket) else { return }
    throw Failure(
      .usage, "a manifest lists objects of one bucket, and the batch names \(known) and \(bucket)",
      remedy: "upload the files of each bucket with a batch and a manifest of its own"
    ).at(place)
  }

  /// Throws if a named source, or its object, is something that the run writes.
  func refuse(source file: FilePath, bucket: String, key: String?) throws(Failure) {
    // Looking up many files takes time on a slow disk or network, so it is only done if there is something to find.
    if files.contains(where: { $0.inode != nil }) { try refuse(Inode(file), "the source", file) }
    if let key, isObject(bucket, key) { throw objectFailure(file) }
  }

  /// Throws if a folder whose contents are sent contains something that the run writes: a file that is not an earlier
  /// report would be lost, and a file may have the manifest's key.
  func refuse(
    folder: FilePath, bucket: String, prefix: String, rules: GlobRules
  ) throws(Failure) {
    let root = Inode(folder)
    for report in files where report.inode != nil && !report.isReplaceable {
      guard let place = report.place, let path = Self.path(of: place, below: root), rules.includes(path) else {
        continue
      }
      throw report.isSource("a file in a folder that is sent", report.path)
    }
    guard let object, isSame(object.bucket, bucket), let key = object.key, key.begins(with: prefix) else { return }
    let name = Array(key.utf8.dropFirst(prefix.utf8.count))
    let file = FilePath(bytes: folder.bytes + [UInt8(ascii: "/")] + name)
    guard !name.isEmpty, file.isKind(S_IFREG), rules.includes(name) else {
      return
    }
    throw objectFailure(file)
  }

  /// Refuses two reports in the same file.
  public func refuseTwins() throws(Failure) {
    for (index, report) in files.enumerated() {
      for other in files.dropFirst(index + 1) {
        let isSameFile = report.inode.map { $0 == other.inode } ?? false
        let isSamePlace =
          if let a = report.place, let b = other.place, let folder = Inode(a.folder) {
            folder == Inode(b.folder) && a.lastName.elementsEqual(b.lastName)
          } else { false }
        if isSameFile || isSamePlace { throw other.isSource("the file of another report", report.path) }
      }
    }
  }

  private func report(_ inode: Inode?) -> ReportFile? {
    guard let inode else { return nil }
    return files.first { $0.inode == inode }
  }

  private func isObject(_ bucket: String, _ key: String) -> Bool {
    guard let object else { return false }
    return isSame(object.bucket, bucket) && isSame(object.key, key)
  }

  private func isSame(_ a: String?, _ b: String) -> Bool { a?.utf8.elementsEqual(b.utf8) ?? false }

  private func objectFailure(_ file: FilePath) -> Failure {
    Failure(
      .usage, "the file's key is that of \(.manifest), which would replace its object",
      remedy: "name another key with \(.manifest)"
    ).at(Place(file: file.text, bucket: object?.bucket, key: object?.key))
  }

  /// The path below a folder, found through the folders above the file; nil if it is not one of them.
  private static func path(of file: FilePath, below root: Inode?) -> [UInt8]? {
    guard let root, let bytes = file.resolved?.bytes else { return nil }
    for slash in bytes.indices.reversed() where bytes[slash] == UInt8(ascii: "/") {
      if Inode(FilePath(bytes: slash == 0 ? [bytes[0]] : Array(bytes[..<slash]))) == root {
        return Array(bytes[(slash + 1)...])
      }
    }
    return nil
  }
}
