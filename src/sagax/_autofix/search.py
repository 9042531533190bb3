"""Search for fixes of a failed run, and try them.

A candidate is tried by running the whole program with it, all checks on. It is verified when that
run is clean and prints what the program prints without transformations; where such a result does
not exist (it fails as well, or is itself the mistake), when that run is clean and the candidate is
the likeliest of its kind. When another mistake shows, the repairs of that one are tried on top.
"""

from __future__ import annotations

import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sagax._autofix.candidates import MOST_SHOWN, read_sources
from sagax._autofix.repairs.case import LAST_RESORT, Candidate, Case, Facts
from sagax._autofix.repairs.locate import completed
from sagax._autofix.repairs.registry import propose
from sagax._autofix.repairs.source_file import Source
from sagax._autofix.run_task import Outcome, Task
from sagax._autofix.subprocess_runs import run, run_all
from sagax._src.diagnostics.edits import apply, between, diff, patched
from sagax._src.diagnostics.model import Diagnostic, Edit, Suggestion, Trust

__all__ = ["Explanation", "agree", "explain"]

_DEPTH = 4
_AT_ONCE = 2
_MOST_TRIALS = 16

# the result of the program as it is, where the mistake is what it costs
_KEEPS_RESULT = {
    "RecompilationWarning", "UnrolledLoopWarning", "DonationWarning", "OutOfBoundsIndexWarning",
    "CapturedConstantWarning",
}  # fmt: skip
# no result to compare with: the one of the program is wrong, and so is that without jit
_NO_RESULT = {"IntegerOverflowWarning", "DtypeTruncationWarning"}


@dataclass(frozen=True)
class Explanation:
    """What `explain` found: the run, the facts, and the diagnostic with repairs that were tried."""

    outcome: Outcome
    facts: Facts | None
    diagnostic: Diagnostic | None


def explain(script: str, arguments: Sequence[str] = (), seconds: float = 8.0) -> Explanation:
    """Run a script with all checks on; explain what is found and try repairs for some seconds."""
    task = Task(script, tuple(arguments), watch=True)
    outcome = run(task, 24 * 3600.0, show=True)
    facts = outcome.found
    if facts is None:
        return Explanation(outcome, None, None)
    sources = read_sources(outcome.files)
    facts = completed(facts, sources)
    search = _Search(task, outcome, sources, facts, seconds)
    found = search.run()
    diagnostic = replace(facts.diagnostic, suggestions=found or _advice(facts.diagnostic))
    return Explanation(outcome, facts, diagnostic)


def _advice(diagnostic: Diagnostic) -> tuple[Suggestion, ...]:
    return tuple(s for s in diagnostic.suggestions if not s.edits)


