"""Repair dicts of settings that a compiled function gets: texts among them are static."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from sagax._autofix.repairs.boolean_logic import substitute
from sagax._autofix.repairs.case import Candidate, Case, base_name
from sagax._autofix.repairs.dataflow import path_keys, reaching_definitions
from sagax._autofix.repairs.source_file import Source, tuple_text
from sagax._autofix.repairs.transform_options import (
    Application,
    applications,
    listed_constants,
    option_value,
    set_option,
)
from sagax._src.diagnostics.model import Edit


def pass_text_apart(case: Case) -> Iterator[Candidate]:
    """Pass the texts of a dict of settings as static arguments of their own."""
    path = case.facts.data.get("argument", "")
    name, keys = base_name(path), path_keys(path[len(base_name(path)) :])
    if "NotAnArrayError" not in case.facts.classes or len(keys) != 1 or keys[0][0] not in "'\"":
        return
    for jitted in dict.fromkeys(n for n, reason in case.facts.transforms if reason == "jit"):
        for applied in applications(case, jitted):
            if isinstance(applied.function, ast.FunctionDef) and name in applied.parameters:
                edits = _Separation(case, applied, applied.function, name, keys[0]).edits()
                if edits:
                    title = f"pass the texts in `{name}` as static arguments: they are no arrays"
                    yield Candidate("static_entry", title, tuple(edits), 2)
                return


class _Separation:
    """Build the edits that give each text of a dict a parameter of its own."""

    def __init__(
        self, case: Case, applied: Application, function: ast.FunctionDef, name: str, key: str
    ) -> None:
        self.case, self.applied, self.function, self.name = case, applied, function, name
        self.key = ast.literal_eval(key)

    def edits(self) -> list[Edit]:
        function, source = self.function, self.source()
        arguments = function.args
        if source is None or arguments.defaults or arguments.vararg or arguments.kwonlyargs:
            return []
        calls = list(self.case.calls(function))
        keys = self.text_keys(calls)
        names = {key: source.fresh(key, function.body[0]) for key in keys if key.isidentifier()}
        reads = [
            node
            for node in source.nodes(ast.Subscript, function)
            if getattr(node.value, "id", "") == self.name
            and isinstance(node.slice, ast.Constant)
            and node.slice.value in names
        ]
        read = {str(getattr(node.slice, "value", "")) for node in reads}
        if self.key not in read or not calls:
            return []
        names = {key: new for key, new in names.items() if key in read}
        made = [
            source.replace(node, names[str(getattr(node.slice, "value", ""))]) for node in reads
        ]
        last = [*arguments.posonlyargs, *arguments.args][-1]
        end = source.span(last)
        added = ", ".join(names.values())
        made.append(source.insert(end.end_line, end.end_column or 0, f", {added}"))
        listed = listed_constants(option_value(self.applied, "static_argnames"))
        static = [f'"{n}"' for n in [*listed, *names.values()] if isinstance(n, str)]
        made += set_option(self.applied, "static_argnames", tuple_text(static))
        for there, call, passed in calls:
            value = passed.get(self.name)
            if value is None:
                return []
            made.append(there.replace(call, self.call(there, call, value, names, keys)))
        return made

    def source(self) -> Source | None:
        for source in self.case.sources.values():
            if self.function in source.parents:
                return source
        return None

    def text_keys(self, calls: Sequence[tuple[Source, ast.Call, dict[str, ast.expr]]]) -> list[str]:
        """Return the keys of texts in the dicts that are passed, the one at fault first."""
        found = {self.key: None}
        for there, _, passed in calls:
            for definition in reaching_definitions(self.case, there, passed[self.name], ()):
                display = definition.node
                for key, value in (
                    zip(display.keys, display.values, strict=True)
                    if isinstance(display, ast.Dict)
                    else ()
                ):
                    text = isinstance(value, ast.Constant) and isinstance(value.value, str)
                    if text and isinstance(key, ast.Constant):
                        found[key.value] = None
        return list(found)

    def call(
        self,
        source: Source,
        call: ast.Call,
        value: ast.expr,
        names: dict[str, str],
        keys: Sequence[str],
    ) -> str:
        """Return a call with the entries of the dict that are no texts, and those that are read by name."""
        texts = {key: f'{source.primary(value)}["{key}"]' for key in names}
        rest = _without(source, value, keys)
        if isinstance(value, ast.Dict):
            for key, item in zip(value.keys, value.values, strict=True):
                if isinstance(key, ast.Constant) and key.value in names:
                    texts[key.value] = source.code(item)
        text = substitute(source, call, {value: rest})
        given = ", ".join(f"{names[key]}={texts[key]}" for key in names)
        return f"{text[:-1].rstrip().rstrip(',')}, {given})"


def _without(source: Source, value: ast.expr, keys: Sequence[str]) -> str:
    """Return the text of a dict without some of its entries."""
    if isinstance(value, ast.Dict):
        kept = [
            f"{source.code(k)}: {source.code(v)}" if k is not None else f"**{source.code(v)}"
            for k, v in zip(value.keys, value.values, strict=True)
            if getattr(k, "value", None) not in keys
        ]
        return "{" + ", ".join(kept) + "}"
    test = f'k != "{keys[0]}"' if len(keys) == 1 else f"k not in {tuple(keys)!r}".replace("'", '"')
    return f"{{k: v for k, v in {source.primary(value)}.items() if {test}}}"
