/// S3's limits for parts and objects.
public enum S3Limits {
  /// The parts of an upload.
  public static let mostParts = 10_000
  /// The numbers of parts.
  public static let partNumbers = 1...mostParts
  /// 5 MiB, for every part but the last.
  public static let smallestPart: Int64 = 5 << 20
  /// 5 GiB, for a part and for an object sent in one request.
  public static let largestPart: Int64 = 5 << 30
  /// 48.8 TiB: 10,000 parts of 5 GiB.
  public static let largestObject: Int64 = largestPart * Int64(mostParts)
  /// The length of a key, in bytes of its UTF-8.
  public static let longestKey = 1024
  /// The tags of an object.
  public static let mostTags = 10
  /// The number of entries in a page of a list.
  static let pageLength = 1000
  static let partNumbersRemedy: Wording = "parts are numbered from 1 to \(mostParts)"

  static func check(partNumber: Int, of place: Place) throws(Failure) {
    guard partNumbers.contains(partNumber) else {
      throw Failure(.usage, "there is no part \(partNumber)", remedy: partNumbersRemedy).at(place)
    }
  }

  /// Refuses a key that no store allows.
  public static func check(key: String, remedy: Wording? = nil) throws(Failure) {
    guard key.utf8.count <= longestKey else {
      throw Failure(.usage, "the key has \(key.utf8.count) bytes, and a key has at most 1,024", remedy: remedy)
    }
    guard !key.utf8.contains(0) else { throw Failure(.usage, "the key has a zero byte", remedy: remedy) }
  }
}
