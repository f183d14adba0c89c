@testable import MultipartCore

/// One row of a table: `bucket | region | options | URL, region and name of the signature` or `| !words of a refusal`.
///
/// Options are words: `path`, `virtual`, `wish` (virtual if possible), `dualstack`, `fips`, `accelerate`, `global`
/// (`us-east-1` under its oldest name), `own` (the ARN's region is not used), or an endpoint URL. `-` means none.
struct EndpointCase: Sendable, CustomStringConvertible {
  let line: String
  let question: EndpointQuestion
  let wanted: String

  var description: String { line }

  static func parse(_ table: String) -> [EndpointCase] {
    table.split(separator: "\n").filter { !$0.hasPrefix("#") }.map { EndpointCase(String($0)) }
  }

  private init(_ line: String) {
    let cells = line.split(separator: "|", omittingEmptySubsequences: false).map { cell in
      String(cell.split(separator: " ").joined(separator: " "))
    }
    self.line = line
    var options = EndpointOptions()
    var url: String?
    for word in cells[2].split(separator: " ") {
      switch word {
      case "path": options.addressing = .path
      case "virtual": options.addressing = .virtual
      case "wish":
        options.addressing = .virtual
        options.addressingIsWish = true
      case "dualstack": options.dualstack = true
      case "fips": options.fips = true
      case "accelerate": options.accelerate = true
      case "global": options.usesGlobalEndpoint = true
      case "own": options.usesARNRegion = false
      case "-": break
      default: url = String(word)
      }
    }
    question = EndpointQuestion(
      bucket: cells[0], region: cells[1] == "-" ? nil : cells[1], endpointURL: url, options: options)
    wanted = cells[3]
  }

  /// The result, such as `https://bucket.s3.eu-west-1.amazonaws.com eu-west-1 s3`, or the text of the refusal.
  var found: String {
    do throws(Failure) {
      let endpoint = try EndpointResolver.resolve(question)
      let path = endpoint.pathForBucket.split(separator: "/").map { "/" + $0 }.joined()
      return "\(endpoint.origin)\(path) \(endpoint.region) \(endpoint.signingName)"
    } catch {
      return "!" + error.message.description + "; " + (error.remedy?.description ?? "")
    }
  }
}
