"""Search for fixes of a failed run, and try them.

Trying a candidate runs the whole edited script, with all checks on. The candidate is verified if that
run is clean and prints what the script prints without transformations. The untransformed run may fail,
or be itself the mistake. Then the likeliest candidate with a clean run is verified. If a run shows
another mistake, its repairs are tried on top.
"""

from __future__ import annotations

import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sagax._autofix.candidates import MAX_SHOWN, read_sources
from sagax._autofix.repairs.case import LAST_RESORT_RANK, Candidate, Case, Facts
from sagax._autofix.repairs.locate import complete_facts
from sagax._autofix.repairs.registry import propose
from sagax._autofix.repairs.source_file import Source
from sagax._autofix.run_task import Outcome, Task
from sagax._autofix.subprocess_runs import run, run_all
from sagax._src.diagnostics.edits import apply, diff, line_edits, patch
from sagax._src.diagnostics.model import Diagnostic, Edit, Suggestion, Trust

_MAX_EDITS = 4
_PARALLEL_RUNS = 2
_MAX_TRIALS = 16

# the result is right: the mistake is in the cost
_SAME_RESULT_WARNINGS = {
    "RecompilationWarning", "UnrolledLoopWarning", "DonationWarning", "OutOfBoundsIndexWarning",
    "CapturedConstantWarning",
}  # fmt: skip
# no result to compare with: the script is wrong with and without jit
_WRONG_RESULT_WARNINGS = {"IntegerOverflowWarning", "DtypeTruncationWarning"}


@dataclass(frozen=True)
class Explanation:
    """Hold the result of `explain`: the run, the facts, and the diagnostic with tried repairs."""

    outcome: Outcome
    facts: Facts | None
    diagnostic: Diagnostic | None


def explain(script: str, arguments: Sequence[str] = (), seconds: float = 8.0) -> Explanation:
    """Run a script with all checks on, explain what is found, and try repairs."""
    task = Task(script, tuple(arguments), watch=True)
    outcome = run(task, 24 * 3600.0, show=True)
    facts = outcome.found
    if facts is None:
        return Explanation(outcome, None, None)
    sources = read_sources(outcome.files)
    facts = complete_facts(facts, sources)
    search = _Search(task, outcome, sources, facts, seconds)
    found = search.run()
    diagnostic = replace(
        facts.diagnostic, suggestions=found or _textual_suggestions(facts.diagnostic)
    )
    return Explanation(outcome, facts, diagnostic)


def _textual_suggestions(diagnostic: Diagnostic) -> tuple[Suggestion, ...]:
    return tuple(s for s in diagnostic.suggestions if not s.edits)


@dataclass(frozen=True)
class _Attempt:
    """Hold the script after some edits."""

    texts: Mapping[str, str]
    steps: tuple[Candidate, ...]

    @property
    def certain(self) -> bool:
        return all(c.certain for c in self.steps)


