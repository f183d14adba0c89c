import MultipartBasics

/// Converts the bytes of a file's name to text in a key.
///
/// Valid UTF-8 is never changed. In each component of the path that is not UTF-8, invalid bytes become `%XX`, and `%`
/// becomes `%25`, so that the name can be read back.
struct KeyName: Sendable {
  let prefix: String
  let oddNames: BatchSources.OddNames

  init(prefix: String, _ oddNames: BatchSources.OddNames = .escape) {
    self.prefix = prefix
    self.oddNames = oddNames
  }

  /// The key of the file with this name: its path below the folder that is sent, or its name in a list.
  func key(of name: [UInt8], _ file: FilePath) throws(Failure) -> String {
    let place = Place(file: file.text)
    guard !name.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).contains(where: Self.isMangled)
    else {
      throw Failure(
        .usage, "the file's key would have an empty component, \".\" or \"..\", which other tools do not distinguish",
        remedy: "choose where its name begins"
      ).at(place)
    }
    let key = prefix + (try text(of: name, place))
    do throws(Failure) {
      try S3Limits.check(key: key, remedy: "shorten the prefix, or rename the file")
    } catch {
      throw error.at(place)
    }
    return key
  }

  fileprivate func text(of name: [UInt8], _ place: Place) throws(Failure) -> String {
    if let text = String(validating: name, as: UTF8.self) { return text }
    guard oddNames == .escape else {
      throw Failure(
        .usage, "the file's name is not UTF-8, as keys must be", remedy: "rename it, or have such names escaped"
      ).at(place)
    }
    let components = name.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
    let escaped = components.map { Self.escaped($0) ?? Array($0) }
    return String(decoding: Array(escaped.joined(separator: [UInt8(ascii: "/")])), as: UTF8.self)
  }

  static func isMangled(_ component: ArraySlice<UInt8>) -> Bool {
    component.isEmpty || component.elementsEqual(".".utf8) || component.elementsEqual("..".utf8)
  }

  /// The escaped component; nil for UTF-8, which is not changed.
  static func escaped(_ component: some Collection<UInt8>) -> [UInt8]? {
    guard component.contains(where: { $0 >= 0x80 }) else { return nil }
    var escaped: [UInt8] = []
    var isChanged = false
    var parser = Unicode.UTF8.ForwardParser()
    var rest = component.makeIterator()
    var bytes = component.makeIterator()
    while true {
      switch parser.parseScalar(from: &rest) {
      case .valid(let scalar):
        for _ in scalar {
          guard let byte = bytes.next() else { break }
          if byte == UInt8(ascii: "%") { add(byte, to: &escaped) } else { escaped.append(byte) }
        }
      case .error(let length):
        isChanged = true
        for _ in 0..<length { bytes.next().map { add($0, to: &escaped) } }
      case .emptyInput:
        return isChanged ? escaped : nil
      }
    }
  }

  /// The component that was escaped to this one; nil if none was.
  static func restored(_ component: some Collection<UInt8>) -> [UInt8]? {
    let name = PercentEncoding.bytes(of: Array(component))
    return escaped(name)?.elementsEqual(component) == true ? name : nil
  }

  private static func add(_ byte: UInt8, to text: inout [UInt8]) {
    let digits = Array("0123456789ABCDEF".utf8)
    text += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
  }
}

extension FilePath {
  /// The last component as the last component of a key.
  public func nameInKey(_ oddNames: BatchSources.OddNames = .escape) throws(Failure) -> String {
    try KeyName(prefix: "", oddNames).text(of: Array(lastName), Place(file: text))
  }
}
