/// A text for people in which settings and actions are values, so that each program shows them under its own names
/// without searching the text:
///
///     let wording: Wording = "the bucket is elsewhere: give \(.region, "eu-west-1")"
///     wording.description  // the bucket is elsewhere: give region: "eu-west-1"
///     wording.settings     // [.region]
///     wording.text(setting: { name, form in "the field \(name)" }, action: { "the button \($0)" })
///
/// A literal may contain a setting (`\(.region)`), a setting with a value (`\(.region, "eu-west-1")`), a setting to
/// switch off (`\(off: .fips)`), the place of a setting's secret (`\(secret: .proxy)`), and an action (`\(run: .examine)`).
public struct Wording: Sendable, Equatable {
  /// A piece of a wording.
  public enum Piece: Sendable, Equatable {
    case text(String)
    case setting(Setting, Setting.Form)
    case action(RemedyAction)
  }

  /// A piece, or a part of a text: what a literal says is the program's own, any other text was put into it.
  private struct Fragment: Sendable {
    let piece: Piece
    let isOwn: Bool
  }

  /// None is empty.
  private var fragments: [Fragment] = []

  /// The pieces; none is empty, and no two texts are adjacent.
  public var pieces: [Piece] {
    fragments.reduce(into: []) { pieces, fragment in
      if case .text(let last)? = pieces.last, case .text(let text) = fragment.piece {
        pieces[pieces.count - 1] = .text(last + text)
      } else {
        pieces.append(fragment.piece)
      }
    }
  }

  /// Compares the pieces, wherever their texts come from.
  public static func == (a: Wording, b: Wording) -> Bool { a.pieces == b.pieces }

  /// The settings that the text names, in order.
  public var settings: [Setting] {
    pieces.compactMap { if case .setting(let setting, _) = $0 { setting } else { nil } }
  }

  /// The actions that the text names, in order.
  public var actions: [RemedyAction] {
    pieces.compactMap { if case .action(let action) = $0 { action } else { nil } }
  }

  /// The whole text, with settings and actions in the caller's words.
  public func text(
    setting: (Setting, Setting.Form) -> String, action: (RemedyAction) -> String
  ) -> String {
    var out = ""
    for fragment in fragments { out += Self.text(of: fragment.piece, setting, action) }
    return out
  }

  /// `a` followed by `b`.
  public static func + (a: Wording, b: Wording) -> Wording {
    var sum = a
    sum += b
    return sum
  }

  /// Appends `b`.
  public static func += (a: inout Wording, b: Wording) {
    a.fragments += b.fragments
  }

  private mutating func append(_ piece: Piece, isOwn: Bool = false) {
    if case .text("") = piece { return }
    fragments.append(Fragment(piece: piece, isOwn: isOwn))
  }

  private static func text(
    of piece: Piece, _ setting: (Setting, Setting.Form) -> String, _ action: (RemedyAction) -> String
  ) -> String {
    switch piece {
    case .text(let text): text
    case .setting(let name, let form): setting(name, form)
    case .action(let proposed): action(proposed)
    }
  }

  /// The text without the secrets that were put into it. The program's own words stay: a secret such as `secretkey`
  /// must not hide what a message says about it. A secret may be spread over several pieces, so the whole text is
  /// searched too.
  func masked(by search: SecretSearch) -> Wording {
    var masked = Wording()
    for fragment in fragments {
      let piece: Piece =
        switch fragment.piece {
        case .text(let text): .text(fragment.isOwn ? text : search.masked(text))
        case .setting(let name, .value(let value)): .setting(name, .value(search.masked(value)))
        case .setting: fragment.piece
        case .action(let action): .action(action.mapTexts { search.masked($0) })
        }
      masked.append(piece, isOwn: fragment.isOwn)
    }
    let (whole, own) = masked.spelled
    let found = search.ranges(in: whole).filter { range in
      !own.contains { $0.lowerBound <= range.lowerBound && range.upperBound <= $0.upperBound }
    }
    return found.isEmpty ? masked : Wording(String(decoding: SecretSearch.masked(found, in: whole), as: UTF8.self))
  }

  /// The text in the library's own words, and where it is the program's own.
  private var spelled: (whole: [UInt8], own: [Range<Int>]) {
    var (whole, own): ([UInt8], [Range<Int>]) = ([], [])
    for fragment in fragments {
      let start = whole.count
      whole += Self.text(of: fragment.piece, { $0.words($1) }, \.description).utf8
      guard fragment.isOwn else { continue }
      if let last = own.last, last.upperBound == start {
        own[own.count - 1] = last.lowerBound..<whole.count
      } else {
        own.append(start..<whole.count)
      }
    }
    return (whole, own)
  }
}

extension Wording: CustomStringConvertible {
  /// A text that names neither settings nor actions.
  public init(_ text: String) { append(.text(text)) }

  /// The text in the library's own words.
  public var description: String { text(setting: { $0.words($1) }, action: \.description) }
}

extension Wording: ExpressibleByStringInterpolation {
  /// A literal without interpolations.
  public init(stringLiteral text: String) { append(.text(text), isOwn: true) }

  /// A literal with interpolations.
  public init(stringInterpolation: StringInterpolation) { self = stringInterpolation.wording }

  /// Collects the pieces of a literal.
  public struct StringInterpolation: StringInterpolationProtocol {
    fileprivate var wording = Wording()

    /// An empty literal; the capacity is ignored, because texts are short.
    public init(literalCapacity: Int, interpolationCount: Int) {}

    /// The text between interpolations.
    public mutating func appendLiteral(_ text: String) { wording.append(.text(text), isOwn: true) }

    /// A setting, by its name.
    public mutating func appendInterpolation(_ setting: Setting) {
      wording.append(.setting(setting, .name), isOwn: true)
    }

    /// A setting with a value.
    public mutating func appendInterpolation(_ setting: Setting, _ value: String) {
      wording.append(.setting(setting, .value(value)))
    }

    /// A setting to be switched off.
    public mutating func appendInterpolation(off setting: Setting) {
      wording.append(.setting(setting, .off), isOwn: true)
    }

    /// The place where a setting's secret is kept.
    public mutating func appendInterpolation(secret setting: Setting) {
      wording.append(.setting(setting, .secret), isOwn: true)
    }

    /// An action to take.
    public mutating func appendInterpolation(run action: RemedyAction) { wording.append(.action(action)) }

    /// The pieces of another wording.
    public mutating func appendInterpolation(_ other: Wording) { wording += other }

    /// Text.
    public mutating func appendInterpolation(_ text: String) { wording.append(.text(text)) }

    /// The description of a value.
    public mutating func appendInterpolation(_ value: some CustomStringConvertible) {
      wording.append(.text(value.description))
    }
  }
}

extension Sequence<Wording> {
  func joined(separator: Wording) -> Wording {
    var sum: Wording?
    for element in self { sum = sum.map { $0 + separator + element } ?? element }
    return sum ?? ""
  }
}

extension DefaultStringInterpolation {
  /// Rejects interpolating a wording into a `String`, which would have the library's names of settings instead of the
  /// program's.
  @available(*, unavailable, message: "make it a Wording too, or ask for the text in a program's words")
  mutating func appendInterpolation(_ wording: Wording) {}
}
