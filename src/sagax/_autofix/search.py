"""Search for fixes of a failed run, and try them.

Trying a candidate runs the whole edited script, with all checks on. `proof` then compares a candidate
whose run is clean with the original script. If a run shows another mistake, its repairs are tried on
top.
"""

from __future__ import annotations

import enum
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import sagax._autofix.repairs.small_edits as small_edits
import sagax._autofix.sandbox as sandbox
from sagax._autofix.candidates import MAX_SHOWN, read_sources, suggest_fixes
from sagax._autofix.compare import different_names, same_result
from sagax._autofix.notebooks import notebook_text
from sagax._autofix.other_findings import other_findings
from sagax._autofix.proof import Proof, Reference, prove, rounded_names
from sagax._autofix.repairs.case import LAST_RESORT_RANK, Candidate, Case, Facts
from sagax._autofix.repairs.locate import complete_facts
from sagax._autofix.repairs.registry import propose, propose_general
from sagax._autofix.repairs.source_file import Source
from sagax._autofix.run_task import Outcome, Task
from sagax._autofix.subprocess_runs import run, run_all, sandboxed_folders
from sagax._src.diagnostics.edits import apply, diff, line_edits, patch
from sagax._src.diagnostics.model import Diagnostic, Edit, Suggestion, Trust

_MAX_EDITS = 4
_PARALLEL_RUNS = 2
_MAX_TRIALS = 16
_MAX_PROOFS = 4

# the result is right: the mistake is in the cost
_SAME_RESULT_WARNINGS = {
    "AsyncTimingWarning", "CapturedConstantWarning", "DonationWarning", "HostSyncWarning",
    "RecompilationWarning", "UnrolledLoopWarning",
}  # fmt: skip
# no result to compare with: the script is wrong with and without jit
_WRONG_RESULT_WARNINGS = {
    "IntegerOverflowWarning",
    "DtypeTruncationWarning",
    "PrecisionLossWarning",
}
# the result is the mistake
_MISTAKEN_RESULT_WARNINGS = {
    "BroadcastWarning", "LostUpdateWarning", "OutOfBoundsIndexWarning", "ZeroGradientWarning",
}  # fmt: skip
# repairs that change types, so that other inputs may rightly give other results
_TYPE_CHANGES = {"match_dtype", "match_shape", "wider_dtype"}
# repairs whose results rightly differ from those of any run of the original, as other draws do
_OTHER_RESULTS = {
    "float_dtype", "fresh_default", "guard_softmax", "one_element", "pass_key", "smooth",
}  # fmt: skip
# repairs that give sizes which are right for these data
_SIZES = {"bounded_loop", "initial_value", "one_element", "preallocate", "size_arg"}


@dataclass(frozen=True)
class Explanation:
    """Hold the result of `explain`: the run, the facts, and the diagnostic with tried repairs."""

    outcome: Outcome
    facts: Facts | None
    diagnostic: Diagnostic | None
    texts: Mapping[str, str] = field(default_factory=dict[str, str])  # that repairs were tried on
    not_tried: str = ""  # the reason why repairs were not tried


class Trials(enum.Enum):
    """Say whether the script may run again, to try repairs."""

    NONE = "none"
    HARMLESS = "harmless"  # unless it writes files, uses the network or starts processes
    SANDBOXED = "sandboxed"  # in a view of the folders that forgets what is written
    ALL = "all"


