"""The script for fish."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from api.cli.completion.grammar import FILES, ITEMS, PROGRAM

if TYPE_CHECKING:
    from collections.abc import Iterator

    from api.cli.completion.grammar import Argument, Command

COMPLETE: Final = f"complete -c {PROGRAM}"
KINDS: Final = {FILES: "-F", ITEMS: "-a '(__drive_agent_items)'"}
ANY_PLACE: Final = 999


def fish_script(commands: list[Command]) -> str:
    """Return the script for fish."""
    paths = " ".join(f"'{command.key}'" for command in commands if command.path)
    valued = " ".join(f"'{command.key}:{option}'" for command in commands for option in command.values)
    return "\n".join(
        [
            f"{COMPLETE} -e",
            f"{COMPLETE} -f",
            f"set -g __drive_agent_paths {paths}",
            f"set -g __drive_agent_valued {valued}",
            FISH,
            *(line for command in commands for line in _lines_of(command)),
        ]
    )


def _lines_of(command: Command) -> Iterator[str]:
    condition = f"-n '__drive_agent_at \"{command.key}\"'"
    for name, summary in command.subcommands.items():
        yield f"{COMPLETE} {condition} -a {name}{_described(summary)}"
    for argument in command.arguments:
        for kind in argument.kinds:
            yield f"{COMPLETE} -n '__drive_agent_at \"{command.key}\" {_places(argument)}' {KINDS[kind]}"
    for option, summary in command.options.items():
        yield f"{COMPLETE} {condition} {_option(command, option)}{_described(summary)}"


def _places(argument: Argument) -> str:
    return f"{argument.place} {ANY_PLACE if argument.is_last else argument.place}"


def _option(command: Command, option: str) -> str:
    named = f"-l {option[2:]}" if option.startswith("--") else f"-s {option[1:]}"
    if option not in command.values:
        return named
    values = command.values[option]
    if values == (FILES,):
        return f"{named} -r -F"
    return f"{named} -x {KINDS[ITEMS]}" if values == (ITEMS,) else f"{named} -x -a '{' '.join(values)}'"


def _described(summary: str) -> str:
    escaped = summary.replace("\\", "\\\\").replace("'", "\\'")
    return f" -d '{escaped}'" if summary else ""


FISH: Final = """\
# Says whether the words before the cursor lead to this command, with so many arguments: from one number to another.
function __drive_agent_at
    set -l at
    set -l number 0
    set -l needs_value false
    for word in (commandline -opc)[2..-1]
        if test $needs_value = true
            set needs_value false
        else if string match -q -- '-?*' $word
            contains -- "$at:$word" $__drive_agent_valued; and set needs_value true
        else if contains -- (string join ' ' $at $word) $__drive_agent_paths
            set at $at $word
            set number 0
        else
            set number (math $number + 1)
        end
    end
    test "$at" = "$argv[1]"; or return
    set -q argv[2]; or return 0
    test $number -ge $argv[2] -a $number -le $argv[3]
end

function __drive_agent_items
    set -l words (commandline -opc)
    set -l typed (commandline -ct)
    set -l word
    for quote in '' "'" '"'
        set word (string unescape -- "$typed$quote"); and break
    end
    test -z "$word"; or string match -q -- '/*' "$word"; or return
    $words[1] completion fish $words "$word" 2>/dev/null </dev/null
end"""
