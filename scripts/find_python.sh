#!/bin/sh
# Prints the path of the newest usable Python.
#
#     scripts/find_python.sh            any version the project supports
#     scripts/find_python.sh 3.12       this minor version only
#
# Usable: it can make a virtual environment with pip in it, and the engine (jaxlib) exists for it in
# the range that pyproject.toml names, or that the variable REQUIREMENT names. Versions the project is
# tested with go first, newest first; a newer one is taken only where none of them is found.
# What is not usable is said on stderr. Exit status 1: none found.

set -u
oldest=11 # of Python 3
newest_tested=13
only="${1:-}"
here=$(cd "$(dirname "$0")" && pwd)
requirement="${REQUIREMENT:-$(sed -n 's/^ *"\(jaxlib[^"]*\)".*/\1/p' "$here/../pyproject.toml")}"

scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
trap 'exit 1' HUP INT TERM

# Every file that may be an interpreter: on the path, and where version managers keep theirs. A shim of
# pyenv runs only the version that pyenv is set to, hence the look into its folder.
candidates() {
    (
        IFS=:
        for folder in $PATH; do
            ls -d "$folder"/python3 "$folder"/python3.[0-9] "$folder"/python3.[0-9][0-9]
        done
    ) 2>/dev/null
    for root in "${PYENV_ROOT:-$HOME/.pyenv}/versions" "$HOME/.local/share/uv/python" \
        "$HOME/.asdf/installs/python" "$HOME/.local/share/mise/installs/python"; do
        ls -d "$root"/*/bin/python3
    done 2>/dev/null
    for folder in /usr/bin /usr/local/bin /opt/homebrew/bin; do
        ls -d "$folder"/python3.[0-9][0-9]
    done 2>/dev/null
}

# One line "rank path" for an interpreter whose version fits. Rank is the order of preference.
# Not CPython, or without its lock: the engine's wheels are not made (or not tested) for it.
describe() {
    "$1" -I - "$oldest" "$newest_tested" "$only" <<'PY' 2>/dev/null
import os, sys, sysconfig
oldest, newest_tested = int(sys.argv[1]), int(sys.argv[2])
major, minor, micro = sys.version_info[:3]
fits = f"{major}.{minor}" == sys.argv[3] if sys.argv[3] else major == 3 and minor >= oldest
final = sys.version_info.releaselevel == "final"
plain = sys.implementation.name == "cpython" and not sysconfig.get_config_var("Py_GIL_DISABLED")
if fits and final and plain:
    untested = minor > newest_tested
    rank = 100 * minor if untested else 100 * (newest_tested - minor) + 99 - min(micro, 99)
    # the interpreter behind a virtual environment or a shim
    path = getattr(sys, "_base_executable", None) or sys.executable
    print(f"{int(untested)}{rank:05d} {os.path.realpath(path)}")
PY
}

usable() {
    if ! "$1" -m venv "$scratch/venv" >"$scratch/log" 2>&1; then
        echo "find_python: $1 cannot make a virtual environment: $(tail -n 1 "$scratch/log")" >&2
    elif ! "$scratch/venv/bin/python" -m pip install -qq --disable-pip-version-check --dry-run \
        --no-deps --only-binary :all: "$requirement" >"$scratch/log" 2>&1; then
        echo "find_python: no $requirement for $1: $(tail -n 1 "$scratch/log")" >&2
    else
        rm -rf "$scratch/venv"
        return 0
    fi
    rm -rf "$scratch/venv"
    return 1
}

candidates | while IFS= read -r path; do
    describe "$path" </dev/null
done | sort -u >"$scratch/found"

while read -r _ path; do
    if usable "$path" </dev/null; then
        echo "$path"
        exit 0
    fi
done <"$scratch/found"
echo "find_python: no usable Python ${only:-3.$oldest or newer} found (looked on PATH and in pyenv, uv, asdf, mise)" >&2
exit 1