def explain(
    script: str,
    arguments: Sequence[str] = (),
    seconds: float = 8.0,
    trials: Trials = Trials.HARMLESS,
) -> Explanation:
    """Run a script or a notebook with all checks on, explain what is found, and try repairs."""
    task = Task(script, tuple(arguments), watch=True, changed=notebook_text(script))
    outcome = run(task, 24 * 3600.0, show=True)
    facts = outcome.found
    if facts is None:
        return Explanation(outcome, None, None)
    sources = read_sources(outcome.files, task.changed)
    facts = complete_facts(facts, sources)
    texts = {file: source.text for file, source in sources.items()}
    not_tried = ""
    if trials is Trials.NONE:
        not_tried = "each try runs the script again, which --once excludes"
    elif trials is Trials.SANDBOXED:
        reason = sandbox.reason_against(sandboxed_folders(script))
        if reason:
            not_tried = f"each try runs the script again, and there is no sandbox ({reason})"
        task = replace(task, sandbox=True)
    elif trials is Trials.HARMLESS and outcome.effects:
        not_tried = "each try runs the script again, and it " + "; ".join(outcome.effects[:4])
    if not_tried:
        found = suggest_fixes(facts, sources)
    else:
        found = _Search(task, outcome, sources, facts, seconds).run()
    diagnostic = replace(
        facts.diagnostic, suggestions=found or _textual_suggestions(facts.diagnostic)
    )
    return Explanation(outcome, facts, diagnostic, texts, not_tried)


def _textual_suggestions(diagnostic: Diagnostic) -> tuple[Suggestion, ...]:
    return tuple(s for s in diagnostic.suggestions if not s.edits)


@dataclass(frozen=True)
class _Attempt:
    """Hold the script after some edits."""

    texts: Mapping[str, str]
    steps: tuple[Candidate, ...]
    trimmed: bool = False  # without edits of the steps that are not needed

    @property
    def allows(self) -> bool:
        """Return whether a step removes the alarm and leaves the fault."""
        return any(c.allows for c in self.steps)

    @property
    def assumes(self) -> bool:
        """Return whether a step is one of several readings of the script, or hides what one before broke."""
        lines = [{(e.span.file, e.span.line) for e in c.edits} for c in self.steps]
        same_line = any(a & b for i, a in enumerate(lines) for b in lines[:i])
        patched = same_line or any(c.kind == small_edits.KIND for c in self.steps[1:])
        return patched or any(c.assumes for c in self.steps)

    @property
    def dropped(self) -> tuple[str, ...]:
        """Return the variables that the steps no longer fill."""
        return tuple(name for c in self.steps for name in c.dropped)


class _Ran(NamedTuple):
    """Hold a fix whose run is clean, which is not proven."""

    suggestion: Suggestion
    outcome: Outcome
    assumes: bool


_Queue = list[tuple[_Attempt, Facts]]
_Candidates = Callable[[_Attempt, Facts], list[Candidate]]


