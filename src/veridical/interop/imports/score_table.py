"""Results without samples as a table of scores: one row a model, benchmark and metric, for `veridical validity`.

Read are the results files of lm-evaluation-harness (0.3 and 0.4) and of lighteval, Inspect's JSON logs, and the
aggregate records of every_eval_ever (schema 0.2 and 0.3).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, fields
from pathlib import Path

from veridical.errors import UserError
from veridical.files.csv_text import csv_text
from veridical.files.ledger import Ledger
from veridical.files.new_folder import clear_abandoned
from veridical.files.targets import keep_apart
from veridical.files.writing import check_path, make_folder, replace
from veridical.interop.imports.folders import check_leads_somewhere, files_in
from veridical.interop.imports.records import read_document
from veridical.interop.imports.score_formats import Score, scores_in
from veridical.interop.imports.sentinels import SUSPECTS
from veridical.runs.provenance import LeftOut

NOT_FINITE = "a score that is not a finite number"
NOT_RESULTS = "a JSON file that holds no results"
UNREADABLE = "file that cannot be read"


@dataclass(frozen=True)
class FoundScores:
    """The scores that were found, the files and numbers that were read, and counts of what was left out of either.

    `notices` name numbers that look as if they stood for a score that is missing.
    """

    scores: tuple[Score, ...]
    skipped: Mapping[str, int]
    files: int = 0
    numbers: int = 0
    notices: tuple[str, ...] = ()

    @property
    def models(self) -> tuple[str, ...]:
        """The models, each once, in the order of the scores."""
        return tuple(dict.fromkeys(score.model for score in self.scores))

    @property
    def benchmarks(self) -> tuple[str, ...]:
        """The benchmarks, each once, in the order of the scores."""
        return tuple(dict.fromkeys(score.benchmark for score in self.scores))


def read_scores(path: Path, missing: Collection[float] = ()) -> FoundScores:
    """Every score in a results file or a folder of them; `missing` are numbers that stand for one that is missing.

    Raises UserError where there is none.
    """
    check_path(path)
    check_leads_somewhere(path)
    if not path.exists():
        raise UserError(f"{path}: no such file or folder")
    scores: list[Score] = []
    files, numbers = Ledger(), Ledger()
    odd: list[LeftOut] = []
    for file in files_in(path, (".json",), odd) if path.is_dir() else [path]:
        files.take()
        try:
            document = read_document(file)
            found = list(scores_in(document, file))
        except UserError as error:
            if file == path:
                raise
            _leave_unreadable(files, str(error))
            continue
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
            # Results that no reader foresaw must not take the others of a folder down.
            if file == path:
                raise UserError(f"{file} is not written as results are ({type(error).__name__}: {error})") from error
            _leave_unreadable(files, f"{file} is not written as results are ({type(error).__name__}: {error})")
            continue
        if found:
            files.use()
        else:
            files.leave(NOT_RESULTS)
        for score in found:
            numbers.take()
            if not math.isfinite(score.score):
                numbers.leave(NOT_FINITE)
            elif score.score in missing:
                numbers.leave(f"score of {score.score:.10g}, taken as missing")
            else:
                numbers.use()
                scores.append(score)
    for one in odd:
        files.take()
        _leave_unreadable(files, f"{one.what}: {one.reason}")
    files.check(str(path))
    numbers.check(str(path))
    if not scores and files.unreadable:
        more = f" (and {files.unreadable - 1:,} more)" if files.unreadable > 1 else ""
        raise UserError(f"{path}: no results can be read here: {files.first_fault}{more}")
    if not scores:
        raise UserError(
            f"{path}: no results of lm-evaluation-harness, lighteval, Inspect or every_eval_ever are here; name a "
            "results file (results_*.json), or the folder that such files are in"
        )
    left_out = files.left_out + numbers.left_out
    return FoundScores(tuple(scores), left_out, files.read, numbers.read, tuple(_suspected(scores)))


def _leave_unreadable(files: Ledger, fault: str) -> None:
    reason = f"{UNREADABLE}: {fault}"
    files.leave_unreadable(reason, fault=reason)


def _suspected(scores: Sequence[Score]) -> Iterator[str]:
    """What looks like a mark of a missing score: -1, -9 and -100 too, where no other score is below 0."""
    found = Counter(score.score for score in scores if score.score in SUSPECTS)
    if any(score.score < 0 and score.score not in SUSPECTS for score in scores):
        for value in (-1.0, -9.0, -100.0):
            found.pop(value, None)
    for value, n in found.most_common(6):
        yield (
            f"{n:,} score{'' if n == 1 else 's'} of {value:.10g}, which often stands for a score that is missing: "
            f"--missing={value:.10g} leaves such out"
        )


def import_scores(path: str | Path, out: str | Path, missing: Collection[float] = ()) -> FoundScores:
    """Write the scores in a results file, or a folder of them, as a table of `out`, a CSV file that is not there yet.

    `missing` are numbers that stand for a score that is missing.
    Raises UserError where there are no scores, or where `out` exists or is not a .csv.
    """
    source, target = Path(path), Path(out)
    if target.suffix.lower() != ".csv":
        raise UserError(f"--out {target}: scores are written as a table; name a .csv file")
    if target.exists():
        raise UserError(f"{target} exists already; choose another --out")
    keep_apart([target], [source])
    table = read_scores(source, missing)
    rows = [[field.name for field in fields(Score)], *map(astuple, table.scores)]
    make_folder(target.parent)
    clear_abandoned(target)
    replace(target, csv_text(rows).encode())
    return table