@dataclass(frozen=True)
class _State:
    """The program after some edits, and what happened when it ran."""

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
        self.plain: Outcome | None = None
        self.verified: list[Suggestion] = []
        self.clean: list[Suggestion] = []
        self.last: list[Suggestion] = []  # verified, but only to be had if nothing else is
        self.untried: list[Suggestion] = []

    def run(self) -> tuple[Suggestion, ...]:
        start = _State({}, ())
        candidates = self.candidates(start, self.facts)
        queue: list[tuple[_State, Facts]] = []
        self.level(start, self.facts, candidates, queue)
        depth = 1
        while queue and not self.done and depth < _DEPTH and self.time_left():
            pending, queue = queue, []
            for state, facts in pending[:3]:
                self.level(state, facts, self.candidates(state, facts), queue)
                if self.done or not self.time_left():
                    break
            depth += 1
        if not self.verified and self.clean:
            # nothing to compare with: the likeliest stands for what is meant, or the only one
            alone = len(self.clean) == 1 and not self.untried
            best = self.clean[0]
            if best.trust is Trust.VERIFIED or alone:
                self.verified.append(replace(best, trust=Trust.VERIFIED))
                self.clean = self.clean[1:]
            self.clean = [replace(s, trust=Trust.PLAUSIBLE) for s in self.clean]
        shown = [*self.verified, *self.clean] or self.last
        if not shown:
            shown = self.untried
        # of several that say the same, the first
        shown = list({s.title: s for s in reversed(shown)}.values())[::-1]
        return tuple(shown[:MOST_SHOWN])

    @property
    def done(self) -> bool:
        """Whether there is something to show, so that no repairs are put on top of others."""
        return bool(self.verified or self.clean)

    @property
    def settled(self) -> bool:
        """Whether further candidates would change nothing."""
        return bool(self.verified) or any(s.trust is Trust.VERIFIED for s in self.clean)

    def time_left(self) -> bool:
        return self.trials < _MOST_TRIALS and time.monotonic() < self.until

    # -- candidates -----------------------------------------------------------------------------

    def candidates(self, state: _State, facts: Facts) -> list[Candidate]:
        sources = self.sources
        if state.texts:
            sources = read_sources(list(self.sources), state.texts)
            facts = completed(facts, sources)
        case = Case(facts, sources)
        found = propose(case)
        if case.requests:
            task = replace(
                self.task,
                changed=dict(state.texts),
                watch=False,
                plainly=True,
                measure=tuple(dict.fromkeys(case.requests)),
            )
            outcome = run(task, self.timeout)
            if not state.texts:
                self.plain = outcome
            found = propose(Case(facts, sources, outcome.measured))
        return found

    def level(
        self,
        state: _State,
        facts: Facts,
        candidates: Sequence[Candidate],
        queue: list[tuple[_State, Facts]],
    ) -> None:
        """Try candidates, the likeliest first, until one is verified."""
        todo = list(candidates)
        while todo and self.time_left() and not self.settled:
            batch, todo = todo[:_AT_ONCE], todo[_AT_ONCE:]
            states = [s for c in batch if (s := self.changed(state, c)) is not None]
            tasks = [replace(self.task, changed=s.texts, watch=True) for s in states]
            plainly = self.plain is None and self.wants_plain()
            if plainly:
                tasks.append(replace(self.task, watch=False, plainly=True))
            outcomes = run_all(tasks, self.timeout)
            if plainly:
                self.plain = outcomes.pop()
            self.trials += len(states)
            for after, outcome in zip(states, outcomes, strict=True):
                self.judge(after, outcome, facts, queue)
        if not state.steps:
            for candidate in todo:
                after = self.changed(state, candidate)
                if after is not None:
                    self.untried.append(self.suggestion(after, Trust.PLAUSIBLE, ""))

    def changed(self, state: _State, candidate: Candidate) -> _State | None:
        """The state after one more candidate; None if it makes no program."""
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
        return _State(texts, (*state.steps, candidate))

    # -- verdicts -------------------------------------------------------------------------------

    def wants_plain(self) -> bool:
        name = self.facts.diagnostic.error
        return name not in _KEEPS_RESULT and name not in _NO_RESULT

    def reference(self) -> tuple[Outcome, str] | None:
        """The run whose result is the right one, and what to call it."""
        name = self.facts.diagnostic.error
        if name in _KEEPS_RESULT or name == "NaNGradientWarning":
            return self.outcome, "the program before"
        if name in _NO_RESULT or self.plain is None or not self.plain.clean:
            return None
        return self.plain, "the program without jit"

    def judge(
        self,
        state: _State,
        outcome: Outcome,
        facts: Facts,
        queue: list[tuple[_State, Facts]],
    ) -> None:
        found = outcome.found
        if found is not None:
            if not _same_mistake(found, facts) and len(state.steps) < _DEPTH:
                sources = read_sources(outcome.files, state.texts)
                queue.append((state, completed(found, sources)))
            return
        if not outcome.clean:
            return
        reference = self.reference()
        wildcard = self.facts.diagnostic.error == "NaNGradientWarning"
        agrees = reference is not None and agree(reference[0], outcome, wildcard)
        spoilt = reference is not None and (
            reference[0].derivatives_lost or (wildcard and _holds_nan(reference[0]))
        )
        if reference is None or (not agrees and spoilt):
            trust = Trust.VERIFIED if state.certain else Trust.PLAUSIBLE
            checked = "ran the changed program with all checks on: no error"
            found_here = self.last if state.steps[0].rank >= LAST_RESORT else self.clean
            found_here.append(self.suggestion(state, trust, checked))
            return
        if agrees:
            checked = f"ran the changed program: clean, and the same result as {reference[1]}"
            found_here = self.last if state.steps[0].rank >= LAST_RESORT else self.verified
            found_here.append(self.suggestion(state, Trust.VERIFIED, checked))

    def suggestion(self, state: _State, trust: Trust, checked: str) -> Suggestion:
        title = "; then ".join(dict.fromkeys(step.title for step in state.steps))
        edits = state.steps[0].edits if len(state.steps) == 1 else self.lines(state)
        if not self.says(state, edits):
            edits = self.lines(state)
            if not self.says(state, edits):  # what is shown is not what was tried
                trust, checked = Trust.PLAUSIBLE, ""
        return Suggestion(state.steps[0].kind, title, edits, trust, checked)

    def lines(self, state: _State) -> tuple[Edit, ...]:
        """The edits of whole lines from the program to a state."""
        found: list[Edit] = []
        for file, text in state.texts.items():
            found += between(file, self.sources[file].text, text)
        return tuple(found)

    def says(self, state: _State, edits: Sequence[Edit]) -> bool:
        """Whether the diff that is shown makes of each file what was run."""
        for file, text in state.texts.items():
            changes = diff([e for e in edits if e.span.file == file])
            if patched(self.sources[file].text, changes) != text:
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


def agree(wanted: Outcome, got: Outcome, wildcard: bool = False) -> bool:
    """Whether two runs have the same result: what they print, or else the variables they leave.

    Numbers may differ by rounding. With `wildcard`, a nan in the wanted result may be anything.
    """
    if wanted.output.strip() or got.output.strip():
        return _same_text(wanted.output, got.output, wildcard)
    names = set(wanted.results) & set(got.results)
    return all(_same_value(wanted.results[n], got.results[n], wildcard) for n in names)


def _holds_nan(outcome: Outcome) -> bool:
    """Whether a run printed nan: what it printed besides may come from one."""
    return re.search(r"\bnan\b", outcome.output) is not None


def _same_text(wanted: str, got: str, wildcard: bool) -> bool:
    def words(text: str) -> str:
        return re.sub(r"\s+", "", _NUMBER.sub("#", text))

    if words(wanted) != words(got):
        return False
    pairs = zip(_NUMBER.findall(wanted), _NUMBER.findall(got), strict=False)
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
