"""Hold the Chinese texts, by their English templates. Placeholders have the same names in both."""

from __future__ import annotations

from sagax._src.languages.chinese.advice import ADVICE
from sagax._src.languages.chinese.checks import CHECKS
from sagax._src.languages.chinese.commands import COMMANDS
from sagax._src.languages.chinese.doctor import DOCTOR
from sagax._src.languages.chinese.expected import EXPECTED
from sagax._src.languages.chinese.findings import FINDINGS
from sagax._src.languages.chinese.first_lines import FIRST_LINES
from sagax._src.languages.chinese.fixes import FIXES
from sagax._src.languages.chinese.labels import FRAMES, LABELS
from sagax._src.languages.chinese.messages import MESSAGES
from sagax._src.languages.chinese.notes import NOTES
from sagax._src.languages.chinese.proofs import PROOFS

CATALOGUE: dict[str, str] = {
    **FIRST_LINES, **LABELS, **NOTES, **EXPECTED, **MESSAGES, **FIXES, **ADVICE, **PROOFS, **FINDINGS, **CHECKS, **DOCTOR, **COMMANDS,
}  # fmt: skip
