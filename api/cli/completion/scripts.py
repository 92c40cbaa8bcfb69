"""Writes the scripts for bash, zsh and fish; they hold all words but the paths of the drive, which they ask for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from api.cli.completion.fish import fish_script
from api.cli.completion.grammar import PROGRAM

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from api.cli.completion.grammar import Argument, Command


def bash_script(commands: list[Command]) -> str:
    """Return the script for bash (4 or newer, also without bash-completion)."""
    return f"{_grammar(commands)}\n{WALK}\n{BASH}"


def zsh_script(commands: list[Command]) -> str:
    """Return the script for zsh, which may be sourced, or be the file of a function."""
    return f"#compdef {PROGRAM}\n{_grammar(commands)}\n{WALK}\n{ZSH}"


SCRIPTS: Final[dict[str, Callable[[list[Command]], str]]] = {
    "bash": bash_script,
    "zsh": zsh_script,
    "fish": fish_script,
}


def _grammar(commands: list[Command]) -> str:
    """Return shell functions that print the words after a command, an option's values, and an argument's kinds."""
    words = ((f"'{command.key}'", command.words) for command in commands)
    values = (
        (f"'{command.key}:{option}'", " ".join(values))
        for command in commands
        for option, values in command.values.items()
    )
    arguments = (
        (f"'{command.key}:'{_places(argument)}", " ".join(argument.kinds))
        for command in commands
        for argument in command.arguments
    )
    return "\n".join([_table("words", words), _table("values", values), _table("arguments", arguments)])


def _table(name: str, rows: Iterable[tuple[str, str]]) -> str:
    lines = "\n".join(f"        {pattern}) echo '{words}' ;;" for pattern, words in rows)
    return f'_drive_agent_{name}() {{\n    case "$1" in\n{lines}\n        *) return 1 ;;\n    esac\n}}\n'


def _places(argument: Argument) -> str:
    if not argument.is_last:
        return str(argument.place)
    return f"[{argument.place}-9]*" if argument.place else "*"


WALK: Final = """\
# Sets what the words before the cursor lead to: `at` the command, `number` its arguments, `option` that needs a value.
_drive_agent_walk() {
    local word
    at="" number=0 option=""
    for word in "$@"; do
        if [[ -n "$option" ]]; then
            option=""
        elif [[ "$word" == -?* ]]; then
            _drive_agent_values "$at:$word" > /dev/null && option="$word"
        elif _drive_agent_words "${at:+$at }$word" > /dev/null; then
            at="${at:+$at }$word" number=0
        else
            number=$((number + 1))
        fi
    done
}

# Prints what may come next; with files or items, options only for a word that begins like one.
_drive_agent_next() {
    local word found=""
    if [[ -n "$option" ]]; then
        _drive_agent_values "$at:$option"
        return
    fi
    found="$(_drive_agent_arguments "$at:$number")"
    [[ -n "$found" && "$1" != -* ]] && echo "$found" || _drive_agent_words "$at"
}
"""

# Without the option `filenames` of `complete`: with it readline leaves a $( in a name unquoted.
BASH: Final = r"""# Sets `words` before the cursor and the `word` at it, both unquoted, and the `quote` that is open.
# Readline replaces the word only from its last unquoted break or its open quote on: `kept` characters stay.
_drive_agent_read() {
    local line="${COMP_LINE:0:COMP_POINT}" begun="" before=0 head char i
    for ((i = 0; i < ${#line}; i++)); do
        char="${line:i:1}"
        if [[ -n "$quote" && "$char" == "$quote" ]]; then
            quote="" kept=$before
        elif [[ "$quote" != "'" && "$char" == \\ && ( -z "$quote" || "${line:i+1:1}" == [\"\\\$\`] ) ]]; then
            ((++i))
            word+="${line:i:1}" begun=1
        elif [[ -n "$quote" ]]; then
            word+="$char"
        elif [[ "$char" == [\"\'] ]]; then
            quote="$char" begun=1 before=$kept kept=${#word}
        elif [[ "$char" == [[:space:]] ]]; then
            [[ -n "$begun" ]] && words+=("$word")
            word="" begun="" kept=0
        else
            word+="$char" begun=1
            # An @ is replaced too: readline takes it for the beginning of a host.
            [[ "$COMP_WORDBREAKS" == *"$char"* ]] && head="${word%@}" kept=${#head}
        fi
    done
}

# Adds paths, one a line, written so that the shell passes them on as they are.
_drive_agent_add() {
    local path char written
    while IFS= read -r path; do
        path="${path:kept}"
        [[ -z "$path" ]] && continue
        case "$quote" in
            "") printf -v path %q "$path" ;;
            \') written="'\\''" path=${path//\'/"$written"} ;;
            *)
                for char in \\ '"' '$' '`'; do
                    written="\\$char" path=${path//"$char"/"$written"}
                done
                written="\"'!'\"" path=${path//!/"$written"}
                ;;
        esac
        # Readline takes a quote at the beginning for the one that is open.
        [[ -n "$quote" && "$path" == "$quote"* ]] && path="$quote$path"
        COMPREPLY+=("$path")
    done <<< "$1"
}

_drive_agent_items() {
    "${words[0]}" completion bash "${words[@]}" "$word" 2> /dev/null < /dev/null
}

_drive_agent_files() {
    local path
    while IFS= read -r path; do
        [[ -d "$path" ]] && echo "$path/" || echo "$path"
    done <<< "$(compgen -f -- "$word")"
}

_drive_agent() {
    local words=() word="" quote="" kept=0 at number option next found
    _drive_agent_read
    _drive_agent_walk "${words[@]:1}"
    next="$(_drive_agent_next "$word")"
    COMPREPLY=($(compgen -X '@*' -W "$next" -- "$word"))
    if [[ "$next" == *@items* && ( -z "$word" || "$word" == /* ) ]]; then
        _drive_agent_add "$(_drive_agent_items)"
        [[ "$next" == *@files* ]] && _drive_agent_add "$(_drive_agent_files)"
        [[ "${#COMPREPLY[@]}" == 1 && "${COMPREPLY[0]}" == */ ]] && compopt -o nospace 2> /dev/null
    elif [[ "$next" == *@files* ]]; then
        compopt -o filenames 2> /dev/null
        found="$(compgen -f -- "$word")"
        [[ -n "$found" ]] && mapfile -t COMPREPLY <<< "$found"
        COMPREPLY=("${COMPREPLY[@]#"${word:0:kept}"}")
    fi
    return 0
}

complete -F _drive_agent drive-agent"""

ZSH: Final = r"""_drive_agent_items() {
    local line word="${(Q)PREFIX}"
    local -a files folders before=("${(@Q)words[1,CURRENT-1]}")
    [[ -z "$word" || "$word" == /* ]] || return
    for line in "${(@f)$("$before[1]" completion zsh "$before[@]" "$word" 2> /dev/null < /dev/null)}"; do
        case "$line" in
            "") ;;
            */) folders+=("${${line%/}##*/}/") ;;
            *) files+=("${line##*/}") ;;
        esac
    done
    compset -P '*/'
    compadd -S '' -a folders
    compadd -a files
}

_drive_agent() {
    local at number option
    local -a next
    _drive_agent_walk "${(@Q)words[2,CURRENT-1]}"
    next=(${=$(_drive_agent_next "$PREFIX")})
    compadd -- ${next:#@*}
    (( $next[(I)@files] )) && _files
    (( $next[(I)@items] )) && _drive_agent_items
}

if [[ "$funcstack[1]" == _drive-agent ]]; then
    _drive_agent "$@"
else
    compdef _drive_agent drive-agent
fi"""
