import MultipartCore

extension FlagList {
  static let target: [Flag] = [
    Flag(
      .overwrite, .toggle, .target, .get, "Replace a file that is there.",
      more: "It keeps its mode; a link stays, and what it leads to is replaced.", common: .get),
    Flag(
      .skipSame, .toggle, .target, .get, "Leave a file alone that is the object already.",
      more: "Compared by size, and then by the checksum that the store has, its ETag, or an MD5 noted with the object.",
      negatable: true, common: .get),
    Flag(
      .ifNewer, .toggle, .target, .get, "Replace a file only if the object is newer than it.",
      more: "By the file's time of modification and the store's Last-Modified.", negatable: true),
    Flag(
      .range, .value("A-B"), .target, .get, "Only the bytes from A to B of the object; the first is 0.",
      more: "A- means to the end. No store has a checksum of a range, so that its bytes are not proven.", common: .get),
  ]
}