class _Search:
    def __init__(
        self,
        task: Task,
        outcome: Outcome,
        sources: dict[str, Source],
        facts: Facts,
        seconds: float,
    ) -> None:
        self.task = replace(task, trial=True, stdin=outcome.stdin)
        self.outcome, self.sources, self.facts = outcome, sources, facts
        self.seconds = max(seconds, 4 * outcome.seconds)
        self.until = time.monotonic() + self.seconds
        self.timeout = 10.0 + 5 * outcome.seconds
        self.trials = 0
        self.untransformed: Outcome | None = None
        self.assumed: tuple[str, ...] | None = None  # None: not tried
        self.proofs = 0
        self.tried: set[tuple[tuple[str, str], ...]] = set()
        self.proven: list[Suggestion] = []
        self.ran: list[_Ran] = []
        self.partial: list[Suggestion] = []  # which leave the same mistake elsewhere
        self.cut_short = False  # whether a fix of the kind that runs was not tried
        self.explored: list[_Attempt] = []  # whose candidates of known errors were tried
        self.rivals: list[Outcome] = []  # of small edits that are unlikely
        self.last_resort: list[Suggestion] = []  # shown only if nothing else is
        self.untried: list[Suggestion] = []

    def run(self) -> tuple[Suggestion, ...]:
        start = (_Attempt({}, ()), self.facts)
        others = self.explore([start], self.candidates)
        if not self.done:
            self.trials, self.until = 0, max(self.until, time.monotonic() + self.seconds / 2)
            self.explore([start, *others], self.all_candidates)
        shown = [*self.proven, *self.unproven()] or self.partial or self.last_resort or self.untried
        # the first of each title
        shown = list({s.title: s for s in reversed(shown)}.values())[::-1]
        return tuple(shown[:MAX_SHOWN])

    def explore(self, queue: _Queue, candidates: _Candidates) -> _Queue:
        """Try candidates, and further ones on top where they show another mistake; return those states."""
        found: _Queue = []
        for depth in range(_MAX_EDITS):
            if depth and (self.done or not self.time_left()):
                break
            pending, queue = queue, []
            for state, facts in pending[:3]:
                self.level(state, facts, candidates(state, facts), queue)
                if self.done or not self.time_left():
                    break
            found += queue
        return found

    def unproven(self) -> list[Suggestion]:
        """Return the suggestions that ran, verified if there is no result but theirs."""
        # small edits are for what no other fix repairs
        ran = [r for r in self.ran if r.suggestion.kind != small_edits.KIND] or self.ran
        alone = all(same_result(ran[0].outcome, r.outcome) for r in ran)
        reference = self.reference()
        alone = alone and not (reference.mistaken or reference.in_place or reference.sorted_keys)
        alone = alone and not (self.has_result or self.cut_short)
        return [
            replace(
                r.suggestion,
                verified=alone
                and self.has_no_rival(r)
                and not (r.suggestion.allows or r.assumes or r.suggestion.kind in _OTHER_RESULTS),
            )
            for r in ran
        ]

    def has_no_rival(self, ran: _Ran) -> bool:
        """Return whether no other small edit runs and gives another result."""
        small = ran.suggestion.kind == small_edits.KIND
        return not small or all(same_result(ran.outcome, rival) for rival in self.rivals)

    @property
    def has_result(self) -> bool:
        """Return whether the script without jit gives a result, which a fix should give too."""
        reference = self.reference()
        if not reference.untransformed:  # the program before, which runs to its end
            return reference.reliable
        run = self.untransformed
        return reference.reliable and run is not None and run.completed

    @property
    def done(self) -> bool:
        """Return whether there is something to show, so that no edits are added to others."""
        return bool(self.proven or self.ran)

    def time_left(self) -> bool:
        return self.trials < _MAX_TRIALS and time.monotonic() < self.until

    # -- candidates -----------------------------------------------------------------------------

    def case(self, state: _Attempt, facts: Facts) -> Case:
        sources = self.sources
        if state.texts:
            sources = read_sources(list(self.sources), state.texts)
            facts = complete_facts(facts, sources)
        return Case(facts, sources)

    def candidates(self, state: _Attempt, facts: Facts) -> list[Candidate]:
        """Return the candidates of repairs that know the error."""
        case = self.case(state, facts)
        found = propose(case)
        self.explored.append(state)
        if case.requests:
            (outcome,) = self.measure(case, state)
            if not state.texts and self.needs_untransformed():
                self.untransformed = outcome
            found = propose(Case(case.facts, case.sources, outcome.measured))
        return found

    def all_candidates(self, state: _Attempt, facts: Facts) -> list[Candidate]:
        """Return these, if they were not tried, and those of repairs that know no error."""
        tried = any(known is state for known in self.explored)
        found = [] if tried else self.candidates(state, facts)
        case = self.case(state, facts)
        more = propose_general(case)
        if case.questions:
            outcomes = self.measure(case, state)
            measured, evaluated = outcomes[0].measured, outcomes[-1].evaluated
            more = propose_general(Case(case.facts, case.sources, measured, evaluated=evaluated))
        return sorted([*found, *more], key=lambda c: (c.rank, c.size))

    def measure(self, case: Case, state: _Attempt) -> list[Outcome]:
        """Measure and evaluate what a case asks for: without transformations, and what fails eagerly as it is."""
        base = replace(self.task, changed={**self.task.changed, **state.texts}, watch=False)
        at = case.source.function(case.node) if case.source and case.node else None
        eager = at is None or not (case.facts.transforms or case.facts.entered)
        questions = tuple(case.questions)
        plain = replace(
            base,
            untransformed=True,
            measure=tuple(dict.fromkeys(case.requests)),
            evaluate=() if eager else questions,
        )
        tasks = [plain, replace(base, evaluate=questions)] if eager and questions else [plain]
        return run_all(tasks, self.timeout)

    def level(
        self,
        state: _Attempt,
        facts: Facts,
        candidates: Sequence[Candidate],
        queue: list[tuple[_Attempt, Facts]],
    ) -> None:
        """Try candidates, the likeliest first, until one is proven, or all of the kind that runs."""
        todo = list(candidates)
        while todo and self.time_left() and not self.proven:
            if self.ran:  # others of this kind may give another result
                kinds = {r.suggestion.kind for r in self.ran}
                todo = [c for c in todo if c.kind in kinds]
            batch, todo = todo[:_PARALLEL_RUNS], todo[_PARALLEL_RUNS:]
            states = [s for c in batch if (s := self.changed(state, c)) is not None]
            tasks = [
                replace(self.task, changed=s.texts, watch=True, ignore=s.dropped) for s in states
            ]
            compare = self.untransformed is None and self.needs_untransformed()
            if compare:
                tasks.append(replace(self.task, watch=False, untransformed=True))
            outcomes = run_all(tasks, self.timeout)
            if compare:
                self.untransformed = outcomes.pop()
            self.trials += len(states)
            for after, outcome in zip(states, outcomes, strict=True):
                self.judge(after, outcome, facts, queue)
        kinds = {r.suggestion.kind for r in self.ran} & {small_edits.KIND}
        self.cut_short = self.cut_short or any(c.kind in kinds for c in todo)
        if not state.steps:
            for candidate in todo:
                after = self.changed(state, candidate)
                if after is not None:
                    self.untried.append(self.suggestion(after, Trust.SUGGESTED))

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
        if all(text == self.sources[file].text for file, text in texts.items()):
            return None  # the edits cancel out
        key = tuple(sorted(texts.items()))
        if key in self.tried:
            return None
        self.tried.add(key)
        return _Attempt(texts, (*state.steps, candidate))

    # -- verdicts -------------------------------------------------------------------------------

    def needs_untransformed(self) -> bool:
        return self.reference().untransformed

    def reference(self) -> Reference:
        return reference_for(self.facts.diagnostic.error, self.facts)

    def judge(
        self,
        state: _Attempt,
        outcome: Outcome,
        facts: Facts,
        queue: list[tuple[_Attempt, Facts]],
    ) -> None:
        found = self.next_finding(outcome, facts)
        if found is not None:
            if not _same_mistake(found, facts) and len(state.steps) < _MAX_EDITS:
                sources = read_sources(outcome.files, state.texts)
                queue.append((state, complete_facts(found, sources)))
            return
        if not outcome.completed:
            return
        if self.facts.diagnostic.error in _WRONG_RESULT_WARNINGS:
            left = [
                f for f in outcome.warnings if f.diagnostic.error == self.facts.diagnostic.error
            ]
            if left and not _same_mistake(left[0], facts) and len(state.steps) < _MAX_EDITS:
                # the result is as wrong as before: the repair of the next one comes on top
                sources = read_sources(outcome.files, state.texts)
                queue.append((state, complete_facts(left[0], sources)))
                proof = Proof(missing=["what is right: the same mistake is left elsewhere"])
                self.partial.append(self.suggestion(state, Trust.RAN, proof))
                return
        reference = self.reference()
        if any(step.kind in _OTHER_RESULTS for step in state.steps):
            reference = Reference("the program before", False, reliable=False, mistaken=True)
        if any(step.kind == "stable_function" for step in state.steps):
            reference = replace(reference, any_for_infinite=reference.any_for_nan)
        rounded: set[str] = set()
        run = self.untransformed
        if reference.untransformed and run is not None and not run.completed:
            reference = self.with_assumptions(reference)
        if reference.reliable and run is not None and run.completed:
            differing = different_names(run, outcome, reference.any_for_nan)
            if differing and not run.derivatives_lost:
                rounded = self.rounded(state, reference, run, outcome)
                differing -= rounded
            if differing != set() and not run.derivatives_lost:
                # another mistake of the script may be in the way: its repair comes on top
                for other in outcome.warnings[:1] if len(state.steps) < _MAX_EDITS else ():
                    sources = read_sources(outcome.files, state.texts)
                    queue.append((state, complete_facts(other, sources)))
                return
        proof = Proof(missing=["further comparisons: there was no time"])
        if self.proofs < _MAX_PROOFS:
            self.proofs += 1
            original = {file: self.sources[file].text for file in state.texts}
            if any(step.kind in _TYPE_CHANGES | _SIZES for step in state.steps):
                reference = replace(reference, reliable=False)
            state = self.minimal(state, outcome)
            task = replace(self.task, ignore=(*state.dropped, *rounded))
            proof = prove(task, original, state.texts, reference, self.run_trials)
            if rounded:
                names = ", ".join([f"`{name}`" for name in sorted(rounded)])
                proof.held.append(f"{names}: as near as rounding lets them be")
        if proof.refuted:
            return
        # a size that fits these data may be that of something else
        guessed = any(step.assumes and step.kind in _SIZES for step in state.steps)
        proven = proof.proven and not state.allows and not guessed
        trust = Trust.PROVEN if proven else Trust.RAN
        suggestion = self.suggestion(state, trust, proof)
        if state.steps[0].rank >= LAST_RESORT_RANK:
            self.last_resort.append(suggestion)
            self.rivals += [outcome] * (suggestion.kind == small_edits.KIND)
        elif trust is Trust.PROVEN:
            self.proven.append(suggestion)
        else:
            self.ran.append(_Ran(suggestion, outcome, state.assumes))

    def with_assumptions(self, reference: Reference) -> Reference:
        """Return the reference that has a result if what the script does has its only meaning, if there is one."""
        if self.assumed is None:
            task = replace(self.task, watch=False, untransformed=True, assume=True)
            (outcome,) = run_all([task], self.timeout)
            self.assumed = outcome.assumed if outcome.completed else ()
        if not self.assumed:
            return reference
        assumed = " and ".join(self.assumed)
        name = f"{reference.name}, with {assumed}"
        return replace(reference, name=name, assume=True, reliable=False)

    def next_finding(self, outcome: Outcome, facts: Facts) -> Facts | None:
        """Return what a changed script still shows: `facts`, or what the script did not show before."""
        if outcome.error is not None:
            return outcome.found
        before = [f for f in other_findings(self.outcome) if not _same_mistake(f, facts)]
        for found in outcome.warnings:
            if not any(_same_mistake(found, other, moved=True) for other in before):
                return found
        return None

    def rounded(
        self, state: _Attempt, reference: Reference, before: Outcome, after: Outcome
    ) -> set[str]:
        """Return the variables that differ by no more than rounding in the edited functions changes them."""
        original = {file: self.sources[file].text for file in state.texts}
        task = replace(self.task, ignore=state.dropped)
        texts = state.texts
        return rounded_names(task, original, texts, reference, self.run_trials, before, after)

    def minimal(self, state: _Attempt, outcome: Outcome) -> _Attempt:
        """Drop the edits of whole lines without which the script runs as well."""
        edits = self.lines(state)
        if not 2 <= len(edits) <= _MAX_EDITS:
            return state
        for edit in edits:
            fewer = [e for e in edits if e is not edit]
            texts = {
                file: apply(self.sources[file].text, [e for e in fewer if e.span.file == file])
                for file in state.texts
            }
            try:
                for file, text in texts.items():
                    compile(text, file, "exec")
            except SyntaxError:
                continue
            task = replace(self.task, changed=texts, watch=True, ignore=state.dropped)
            found = run(task, self.timeout)
            clean = found.completed and self.next_finding(found, self.facts) is None
            if clean and same_result(outcome, found):
                return self.minimal(replace(state, texts=texts, trimmed=True), outcome)
        return state

    def run_trials(self, tasks: Sequence[Task]) -> list[Outcome]:
        found: list[Outcome] = []
        for i in range(0, len(tasks), _PARALLEL_RUNS):
            found += run_all(tasks[i : i + _PARALLEL_RUNS], self.timeout)
        return found

    def suggestion(self, state: _Attempt, trust: Trust, proof: Proof | None = None) -> Suggestion:
        proof = proof or Proof()
        held, missing = tuple(proof.held), tuple(proof.missing)
        title = "; then ".join(dict.fromkeys(step.title for step in state.steps))
        first = state.steps[0]
        whole = len(state.steps) > 1 or state.trimmed
        edits = self.lines(state) if whole else first.edits
        if not self.reproduces(state, edits):
            edits = self.lines(state)
            if not self.reproduces(state, edits):  # the shown diff is not what was tried
                trust, held, missing = Trust.SUGGESTED, (), ()
        return Suggestion(
            first.kind,
            title,
            edits,
            trust,
            verified=trust is Trust.PROVEN,
            allows=state.allows,
            held=held,
            missing=missing,
            cost=proof.cost,
        )

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


