"""Write shell completion for the commands: names of commands, their options, files."""

from __future__ import annotations

import argparse

SHELLS = ("bash", "zsh", "fish")

_BASH = """\
_sagax() {{
    local word=${{COMP_WORDS[COMP_CWORD]}} words
    if [ "$COMP_CWORD" -eq 1 ]; then
        words="{commands} {options}"
    else
        case ${{COMP_WORDS[1]}} in
{cases}
        esac
    fi
    COMPREPLY=($(compgen -W "$words" -- "$word"))
    [ "$COMP_CWORD" -gt 1 ] && COMPREPLY+=($(compgen -f -- "$word"))
}}
complete -o filenames -F _sagax sagax
"""


def script(shell: str, parser: argparse.ArgumentParser) -> str:
    """Return what `eval` (or `source`) makes complete `sagax` in a shell."""
    commands = _commands(parser)
    if shell == "fish":
        lines = ["complete -c sagax -f -n __fish_use_subcommand -l version"]
        for name, (text, options) in commands.items():
            lines.append(
                f"complete -c sagax -f -n __fish_use_subcommand -a {name} -d {_quoted(text)}"
            )
            for option, about in options.items():
                seen = f"-n '__fish_seen_subcommand_from {name}'"
                lines.append(f"complete -c sagax {seen} -l {option[2:]} -d {_quoted(about)}")
        return "\n".join(lines) + "\n"
    cases = [
        f'            {name}) words="{" ".join(options)}" ;;'
        for name, (_, options) in commands.items()
    ]
    text = _BASH.format(
        commands=" ".join(commands), options=" ".join(_options(parser)), cases="\n".join(cases)
    )
    return "autoload -U +X bashcompinit && bashcompinit\n" + text if shell == "zsh" else text


def _commands(parser: argparse.ArgumentParser) -> dict[str, tuple[str, dict[str, str]]]:
    """Return the help and the options of each command."""
    found: dict[str, tuple[str, dict[str, str]]] = {}
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            texts = {x.dest: x.help or "" for x in action._choices_actions}
            for name, command in action.choices.items():
                found[name] = texts.get(name, ""), _options(command)
    return found


def _options(parser: argparse.ArgumentParser) -> dict[str, str]:
    """Return the long options of a parser, with their help."""
    return {
        name: action.help or ""
        for action in parser._actions
        for name in action.option_strings
        if name.startswith("--")
    }


def _quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
