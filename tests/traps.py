"""Bring each known bug back, one at a time, and see its test fail.

`traps.toml` lists the bugs: what must hold, the test that holds it, and a small patch to the source under which that
test must fail. Run as `python tests/traps.py`, or with numbers (`python tests/traps.py 3 24`) for some of them.
"""

from __future__ import annotations

import argparse
import ast
import os
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
REGISTER = Path(__file__).with_name("traps.toml")
N_TRAPS = 56
AT_ONCE = 2
TIME_LIMIT = 120.0
"""Seconds for the tests of one trap."""

# Loaded by pytest in the subprocess: the patched copy must be what the tests import.
PLUGIN = """
import os
from pathlib import Path

import pytest

import veridical

def pytest_configure(config):
    if not Path(veridical.__file__).is_relative_to(os.environ["TRAP_SOURCE"]):
        raise pytest.UsageError(f"veridical is imported from {veridical.__file__}")
"""


@dataclass(frozen=True, slots=True)
class Trap:
    """A bug that others had. `later` says with what part of the product its test comes; then there is no patch."""

    number: int
    holds: str
    test: tuple[str, ...] = ()
    file: str = ""
    find: str = ""
    replace: str = ""
    later: str = ""


def read_register() -> list[Trap]:
    """Every entry of the register, in its order."""
    entries = tomllib.loads(REGISTER.read_text(encoding="utf-8"))["trap"]
    return [Trap(**{**entry, "test": tuple(entry.get("test", ()))}) for entry in entries]


def faults(register: Sequence[Trap]) -> Iterator[str]:
    """What is wrong with the register itself, found without running a test."""
    numbers = [trap.number for trap in register]
    if numbers != list(range(1, N_TRAPS + 1)):
        missing = sorted(set(range(1, N_TRAPS + 1)) - set(numbers))
        yield f"the numbers are not 1 to {N_TRAPS}, each once and in order; missing: {missing}"
    for trap in register:
        if not trap.holds.strip():
            yield f"{trap.number}: does not say what must hold"
        if trap.later:
            if trap.test or trap.file or trap.find or trap.replace:
                yield f"{trap.number}: comes later, and has a test or a patch"
            continue
        if not trap.test:
            yield f"{trap.number}: has no test"
        for node in trap.test:
            if not exists(node):
                yield f"{trap.number}: there is no test {node}"
        path = ROOT / trap.file
        count = path.read_text(encoding="utf-8").count(trap.find) if trap.find and path.is_file() else 0
        if count != 1:
            yield f"{trap.number}: what is to be replaced stands {count} times in {trap.file or 'no file'}"
        elif trap.find == trap.replace:
            yield f"{trap.number}: the patch changes nothing"


def exists(node: str) -> bool:
    """Whether a pytest node id (a file, classes, a function) names a function that is there."""
    file, *names = node.split("::")
    path = ROOT / file
    if not path.is_file() or not names:
        return False
    body: list[ast.stmt] = ast.parse(path.read_text(encoding="utf-8")).body
    for name in names[:-1]:
        body = next((one.body for one in body if isinstance(one, ast.ClassDef) and one.name == name), [])
    return any(isinstance(one, ast.FunctionDef) and one.name == names[-1] for one in body)


def caught(trap: Trap) -> tuple[bool, str, float]:
    """Whether every test of the trap fails with the bug back; what was seen where one does not; seconds taken."""
    start = time.monotonic()
    with tempfile.TemporaryDirectory(prefix=f"trap-{trap.number}-") as name:
        folder = Path(name)
        shutil.copytree(ROOT / "src", folder / "src", ignore=shutil.ignore_patterns("__pycache__"))
        patched = folder / trap.file
        patched.write_text(patched.read_text(encoding="utf-8").replace(trap.find, trap.replace), encoding="utf-8")
        (folder / "only_the_patched_copy.py").write_text(PLUGIN, encoding="utf-8")
        environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join([str(folder / "src"), name]),
            "PYTHONDONTWRITEBYTECODE": "1",
            "TRAP_SOURCE": name,
            "OMP_NUM_THREADS": "1",
        }
        command = [sys.executable, "-m", "pytest", "-q", "-rf", "--tb=line", "--no-header"]
        command += ["-p", "only_the_patched_copy", "-p", "no:cacheprovider"]
        command += ["-x"] if len(trap.test) == 1 else []
        try:
            run = subprocess.run(
                [*command, *trap.test], cwd=ROOT, env=environment, capture_output=True, text=True, timeout=TIME_LIMIT
            )
        except subprocess.TimeoutExpired:
            return False, f"ran past {TIME_LIMIT:g} s", time.monotonic() - start
    seconds = time.monotonic() - start
    # 1 is "tests failed"; a broken fixture ends with 1 as well, so the summary must name each test as failed.
    failed = {line.split()[1].partition("[")[0] for line in run.stdout.splitlines() if line.startswith("FAILED ")}
    if run.returncode == 1 and failed >= set(trap.test):
        return True, "", seconds
    passed = ", ".join(node for node in trap.test if node not in failed)
    said = (run.stderr.strip() or run.stdout.strip() or "nothing").splitlines()[-1]
    return False, f"pytest ended with {run.returncode}, and these did not fail: {passed} ({said})", seconds


def main() -> int:
    parser = argparse.ArgumentParser(description="Bring each known bug back, and see its test fail.")
    parser.add_argument("numbers", nargs="*", type=int, help="these traps only")
    wanted = set(parser.parse_args().numbers)
    register = read_register()
    if unknown := wanted - {trap.number for trap in register if not trap.later}:
        parser.error(f"no trap with a patch has the number {', '.join(map(str, sorted(unknown)))}")
    n_failed = 0
    for fault in faults(register):
        n_failed += 1
        print(fault)
    if n_failed:
        print(f"0 passed, {n_failed} failed: the register is not in order")
        return 1
    patched = [trap for trap in register if not trap.later and (not wanted or trap.number in wanted)]
    with ThreadPoolExecutor(AT_ONCE) as pool:
        for trap, (found, seen, seconds) in zip(patched, pool.map(caught, patched), strict=True):
            n_failed += not found
            print(f"{trap.number:2}  {'ok' if found else 'NOT CAUGHT':10}  {seconds:5.1f} s  {trap.holds}", flush=True)
            if seen:
                print(f"    {seen}", flush=True)
    print(f"{len(patched) - n_failed} passed, {n_failed} failed")
    return 1 if n_failed else 0


if __name__ == "__main__":
    sys.exit(main())