def reference_for(name: str, facts: Facts | None = None) -> Reference:
    """Return how a script gives the right result, for a class of mistakes."""
    if name == "UnusedResultWarning":
        called = facts.data.get("called", "") if facts is not None else ""
        if called.startswith("jax.random.") and not called.endswith(".permutation"):
            return Reference("the program before, but for the draws", False, same_draws=True)
        at = facts.diagnostic.primary if facts is not None else None
        calls = () if at is None else (at,)
        return Reference("the program with updates in place", reliable=False, in_place=calls)
    if name == "AmbiguousAxesWarning":
        return Reference(
            "the program with sorted keys in its dicts", False, reliable=False, sorted_keys=True
        )
    if name in _MISTAKEN_RESULT_WARNINGS:
        zero = name == "ZeroGradientWarning"
        return Reference(
            "the program before", False, reliable=False, mistaken=True, derivatives=zero
        )
    if name in _SAME_RESULT_WARNINGS:
        return Reference("the program before", untransformed=False)
    if name in _WRONG_RESULT_WARNINGS:
        return Reference("the program in 64 bits", x64=True, reliable=False)
    if name == "KeyReuseError":
        return Reference("the program before, but for the draws", False, same_draws=True)
    if name == "NaNWarning":
        return Reference("the program without jit", any_for_nan=True, reliable=False, mistaken=True)
    if name == "NaNGradientWarning":
        return Reference("the program without jit", any_for_nan=True)
    if facts is not None and _carry_changes_shape(facts.message):
        # a loop in Python takes a carry of any shape: what it gives may be the mistake
        return Reference("the program without jit", reliable=False)
    return Reference("the program without jit")


def _carry_changes_shape(message: str) -> bool:
    """Return whether a loop is refused whose body gives a part of its carry another shape."""
    return "carry input" in message and "the shapes do not match" in message


def _same_mistake(one: Facts, other: Facts, moved: bool = False) -> bool:
    """Return whether two runs show one mistake, which edits may have `moved` to other lines."""
    a, b = one.diagnostic, other.diagnostic
    texts = [d.primary.text if d.primary is not None else "" for d in (a, b)]
    starts = [(d.primary.line, d.primary.column) if d.primary is not None else None for d in (a, b)]
    same = (a.error, a.message, texts[0]) == (b.error, b.message, texts[1])
    return same and (moved or starts[0] == starts[1])
