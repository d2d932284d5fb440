#!/usr/bin/env python3
"""Runs cvc5 on SMT-LIB files: the second opinion behind `deogen verify --solver cvc5`.

    cvc5-run.py [--rlimit N] FILE     prints one line per check-sat: sat, unsat or unknown
    cvc5-run.py [--rlimit N] --batch  reads one path per line from standard input, and answers each
                                      with one line: its answers, separated by blanks
    cvc5-run.py --version             prints the solver's version

A file that cvc5 does not read answers `error`, with the reason on standard error; the exit status is
then 1, and 8 when cvc5 is not here (scripts/fetch-cvc5.sh brings it).
"""

import argparse
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / ".cvc5"))
try:
    import cvc5
except ImportError as error:
    print(f"cvc5-run: {error}: run `sh scripts/fetch-cvc5.sh`", file=sys.stderr)
    sys.exit(8)

# What a solver's own user might ask beside the question: options of another solver, models, cores.
SKIPPED = {"set-option", "echo", "get-assertions", "get-assignment", "get-info", "get-model", "get-option",
           "get-proof", "get-unsat-assumptions", "get-unsat-core", "get-value"}


def answers(path, rlimit):
    """The answers to the check-sats of the file, in order."""
    terms = cvc5.TermManager()
    solver = cvc5.Solver(terms)
    solver.setOption("incremental", "true")
    solver.setOption("verbosity", "-1")
    if rlimit:
        solver.setOption("rlimit-per", str(rlimit))
    symbols = cvc5.SymbolManager(terms)
    parser = cvc5.InputParser(solver, symbols)
    parser.setFileInput(cvc5.InputLanguage.SMT_LIB_2_6, path)
    found = []
    while True:
        command = parser.nextCommand()
        if command.isNull() or command.getCommandName() == "exit":
            return found
        if command.getCommandName() in SKIPPED:
            continue
        said = command.invoke(solver, symbols).strip()
        if command.getCommandName() in ("check-sat", "check-sat-assuming"):
            # "unknown (RESOURCEOUT)" and the like: the reason is of no use to the caller.
            found.append(said.split()[0] if said else "unknown")
        elif said.startswith("(error"):
            raise RuntimeError(said)


def attempt(path, rlimit):
    """The answers to the file, or None after the reason was printed."""
    try:
        return answers(path, rlimit)
    except Exception as error:  # cvc5 raises RuntimeError and classes of its own
        print(f"cvc5-run: {path}: {str(error).strip()}", file=sys.stderr)
        return None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("file", nargs="?", help="the SMT-LIB file to answer")
    parser.add_argument("--batch", action="store_true", help="read paths from standard input")
    parser.add_argument("--rlimit", type=int, default=0, help="cvc5's resource limit per question")
    parser.add_argument("--version", action="store_true", help="print the version of cvc5")
    given = parser.parse_args()
    if given.version:
        print(cvc5.__version__)
        return 0
    if given.batch == (given.file is not None):
        parser.error("give one file, or --batch")
    failed = False
    for path in (line.rstrip("\n") for line in sys.stdin) if given.batch else [given.file]:
        found = attempt(path, given.rlimit)
        failed |= found is None
        print((" " if given.batch else "\n").join(["error"] if found is None else found), flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