class _Search:
    def __init__(
        self,
        task: Task,
        outcome: Outcome,
        sources: dict[str, Source],
        facts: Facts,
        seconds: float,
    ) -> None:
        self.task, self.outcome, self.sources, self.facts = task, outcome, sources, facts
        self.until = time.monotonic() + max(seconds, 4 * outcome.seconds)
        self.timeout = 10.0 + 5 * outcome.seconds
        self.trials = 0
        self.untransformed: Outcome | None = None
        self.verified: list[Suggestion] = []
        self.clean: list[Suggestion] = []
        self.last_resort: list[Suggestion] = []  # verified, but shown only if nothing else is
        self.untried: list[Suggestion] = []

    def run(self) -> tuple[Suggestion, ...]:
        start = _Attempt({}, ())
        candidates = self.candidates(start, self.facts)
        queue: list[tuple[_Attempt, Facts]] = []
        self.level(start, self.facts, candidates, queue)
        depth = 1
        while queue and not self.done and depth < _MAX_EDITS and self.time_left():
            pending, queue = queue, []
            for state, facts in pending[:3]:
                self.level(state, facts, self.candidates(state, facts), queue)
                if self.done or not self.time_left():
                    break
            depth += 1
        if not self.verified and self.clean:
            # no reference result: take the likeliest as meant, or the only one
            alone = len(self.clean) == 1 and not self.untried
            best = self.clean[0]
            if best.trust is Trust.VERIFIED or alone:
                self.verified.append(replace(best, trust=Trust.VERIFIED))
                self.clean = self.clean[1:]
            self.clean = [replace(s, trust=Trust.PLAUSIBLE) for s in self.clean]
        shown = [*self.verified, *self.clean] or self.last_resort or self.untried
        # the first of each title
        shown = list({s.title: s for s in reversed(shown)}.values())[::-1]
        return tuple(shown[:MAX_SHOWN])

    @property
    def done(self) -> bool:
        """Return whether there is something to show, so that no edits are added to others."""
        return bool(self.verified or self.clean)

    @property
    def settled(self) -> bool:
        """Return whether further candidates would change nothing."""
        return bool(self.verified) or any(s.trust is Trust.VERIFIED for s in self.clean)

    def time_left(self) -> bool:
        return self.trials < _MAX_TRIALS and time.monotonic() < self.until

    # -- candidates -----------------------------------------------------------------------------

    def candidates(self, state: _Attempt, facts: Facts) -> list[Candidate]:
        sources = self.sources
        if state.texts:
            sources = read_sources(list(self.sources), state.texts)
            facts = complete_facts(facts, sources)
        case = Case(facts, sources)
        found = propose(case)
        if case.requests:
            task = replace(
                self.task,
                changed=dict(state.texts),
                watch=False,
                untransformed=True,
                measure=tuple(dict.fromkeys(case.requests)),
            )
            outcome = run(task, self.timeout)
            if not state.texts:
                self.untransformed = outcome
            found = propose(Case(facts, sources, outcome.measured))
        return found

    def level(
        self,
        state: _Attempt,
        facts: Facts,
        candidates: Sequence[Candidate],
        queue: list[tuple[_Attempt, Facts]],
    ) -> None:
        """Try candidates, the likeliest first, until one is verified."""
        todo = list(candidates)
        while todo and self.time_left() and not self.settled:
            batch, todo = todo[:_PARALLEL_RUNS], todo[_PARALLEL_RUNS:]
            states = [s for c in batch if (s := self.changed(state, c)) is not None]
            tasks = [replace(self.task, changed=s.texts, watch=True) for s in states]
            compare = self.untransformed is None and self.needs_untransformed()
            if compare:
                tasks.append(replace(self.task, watch=False, untransformed=True))
            outcomes = run_all(tasks, self.timeout)
            if compare:
                self.untransformed = outcomes.pop()
            self.trials += len(states)
            for after, outcome in zip(states, outcomes, strict=True):
                self.judge(after, outcome, facts, queue)
        if not state.steps:
            for candidate in todo:
                after = self.changed(state, candidate)
                if after is not None:
                    self.untried.append(self.suggestion(after, Trust.PLAUSIBLE, ""))

    def changed(self, state: _Attempt, candidate: Candidate) -> _Attempt | None:
        """Return the state after one more candidate; None if it does not compile."""
        texts = dict(state.texts)
        by_file: dict[str, list[Edit]] = {}
        for edit in candidate.edits:
            by_file.setdefault(edit.span.file, []).append(edit)
        for file, edits in by_file.items():
            text = texts.get(file, self.sources[file].text)
            try:
                texts[file] = apply(text, edits)
                compile(texts[file], file, "exec")
            except (SyntaxError, ValueError, IndexError):
                return None
        return _Attempt(texts, (*state.steps, candidate))

    # -- verdicts -------------------------------------------------------------------------------

    def needs_untransformed(self) -> bool:
        name = self.facts.diagnostic.error
        return name not in _SAME_RESULT_WARNINGS and name not in _WRONG_RESULT_WARNINGS

    def reference(self) -> tuple[Outcome, str] | None:
        """Return the run with the reference result, and its description."""
        name = self.facts.diagnostic.error
        if name in _SAME_RESULT_WARNINGS or name == "NaNGradientWarning":
            return self.outcome, "the program before"
        run = self.untransformed
        if name in _WRONG_RESULT_WARNINGS or run is None or not run.clean:
            return None
        return run, "the program without jit"

    def judge(
        self,
        state: _Attempt,
        outcome: Outcome,
        facts: Facts,
        queue: list[tuple[_Attempt, Facts]],
    ) -> None:
        found = outcome.found
        if found is not None:
            if not _same_mistake(found, facts) and len(state.steps) < _MAX_EDITS:
                sources = read_sources(outcome.files, state.texts)
                queue.append((state, complete_facts(found, sources)))
            return
        if not outcome.clean:
            return
        reference = self.reference()
        wildcard = self.facts.diagnostic.error == "NaNGradientWarning"
        agrees = reference is not None and same_result(reference[0], outcome, wildcard)
        unreliable = reference is not None and (
            reference[0].derivatives_lost or (wildcard and _contains_nan(reference[0]))
        )
        is_last_resort = state.steps[0].rank >= LAST_RESORT_RANK
        if reference is None or (not agrees and unreliable):
            trust = Trust.VERIFIED if state.certain else Trust.PLAUSIBLE
            checked = "ran the changed program with all checks on: no error"
            found_here = self.last_resort if is_last_resort else self.clean
            found_here.append(self.suggestion(state, trust, checked))
        elif agrees:
            checked = f"ran the changed program: clean, and the same result as {reference[1]}"
            found_here = self.last_resort if is_last_resort else self.verified
            found_here.append(self.suggestion(state, Trust.VERIFIED, checked))

    def suggestion(self, state: _Attempt, trust: Trust, checked: str) -> Suggestion:
        title = "; then ".join(dict.fromkeys(step.title for step in state.steps))
        edits = state.steps[0].edits if len(state.steps) == 1 else self.lines(state)
        if not self.reproduces(state, edits):
            edits = self.lines(state)
            if not self.reproduces(state, edits):  # the shown diff is not what was tried
                trust, checked = Trust.PLAUSIBLE, ""
        return Suggestion(state.steps[0].kind, title, edits, trust, checked)

    def lines(self, state: _Attempt) -> tuple[Edit, ...]:
        """Return the edits of whole lines that lead from the script to a state."""
        found: list[Edit] = []
        for file, text in state.texts.items():
            found += line_edits(file, self.sources[file].text, text)
        return tuple(found)

    def reproduces(self, state: _Attempt, edits: Sequence[Edit]) -> bool:
        """Return whether the shown diff turns each file into what was run."""
        for file, text in state.texts.items():
            changes = diff([e for e in edits if e.span.file == file])
            if patch(self.sources[file].text, changes) != text:
                return False
        return True


