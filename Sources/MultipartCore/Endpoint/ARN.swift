import MultipartBasics

/// The fields of an ARN such as `arn:aws:s3:eu-west-1:123456789012:accesspoint/name`; their meaning is checked
/// elsewhere.
struct ARN: Sendable, Equatable {
  var partition: String
  var service: String
  var region: String
  var account: String
  /// The resource, such as `accesspoint`, `name`; slashes and colons both separate its words.
  var resource: [String]

  /// Parses an ARN; nil unless it has six fields. Region and account may be empty.
  init?(_ text: String) {
    let fields = text.pieces(at: ":", maxSplits: 5).map(String.init)
    guard fields.count == 6, fields[0] == "arn", !fields[1].isEmpty, !fields[2].isEmpty, !fields[5].isEmpty else {
      return nil
    }
    partition = fields[1]
    service = fields[2]
    region = fields[3]
    account = fields[4]
    resource = fields[5].pieces(at: ":/").map(String.init)
  }
}
