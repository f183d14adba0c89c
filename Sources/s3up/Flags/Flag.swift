import MultipartBasics
import MultipartCore

/// The groups of options in help and the man page.
enum FlagSection: String, Sendable, CaseIterable {
  case upload = "Upload"
  case target = "Target"
  case list = "List"
  case selection = "Selection"
  case presign = "Presigned URL"
  case ticket = "Ticket"
  case transfer = "Transfer"
  case resume = "Resume"
  case integrity = "Integrity"
  case object = "Object"
  case conditions = "Condition"
  case connection = "Connection"
  case credentials = "Credential"
  case state = "State"
  case output = "Output"
}

/// One option. The parser, the environment, help, the man page and the completions are derived from it.
struct Flag: Sendable {
  enum Kind: Sendable, Equatable {
    case toggle
    /// A switch that is counted: `-vv`.
    case count
    case value(String)
    /// May be given several times; each one adds a value.
    case list(String)
    /// The value, if any, follows `=`.
    case optional(String)
  }

  /// What a value without choices names, so that a shell can offer it.
  enum Names: Sendable {
    case nothing
    /// A file that is read.
    case input
    /// A file that is read, after `NAME=`.
    case inputOfName
    /// A file that is written.
    case output
    case directory, profile
  }

  let name: FlagName
  var short: Character?
  let kind: Kind
  let section: FlagSection
  /// The modes in which it is accepted.
  let modes: ModeSet
  /// A sentence for help.
  let doc: String
  /// What the man page adds to `doc`.
  var more = ""
  var standard: String?
  var choices: [String] = []
  /// Values other than the choices are accepted too.
  var open = false
  /// `--no-NAME` switches off what the environment switched on.
  var negatable = false
  var names = Names.nothing
  /// The modes in which most people need it: there `-h` shows it.
  var common: ModeSet = []
  /// Options that act immediately (help, version) have no variable.
  var hasVariable = true

  init(
    _ name: FlagName, short: Character? = nil, _ kind: Kind, _ section: FlagSection, _ modes: ModeSet,
    _ doc: String, more: String = "", standard: String? = nil, choices: [String] = [], open: Bool = false,
    negatable: Bool = false, names: Names = .nothing, common: ModeSet = [],
    hasVariable: Bool = true
  ) {
    self.name = name
    self.short = short
    self.kind = kind
    self.section = section
    self.modes = modes
    self.doc = doc
    self.more = more
    self.standard = standard
    self.choices = choices
    self.open = open
    self.negatable = negatable
    self.names = names
    self.common = common
    self.hasVariable = hasVariable
  }

  func isOf(_ command: CommandName) -> Bool { !modes.isDisjoint(with: command.modes) }

  var long: String { name.long }

  /// `S3UP_PART_SIZE`, then AWS's variables: the first one that is set is used.
  var variables: [Setting.Variable] {
    guard hasVariable else { return [] }
    return [Setting.Variable(name.variable)] + aws
  }

  /// AWS's variables, which the option's own variable overrides.
  var aws: [Setting.Variable] { Self.ofAWS[name] ?? [] }

  private static let ofAWS = Dictionary(
    Setting.awsVariables.map { ($0.key.flag, $0.value) }, uniquingKeysWith: +)

  var metavar: String? {
    switch kind {
    case .toggle, .count: nil
    case .value(let word), .list(let word), .optional(let word): word
    }
  }

  /// Whether the next word is its value.
  var takesNextWord: Bool {
    switch kind {
    case .value, .list: true
    case .toggle, .count, .optional: false
    }
  }

  /// Whether `-` as its value is standard input.
  var takesDash: Bool { metavar?.pieces(at: "|").contains("-") ?? false }

  /// The file that the option reads, in its value.
  func input(in value: [UInt8]) -> FilePath? {
    switch names {
    case .input: FilePath(bytes: value)
    case .inputOfName: value.firstIndex(of: UInt8(ascii: "=")).map { FilePath(bytes: Array(value[($0 + 1)...])) }
    case .nothing, .output, .directory, .profile: nil
    }
  }

  /// The option as help shows it: `-q, --quiet`, `--part-size SIZE|auto`, `--json[=all]`.
  var term: String {
    let names = (short.map { "-\($0), " } ?? "") + long
    return switch kind {
    case .toggle, .count: names
    case .value(let word), .list(let word): names + " " + word
    case .optional(let word): names + "[=" + word + "]"
    }
  }
}
