"""Hold the Chinese texts, by their English templates. Placeholders have the same names in both."""

from __future__ import annotations

from sagax._src.languages.chinese.advice import ADVICE
from sagax._src.languages.chinese.checks import CHECKS
from sagax._src.languages.chinese.commands import COMMANDS
from sagax._src.languages.chinese.doctor import DOCTOR
from sagax._src.languages.chinese.engine_messages import ENGINE_MESSAGES
from sagax._src.languages.chinese.expected import EXPECTED
from sagax._src.languages.chinese.findings import FINDINGS
from sagax._src.languages.chinese.first_lines import FIRST_LINES
from sagax._src.languages.chinese.fixes import FIXES
from sagax._src.languages.chinese.labels import LABEL_FRAMES, LABELS
from sagax._src.languages.chinese.library_advice import LIBRARY_ADVICE
from sagax._src.languages.chinese.library_messages import LIBRARY_MESSAGES
from sagax._src.languages.chinese.message_parts import MESSAGE_PARTS
from sagax._src.languages.chinese.messages import MESSAGES
from sagax._src.languages.chinese.notes import NOTES
from sagax._src.languages.chinese.plain_messages import PLAIN_MESSAGES
from sagax._src.languages.chinese.plans import PLANS, TABLES
from sagax._src.languages.chinese.proofs import PROOFS
from sagax._src.languages.chinese.report import PAGES, REPORT
from sagax._src.languages.chinese.warnings import WARNINGS

CATALOGUE: dict[str, str] = {
    **FIRST_LINES, **LABELS, **NOTES, **EXPECTED, **MESSAGES, **ENGINE_MESSAGES, **LIBRARY_MESSAGES, **PLAIN_MESSAGES, **MESSAGE_PARTS,
    **WARNINGS, **REPORT, **FIXES, **ADVICE, **LIBRARY_ADVICE, **PROOFS, **FINDINGS, **CHECKS, **DOCTOR, **COMMANDS, **PLANS,
}  # fmt: skip

FRAMES: dict[str, str] = {
    **LABEL_FRAMES,
    **PAGES,
    **TABLES,
}  # filled as templates; finished texts are not matched with them
