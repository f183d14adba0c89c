import MultipartBasics
import MultipartCore

extension DownloadOptions {
  /// Reads the options; `shared` has those that uploads use too, which were already read.
  init(_ invocation: Invocation, shared: UploadOptions) throws(Failure) {
    self.init()
    (partSize, deadline, hedges) = (shared.partSize, shared.deadline, shared.hedges)
    (customerKey, skipsSame) = (shared.customerKey, shared.skipsSame)
    versionID = try invocation.text(.versionID)
    overwrites = invocation.toggle(.overwrite) ?? false
    ifNewer = invocation.toggle(.ifNewer) ?? false
    range = try Self.range(invocation)
    part = try invocation.number(.part, in: S3Limits.partNumbers)
    if range != nil, part != nil {
      throw Failure(.usage, "--range and --part exclude each other", remedy: "Leave one of them out.")
    }
    if range != nil || part != nil, skipsSame {
      throw Failure(
        .usage, "--\(range != nil ? "range" : "part") and --skip-same exclude each other",
        remedy: "Only a whole object is compared with a file.")
    }
    if range != nil || part != nil, ifNewer {
      throw Failure(
        .usage, "--\(range != nil ? "range" : "part") and --if-newer exclude each other",
        remedy: "The time of a file does not show which bytes of the object it has.")
    }
  }

  private static func range(_ invocation: Invocation) throws(Failure) -> ClosedRange<Int64>? {
    guard let given = invocation.last(.range) else { return nil }
    let ends = given.value.bytes.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
    guard ends.count == 2, let first = Int64(ends[0], in: 0 ... .max),
      let last = ends[1].isEmpty ? .max : Int64(ends[1], in: 0 ... .max), first <= last
    else {
      throw invocation.wrong(given, "is not a range of bytes", remedy: "Write --range 0-1023, or --range 1024-.")
    }
    return first...last
  }
}
