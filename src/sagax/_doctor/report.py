"""Format the report of the doctor: facts, findings and advice."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sagax._doctor.facts import Facts, Library, Start
from sagax._doctor.rules import Finding
from sagax._src.languages.arguments import localize

# Variables, besides options, that affect devices.
_VARIABLE_PREFIXES = ("CUDA_", "XLA_", "NVIDIA_", "TF_CPP_", "NCCL_")
_VARIABLE_NAMES = ("LD_LIBRARY_PATH", "LD_PRELOAD", "PYTHONPATH")


def format_report(facts: Facts, found: Sequence[Finding]) -> str:
    """Return the text of the report."""
    parts = [
        ("versions", [f"{name} {version}" for name, version in facts.versions.items()]),
        ("environment variables that change behaviour", list(_variables(facts))),
        ("devices", list(map(localize, _devices(facts)))),
        ("NVIDIA's driver", list(map(localize, _driver(facts)))),
        ("CUDA libraries", list(map(localize, _libraries(facts)))),
        (
            "found",
            [
                f"{localize('PROBLEM' if f.grave else 'note')}{localize(': ')}{localize(f.what)}"
                for f in found
            ]
            or [localize("nothing wrong")],
        ),
        ("what to do", list(_advice(found))),
    ]
    sections = []
    for title, lines in parts:
        body = "\n".join(f"  {line}" for line in lines) if lines else f"  {localize('none')}"
        sections.append(f"{localize(title)}\n{body}")
    return "\n\n".join(sections)


def _variables(facts: Facts) -> Iterator[str]:
    starts = ("JAX_", "SAGAX_", *_VARIABLE_PREFIXES)
    for name, value in sorted(facts.environ.items()):
        if name.startswith(starts) or name in _VARIABLE_NAMES:
            yield f"{name}={value}"


def _devices(facts: Facts) -> Iterator[str]:
    for platform, start in facts.starts.items():
        yield f"{platform}: {_start_text(start)}"
    if not facts.plugins:
        yield "cuda: no plugin is installed"


def _start_text(start: Start) -> str:
    if start.fine:
        count = len(start.devices)
        more = f", ... ({count} in all)" if count > 4 else ""
        return f"starts: {', '.join(start.devices[:4])}{more}"
    reason = f"{start.step}: {start.detail}" if start.step else start.ended
    return f"does not start ({reason.splitlines()[0] if reason else 'no reason given'})"


def _driver(facts: Facts) -> Iterator[str]:
    driver = facts.driver
    if driver.library is None:
        yield f"libcuda.so.1: {driver.library_error or 'not found'}"
    else:
        known = f", CUDA up to {driver.cuda[0]}.{driver.cuda[1]}" if driver.cuda else ""
        version = f", version {driver.version}" if driver.version else ""
        yield f"libcuda.so.1: {driver.library}{version}{known}"
    for gpu in driver.gpus:
        yield f"GPU {gpu.index}: {gpu.name}, {gpu.free} of {gpu.total} MiB free"
        yield from (f"  used by {user}" for user in gpu.users)
    if not driver.gpus:
        yield f"GPUs on the PCI bus: {driver.on_bus}; device files: {', '.join(driver.files) or 'none'}"


def _libraries(facts: Facts) -> Iterator[str]:
    for plugin in facts.plugins:
        yield f"plugin for CUDA {plugin.cuda}, version {plugin.version}: {plugin.library}"
    for library in facts.libraries:
        yield f"{library.name}: {_library_text(library)}"


def _library_text(library: Library) -> str:
    locations = [f"wheel {library.wheel}" if library.wheel else "in no wheel"]
    locations += [f"LD_LIBRARY_PATH {path}" for path in library.on_path]
    if library.system:
        locations.append(f"system {library.system}")
    locations.append(f"loaded {library.loaded}" if library.loaded else "not loaded")
    return "; ".join(locations)


def _advice(found: Sequence[Finding]) -> Iterator[str]:
    if not found:
        yield localize("nothing")
    for i, todo in enumerate(dict.fromkeys(f.todo for f in found), 1):
        yield f"{i}. {localize(todo)}"
