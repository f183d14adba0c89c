import MultipartBasics
import MultipartCore

enum ZshCompletions {
  static var script: String {
    let commands = CommandName.allCases.map { "    '\($0.rawValue):\(quote(CommandPage.of($0).summary))'" }
    return """
      #compdef s3up
      # zsh completion of s3up; put it as _s3up into a folder of $fpath.
      _s3up_profiles() {
        \(Completions.profiles)
      }
      _s3up_remote() {
        sh -c '\(Completions.remote)' sh "$1" 2>/dev/null
      }
      _s3up_files() {
        if [[ $PREFIX == s3:* ]]; then
          compadd -S '' -- ${(f)"$(_s3up_remote ${(Q)PREFIX})"}
        else
          _files
        fi
      }
      _s3up() {
        local curcontext=$curcontext state line
        local -A opt_args
        local -a commands
        commands=(
      \(commands.joined(separator: "\n"))
        )
        _arguments -C '--help[Show help.]' '--version[Show the version.]' '1:command:->command' '*::argument:->argument'
        case $state in
          command) _describe -t commands 'command' commands ;;
          argument)
            case $words[1] in
      \(CommandName.allCases.map(commandCase).joined(separator: "\n"))
            esac ;;
        esac
      }
      if [[ $funcstack[1] == _s3up ]]; then
        _s3up "$@"
      else
        compdef _s3up s3up
      fi

      """
  }

  private static func commandCase(_ command: CommandName) -> String {
    let specs = FlagList.of(command).flatMap(specs) + [rest(command)]
    return "        \(command.rawValue)) _arguments -s \\\n"
      + specs.map { "          \($0)" }.joined(separator: " \\\n") + " ;;"
  }

  private static func rest(_ command: CommandName) -> String {
    switch command {
    case .help: "'*:topic:(\(Completions.helpWords))'"
    case .ticket: "'1:action:(\(Completions.actionWords))' '*:file:_s3up_files'"
    // After the destination of --from-command follows a command.
    case .put: "'*:file:{ if (( ${words[(I)--]} )) { _command_names } else { _s3up_files } }'"
    case .completions: "'*:shell:(\(ShellChoice.words.joined(separator: " ")))'"
    default: "'*:file:_s3up_files'"
    }
  }

  private static func specs(_ flag: Flag) -> [String] {
    let repeats: Bool
    switch flag.kind {
    case .list, .count: repeats = true
    case .toggle, .value, .optional: repeats = false
    }
    let doc = "[" + Escaped.singleQuoted(flag.doc, backslashing: ":[]") + "]"
    return Completions.spellings(of: flag).map { spelling in
      let star = repeats ? "*" : ""
      let isNegation = spelling.begins(with: "--no-") && spelling != flag.long
      if case .optional = flag.kind { return "'\(star)\(spelling)=-\(doc)::\(value(flag))'" }
      guard flag.takesNextWord, !isNegation else { return "'\(star)\(spelling)\(doc)'" }
      return "'\(star)\(spelling)=\(doc):\(value(flag))'"
    }
  }

  private static func value(_ flag: Flag) -> String {
    let name = quote(flag.name.rawValue)
    if !flag.choices.isEmpty {
      return name + ":(" + flag.choices.map { Escaped.backslashed($0, ":") }.joined(separator: " ") + ")"
    }
    return switch flag.names {
    case .nothing, .inputOfName: name + ": "
    case .input, .output: name + ":_files"
    case .directory: name + ":_files -/"
    case .profile: name + ":($(_s3up_profiles))"
    }
  }

  /// Escapes text for single quotes and for `_arguments`, where a colon would end a field.
  private static func quote(_ text: String) -> String {
    Escaped.singleQuoted(text, backslashing: ":")
  }
}

enum FishCompletions {
  static var script: String {
    let names = CommandName.words.joined(separator: " ")
    var lines = ["# fish completion of s3up; put it into ~/.config/fish/completions/s3up.fish."]
    let none = "not __fish_seen_subcommand_from \(names)"
    for name in CommandName.allCases {
      lines.append("complete -c s3up -f -n '\(none)' -a \(name.rawValue) -d \(quote(CommandPage.of(name).summary))")
    }
    lines.append("complete -c s3up -n '\(none)' -l version -d 'Show the version.'")
    lines.append("complete -c s3up -n '\(none)' -s h -l help -d 'Show help.'")
    for command in CommandName.allCases {
      let seen = "-n '__fish_seen_subcommand_from \(command.rawValue)'"
      for flag in FlagList.of(command) { lines += self.lines(flag, seen) }
    }
    lines.append("complete -c s3up -f -n '__fish_seen_subcommand_from help' -a '\(Completions.helpWords)'")
    lines.append("complete -c s3up -f -n '__fish_seen_subcommand_from ticket' -a '\(Completions.actionWords)'")
    let from = "__fish_seen_subcommand_from put; and contains -- -- (commandline -opc)"
    lines.append("complete -c s3up -f -n '\(from)' -a '(__fish_complete_command)'")
    let remote = "(sh -c \(quote(Completions.remote)) sh (commandline -ct) 2>/dev/null)"
    lines.append("complete -c s3up -f -n 'string match -q \"s3://*\" -- (commandline -ct)' -a \(quote(remote))")
    let shells = ShellChoice.words.joined(separator: " ")
    lines.append("complete -c s3up -f -n '__fish_seen_subcommand_from completions' -a '\(shells)'")
    return lines.joined(separator: "\n") + "\n"
  }

  private static func lines(_ flag: Flag, _ seen: String) -> [String] {
    var line = "complete -c s3up \(seen)" + (flag.short.map { " -s \($0)" } ?? "") + " -l \(flag.name.rawValue)"
    if flag.takesNextWord {
      line += [.nothing, .inputOfName, .profile].contains(flag.names) ? " -x" : " -r"
      if flag.names == .profile { line += " -a " + quote("(sh -c \(quote(Completions.profiles)))") }
      if !flag.choices.isEmpty { line += " -a \(quote(flag.choices.joined(separator: " ")))" }
    }
    var result = [line + " -d \(quote(flag.doc))"]
    if flag.negatable {
      result.append("complete -c s3up \(seen) -l no-\(flag.name.rawValue) -d \(quote("Take back \(flag.long)."))")
    }
    return result
  }

  private static func quote(_ text: String) -> String {
    "'" + Escaped.backslashed(text, "\\'") + "'"
  }
}
