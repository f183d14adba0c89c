/// The completion scripts for shells.
enum Completions {
  static func script(for shell: ShellChoice) -> String {
    switch shell {
    case .bash: BashCompletions.script
    case .zsh: ZshCompletions.script
    case .fish: FishCompletions.script
    }
  }

  /// The words that `s3up help` accepts.
  static var helpWords: String { (CommandName.words + HelpTopic.words).joined(separator: " ") }

  static var actionWords: String { TicketCommand.Action.words.joined(separator: " ") }

  /// A shell command that prints the profiles of AWS's shared files.
  static let profiles = #"""
    sed -n 's/^\[\(profile  *\)\{0,1\}\([^] ]*\) *\].*/\2/p' \
      "${AWS_CONFIG_FILE:-$HOME/.aws/config}" "${AWS_SHARED_CREDENTIALS_FILE:-$HOME/.aws/credentials}" 2>/dev/null
    """#

  /// A script for sh that prints the buckets, or the objects of a bucket, that begin with its argument: at most 200, within
  /// three seconds, without a message, and for a minute from a file that is this user's alone.
  static let remote = #"""
    case $1 in
      s3://*/*) bucket=${1#s3://} from="s3://${bucket%%/*}/" ask=$1 to= ;;
      s3://*) from=s3:// ask= to=/ ;;
      *) exit ;;
    esac
    umask 077
    cache=${XDG_CACHE_HOME:-${HOME:?}/.cache}/s3up/completions
    mkdir -p "$cache" && find "$cache" -type f -mmin +0 -delete
    file=$cache/$(printf "%s\n" "$ask" "$AWS_PROFILE" "$AWS_ENDPOINT_URL" "$AWS_ACCESS_KEY_ID" | cksum | tr " " -)
    [ -s "$file" ] || timeout 3 s3up ls --retries 1 ${ask:+"$ask"} </dev/null | head -n 200 >"$file"
    while IFS= read -r name; do printf "%s\n" "$from$name$to"; done <"$file"
    """#

  /// The spellings of an option: its long form, its short form, and `--no-…`.
  static func spellings(of flag: Flag) -> [String] {
    [flag.long] + (flag.short.map { ["-\($0)"] } ?? []) + (flag.negatable ? ["--no-" + flag.name.rawValue] : [])
  }
}

enum BashCompletions {
  static var script: String {
    let commands = CommandName.words.joined(separator: " ")
    return """
      # bash completion of s3up; load it with: source <(s3up completions bash)
      _s3up_profiles() {
        \(Completions.profiles)
      }
      _s3up_remote() {
        sh -c '\(Completions.remote)' sh "$1" 2>/dev/null
      }
      _s3up() {
        local cur=${COMP_WORDS[COMP_CWORD]} prev='' command='' i
        COMPREPLY=()
        # bash splits words at colons, and --name=value in three words, or in two while the value is empty.
        local at=$COMP_CWORD
        while (( at > 1 )) && [[ ${COMP_WORDS[at]} == ':' || ${COMP_WORDS[at-1]} == ':' ]]; do
          at=$(( at - 1 ))
          cur=${COMP_WORDS[at]}$cur
        done
        (( at > 0 )) && prev=${COMP_WORDS[at-1]}
        if [[ $cur == '=' ]]; then
          cur=''
        elif [[ $prev == '=' ]] && (( at > 1 )); then
          prev=${COMP_WORDS[at-2]}
        fi
        for (( i = 1; i < COMP_CWORD; i++ )); do
          case ${COMP_WORDS[i]} in
            \(CommandName.words.joined(separator: "|"))) command=${COMP_WORDS[i]}; break ;;
          esac
        done
        local options='' values='' line="${COMP_WORDS[*]:0:COMP_CWORD} "
        case $command in
      \(CommandName.allCases.map(commandCase).joined(separator: "\n"))
          *) options='--help --version' ;;
        esac
        case $command:$prev in
      \(valueCases.joined(separator: "\n"))
        esac
        if [[ -n $values ]]; then
          COMPREPLY=( $(compgen -W "$values" -- "$cur") )
          # The part before the last colon is a word of its own and stays.
          COMPREPLY=( "${COMPREPLY[@]#"${cur%"${cur##*:}"}"}" )
        elif [[ $cur == -* ]]; then
          COMPREPLY=( $(compgen -W "$options" -- "$cur") )
        elif [[ -z $command ]]; then
          COMPREPLY=( $(compgen -W '\(commands)' -- "$cur") )
        elif [[ $command == put && $line == *' -- '* ]]; then
          COMPREPLY=( $(compgen -c -- "$cur") )
        elif [[ $cur == s3://* ]]; then
          local word
          while IFS= read -r word; do
            [[ $word == "$cur"* ]] && COMPREPLY+=( "$(printf '%q' "${word#"${cur%"${cur##*:}"}"}")" )
          done < <(_s3up_remote "$cur")
          compopt -o nospace 2>/dev/null
        elif [[ $command == ticket && $prev == ticket ]]; then
          COMPREPLY=( $(compgen -W '\(Completions.actionWords)' -- "$cur") )
        elif [[ $command == help ]]; then
          COMPREPLY=( $(compgen -W '\(Completions.helpWords)' -- "$cur") )
        elif [[ $command == completions ]]; then
          COMPREPLY=( $(compgen -W '\(ShellChoice.words.joined(separator: " "))' -- "$cur") )
        fi
      }
      # Where s3up has nothing to offer, bash offers file names.
      complete -o bashdefault -o default -F _s3up s3up

      """
  }

  private static func commandCase(_ command: CommandName) -> String {
    let options = FlagList.of(command).flatMap(Completions.spellings).joined(separator: " ")
    return "    \(command.rawValue)) options='\(options)' ;;"
  }

  private static var valueCases: [String] {
    CommandName.allCases.flatMap { command in
      FlagList.of(command).compactMap { flag in
        if flag.names == .profile {
          return "    \(command.rawValue):\(flag.long)) values=$(_s3up_profiles) ;;"
        }
        guard !flag.choices.isEmpty else { return nil }
        return "    \(command.rawValue):\(flag.long)) values='\(flag.choices.joined(separator: " "))' ;;"
      }
    }
  }
}
