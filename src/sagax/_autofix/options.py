"""Declare the options of the command `python -m sagax explain`, without loading what it needs."""

from __future__ import annotations

import argparse


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command to a parser."""
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument(
        "--apply", action="store_true", help="ask which verified repair to make, and make it"
    )
    parser.add_argument(
        "--seconds", type=float, default=8.0, help="how long to try repairs (default: 8)"
    )
    parser.add_argument(
        "--once", action="store_true", help="run the script once, and try no repairs"
    )
    parser.add_argument(
        "--yes",
        action="store_true",
        help="try repairs even if the script writes files, uses the network or starts processes",
    )
    parser.add_argument(
        "--sandbox",
        action="store_true",
        help="try repairs where what the script writes is forgotten, and without network (Linux)",
    )
    parser.add_argument(
        "script", metavar="SCRIPT.py, NOTEBOOK.ipynb or SXnnnn", help="or the code of an error"
    )
    parser.add_argument("args", nargs=argparse.REMAINDER, help="the arguments of the script")