def _same_mistake(one: Facts, other: Facts) -> bool:
    a, b = one.diagnostic, other.diagnostic
    texts = [d.primary.text if d.primary is not None else "" for d in (a, b)]
    starts = [(d.primary.line, d.primary.column) if d.primary is not None else None for d in (a, b)]
    return (
        (a.error, a.message) == (b.error, b.message)
        and texts[0] == texts[1]
        and starts[0] == starts[1]
    )


# --- results -----------------------------------------------------------------------------------

_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*(?:[eE][-+]?\d+)?|\binf\b|\bnan\b)")


def same_result(wanted: Outcome, got: Outcome, wildcard: bool = False) -> bool:
    """Return whether two runs print the same, or else leave the same variables.

    Numbers may differ by rounding. With `wildcard`, a nan in the wanted result matches any number.
    """
    if wanted.output.strip() or got.output.strip():
        return _same_text(wanted.output, got.output, wildcard)
    names = set(wanted.results) & set(got.results)
    return all(_same_value(wanted.results[n], got.results[n], wildcard) for n in names)


def _contains_nan(outcome: Outcome) -> bool:
    """Return whether a run printed nan, which its other output may depend on."""
    return re.search(r"\bnan\b", outcome.output) is not None


def _same_text(expected: str, got: str, wildcard: bool) -> bool:
    def normalize(text: str) -> str:
        return re.sub(r"\s+", "", _NUMBER.sub("#", text))

    if normalize(expected) != normalize(got):
        return False
    pairs = zip(_NUMBER.findall(expected), _NUMBER.findall(got), strict=False)
    return all(_close(float(a), float(b), wildcard) for a, b in pairs)


def _close(a: float, b: float, wildcard: bool) -> bool:
    if a != a:
        return wildcard and b == b or (not wildcard and b != b)
    return a == b or abs(a - b) <= 2e-4 + 1e-3 * abs(a)


def _same_value(a: Any, b: Any, wildcard: bool) -> bool:
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(
            _same_value(x, y, wildcard) for x, y in zip(a, b, strict=True)
        )
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(_same_value(a[k], b[k], wildcard) for k in a)
    if isinstance(a, (int, float)) and isinstance(b, (int, float)):
        return _close(float(a), float(b), wildcard)
    if isinstance(a, (int, float, complex)) and isinstance(b, (int, float, complex)):
        return abs(a - b) <= 2e-4 + 1e-3 * abs(a)
    return bool(a == b)
