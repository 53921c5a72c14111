import Foundation
import StoreReading

/// What shells complete, made of the descriptions. Pure.
enum ShellCompletions: String, CaseIterable {
    case bash, zsh, fish

    var text: String {
        switch self {
        case .bash: Self.bashText
        case .zsh: Self.zshText
        case .fish: Self.fishText
        }
    }

    private static var top: [CommandDescription] { CommandManual.all.filter { !$0.name.contains(" ") } }
    private static var nested: [CommandDescription] { CommandManual.all.filter { $0.name.contains(" ") } }
    private static func last(_ command: CommandDescription) -> String {
        command.name.split(separator: " ").last.map(String.init) ?? ""
    }

    // MARK: bash

    private static var bashText: String {
        let cases = CommandManual.all.map { command in
            let words = command.options.map(\.name) + ["--help"]
            return "        \"\(command.name)\") words=\"\(words.joined(separator: " "))\" ;;"
        }
        let values = choices().map {
            "        \"\($0.command) \($0.option)\") words=\"\($0.values.joined(separator: " "))\" ;;"
        }
        return """
            # Completions of pippin for bash. Made by “pippin completions bash”.
            _pippin() {
                local current="${COMP_WORDS[COMP_CWORD]}" previous="${COMP_WORDS[COMP_CWORD-1]}" command="${COMP_WORDS[1]}" words=""
                if [ "$COMP_CWORD" -eq 1 ]; then
                    COMPREPLY=($(compgen -W "\(top.map(\.name).joined(separator: " ")) --help --version" -- "$current"))
                    return
                fi
                if [ "$command" = model ]; then
                    if [ "$COMP_CWORD" -eq 2 ]; then
                        COMPREPLY=($(compgen -W "\(nested.map(last).joined(separator: " "))" -- "$current"))
                        return
                    fi
                    command="model ${COMP_WORDS[2]}"
                fi
                case "$command $previous" in
            \(values.joined(separator: "\n"))
                "completions completions") words="bash zsh fish" ;;
                esac
                if [ -z "$words" ] && [[ "$current" == -* ]]; then
                    case "$command" in
            \(cases.joined(separator: "\n"))
                    esac
                fi
                if [ -n "$words" ]; then
                    COMPREPLY=($(compgen -W "$words" -- "$current"))
                else
                    compopt -o filenames 2>/dev/null
                    COMPREPLY=($(compgen -f -- "$current"))
                fi
            }
            complete -F _pippin pippin

            """
    }

    private static func choices() -> [(command: String, option: String, values: [String])] {
        CommandManual.all.flatMap { command in
            command.options.filter { !$0.choices.isEmpty }.map { (command.name, $0.name, $0.choices) }
        }
    }

    // MARK: zsh

    private static var zshText: String {
        func arguments(_ command: CommandDescription) -> String {
            let options = command.options.map { option -> String in
                let text = quoted(first(option.text))
                guard let value = option.value else { return "'\(option.name)[\(text)]'" }
                let action = option.choices.isEmpty ? "_files" : "(\(option.choices.joined(separator: " ")))"
                return "'\(option.name)[\(text)]:\(value):\(action)'"
            }
            let rest = command.name == "completions" ? "'*:shell:(bash zsh fish)'" : "'*:file:_files'"
            return (options + ["'--help[help]'", rest]).joined(separator: " ")
        }
        func list(_ commands: [CommandDescription], _ name: (CommandDescription) -> String) -> String {
            commands.map { "'\(name($0)):\(quoted($0.summary))'" }.joined(separator: " ")
        }
        let cases = top.filter { $0.name != "model" }.map { "        \($0.name)) _arguments \(arguments($0)) ;;" }
        let inner = nested.map { "            \(last($0))) _arguments \(arguments($0)) ;;" }
        return """
            #compdef pippin
            # Completions of pippin for zsh. Made by “pippin completions zsh”.
            _pippin() {
                local -a commands models
                commands=(\(list(top) { $0.name }))
                models=(\(list(nested, last)))
                if (( CURRENT == 2 )); then
                    _describe command commands
                    return
                fi
                shift words; (( CURRENT-- ))
                case "$words[1]" in
            \(cases.joined(separator: "\n"))
                model)
                    if (( CURRENT == 2 )); then
                        _describe command models
                        return
                    fi
                    shift words; (( CURRENT-- ))
                    case "$words[1]" in
            \(inner.joined(separator: "\n"))
                    esac ;;
                esac
            }
            _pippin "$@"

            """
    }

    // MARK: fish

    private static var fishText: String {
        var lines = ["# Completions of pippin for fish. Made by “pippin completions fish”."]
        for command in top {
            lines.append(
                "complete -c pippin -n __fish_use_subcommand -f -a \(command.name) -d '\(quoted(command.summary))'")
        }
        for command in nested {
            lines.append(
                "complete -c pippin -n '__fish_seen_subcommand_from model; and not __fish_seen_subcommand_from \(nested.map(last).joined(separator: " "))' "
                    + "-f -a \(last(command)) -d '\(quoted(command.summary))'")
        }
        for command in CommandManual.all {
            for option in command.options {
                let values =
                    option.choices.isEmpty
                    ? (option.value == nil ? "" : " -r") : " -x -a '\(option.choices.joined(separator: " "))'"
                lines.append(
                    "complete -c pippin -n '__fish_seen_subcommand_from \(last(command))' -l \(option.name.dropFirst(2))\(values) -d '\(quoted(first(option.text)))'"
                )
            }
        }
        lines.append("complete -c pippin -n '__fish_seen_subcommand_from completions' -x -a 'bash zsh fish'")
        return lines.joined(separator: "\n") + "\n"
    }

    /// The first sentence.
    private static func first(_ text: String) -> String {
        let sentence = text.range(of: ". ").map { String(text[..<$0.lowerBound]) } ?? text
        return sentence.hasSuffix(".") ? String(sentence.dropLast()) : sentence
    }

    /// Text between apostrophes that brackets and colons mean something in.
    private static func quoted(_ text: String) -> String {
        text.replacing("'", with: "’").replacing("[", with: "(").replacing("]", with: ")").replacing(":", with: ",")
    }
}
