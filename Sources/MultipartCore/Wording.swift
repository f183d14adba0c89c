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

  /// The pieces; none is empty, and no two texts are adjacent.
  public private(set) var pieces: [Piece] = []

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
    for piece in pieces {
      switch piece {
      case .text(let text): out += text
      case .setting(let name, let form): out += setting(name, form)
      case .action(let proposed): out += action(proposed)
      }
    }
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
    for piece in b.pieces { a.append(piece) }
  }

  private mutating func append(_ piece: Piece) {
    guard case .text(let text) = piece else { return pieces.append(piece) }
    guard !text.isEmpty else { return }
    if case .text(let last)? = pieces.last {
      pieces[pieces.count - 1] = .text(last + text)
    } else {
      pieces.append(piece)
    }
  }

  /// Applies `change` to each piece, and also to the whole text, because a secret may be spread over several pieces.
  func masked(_ change: (String) -> String) -> Wording {
    var masked = Wording()
    for piece in pieces {
      switch piece {
      case .text(let text): masked.append(.text(change(text)))
      case .setting(let name, .value(let value)): masked.append(.setting(name, .value(change(value))))
      case .setting: masked.append(piece)
      case .action(let action): masked.append(.action(action.mapTexts(change)))
      }
    }
    guard masked.pieces.count > 1 else { return masked }
    let whole = masked.description
    let text = change(whole)
    return text.utf8.elementsEqual(whole.utf8) ? masked : Wording(text)
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
  public init(stringLiteral text: String) { self.init(text) }

  /// A literal with interpolations.
  public init(stringInterpolation: StringInterpolation) { self = stringInterpolation.wording }

  /// Collects the pieces of a literal.
  public struct StringInterpolation: StringInterpolationProtocol {
    fileprivate var wording = Wording()

    /// An empty literal; the capacity is ignored, because texts are short.
    public init(literalCapacity: Int, interpolationCount: Int) {}

    /// The text between interpolations.
    public mutating func appendLiteral(_ text: String) { wording.append(.text(text)) }

    /// A setting, by its name.
    public mutating func appendInterpolation(_ setting: Setting) { wording.append(.setting(setting, .name)) }

    /// A setting with a value.
    public mutating func appendInterpolation(_ setting: Setting, _ value: String) {
      wording.append(.setting(setting, .value(value)))
    }

    /// A setting to be switched off.
    public mutating func appendInterpolation(off setting: Setting) { wording.append(.setting(setting, .off)) }

    /// The place where a setting's secret is kept.
    public mutating func appendInterpolation(secret setting: Setting) { wording.append(.setting(setting, .secret)) }

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
