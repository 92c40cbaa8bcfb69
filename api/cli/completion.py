"""`drive-agent completion`: what a shell needs to complete commands, options and their values.

The script is made from the parsers themselves, so that it always knows what they know.
"""

from __future__ import annotations

import re
from argparse import REMAINDER, Action
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from api.cli.arguments import build_parser
from api.cli.help import translated

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Iterator

    from api.cli.parser import Parser

PROGRAM: Final = "drive-agent"
LOCAL_FILES: Final = frozenset({"DIR", "FILE", "TARGET"})
"""The names of arguments that are files of this computer."""


@dataclass(slots=True)
class Command:
    """A command as shells complete it. `path` are the words that lead to it; `values` belong to an option each."""

    path: tuple[str, ...]
    subcommands: dict[str, str] = field(default_factory=dict[str, str])
    options: dict[str, str] = field(default_factory=dict[str, str])
    values: dict[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    takes_files: bool = False

    @property
    def key(self) -> str:
        """The words that lead to it, as one."""
        return " ".join(self.path)

    @property
    def words(self) -> str:
        """What may come next."""
        return " ".join([*self.subcommands, *self.options])


def completion(arguments: Namespace) -> int:
    """Print the script for a shell."""
    commands = [*commands_of(build_parser(), ())]
    scripts = {"bash": bash_script, "zsh": zsh_script, "fish": fish_script}
    print(scripts[arguments.shell](commands))  # noqa: T201 - the output a shell reads
    return 0


def commands_of(parser: Parser, path: tuple[str, ...]) -> Iterator[Command]:
    """Yield the command of a parser, and those below it."""
    command = Command(path)
    below: dict[str, Parser] = {}
    for action in parser.actions:
        if isinstance(action.choices, dict):
            below = action.choices
            helps = {choice.dest: translated(choice.help or "") for choice in _choices_of(action)}
            command.subcommands = {name: helps.get(name, "") for name in below}
        else:
            _add(command, action)
    yield command
    for name, parser_below in below.items():
        yield from commands_of(parser_below, (*path, name))


def _add(command: Command, action: Action) -> None:
    summary = re.sub(r"\s+", " ", translated(action.help or "") % {"default": action.default, "prog": PROGRAM})
    values = tuple(map(str, action.choices or ()))
    for option in action.option_strings:
        command.options[option] = summary
        if action.nargs != 0 and action.nargs != REMAINDER:
            command.values[option] = values
    if not action.option_strings and action.metavar in LOCAL_FILES:
        command.takes_files = True
    elif not action.option_strings:
        command.subcommands.update(dict.fromkeys(values, ""))


def _choices_of(action: Action) -> list[Action]:
    return getattr(action, "_choices_actions", [])


def bash_script(commands: list[Command]) -> str:
    """Return the script for bash (4 or newer, also without bash-completion)."""
    words = "\n".join(f"        '{command.key}') echo '{command.words}' ;;" for command in commands)
    values = "\n".join(
        f"        '{command.key}:{option}') echo '{' '.join(found) or FILES_MARK}' ;;"
        for command in commands
        for option, found in command.values.items()
    )
    files = "|".join(f"'{command.key}'" for command in commands if command.takes_files)
    return BASH.format(words=words, values=values, files=files)


def zsh_script(commands: list[Command]) -> str:
    """Return the script for zsh: the one for bash, which zsh itself can run."""
    return f"#compdef {PROGRAM}\nautoload -U +X bashcompinit && bashcompinit\n{bash_script(commands)}"


def fish_script(commands: list[Command]) -> str:
    """Return the script for fish."""
    paths = " ".join(f"'{command.key}'" for command in commands if command.path)
    lines = [f"complete -c {PROGRAM} -e", f"complete -c {PROGRAM} -f", f"set -g __drive_agent_paths {paths}", FISH]
    for command in commands:
        condition = f"-n '__drive_agent_at \"{command.key}\"'"
        for name, summary in command.subcommands.items():
            lines.append(f"complete -c {PROGRAM} {condition} -a {name}{_described(summary)}")
        if command.takes_files:
            lines.append(f"complete -c {PROGRAM} {condition} -F")
        for option, summary in command.options.items():
            lines.append(f"complete -c {PROGRAM} {condition} {_fish_option(command, option)}{_described(summary)}")
    return "\n".join(lines)


def _fish_option(command: Command, option: str) -> str:
    named = f"-l {option[2:]}" if option.startswith("--") else f"-s {option[1:]}"
    if option not in command.values:
        return named
    values = command.values[option]
    return f"{named} -x -a '{' '.join(values)}'" if values else f"{named} -r -F"


def _described(summary: str) -> str:
    escaped = summary.replace("\\", "\\\\").replace("'", "\\'")
    return f" -d '{escaped}'" if summary else ""


FILES_MARK: Final = "@files"

BASH: Final = """\
_drive_agent_words() {{
    case "$1" in
{words}
        *) return 1 ;;
    esac
}}

_drive_agent_values() {{
    case "$1" in
{values}
        *) return 1 ;;
    esac
}}

_drive_agent_files() {{
    local IFS=$'\n'
    COMPREPLY+=($(compgen -f -- "$1"))
}}

_drive_agent() {{
    local current="${{COMP_WORDS[COMP_CWORD]}}" previous="${{COMP_WORDS[COMP_CWORD-1]}}" path="" word values i
    for ((i = 1; i < COMP_CWORD; i++)); do
        word="${{COMP_WORDS[i]}}"
        [[ "$word" == -* ]] && continue
        _drive_agent_words "${{path:+$path }}$word" > /dev/null && path="${{path:+$path }}$word"
    done
    COMPREPLY=()
    if [[ "$previous" == -* ]] && values="$(_drive_agent_values "$path:$previous")"; then
        if [[ "$values" == @files ]]; then
            _drive_agent_files "$current"
        else
            COMPREPLY=($(compgen -W "$values" -- "$current"))
        fi
        return
    fi
    COMPREPLY=($(compgen -W "$(_drive_agent_words "$path")" -- "$current"))
    case "$path" in
        {files}) _drive_agent_files "$current" ;;
    esac
}}

complete -o filenames -F _drive_agent drive-agent"""

FISH: Final = """\
function __drive_agent_at
    set -l path
    for word in (commandline -opc)[2..-1]
        string match -q -- '-*' $word; and continue
        set -l next (string join ' ' $path $word)
        contains -- "$next" $__drive_agent_paths; and set path $path $word
    end
    set -l joined (string join ' ' $path)
    test "$joined" = "$argv[1]"
end"""
