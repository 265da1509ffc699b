"""Which files of lm-evaluation-harness belong together, and the answers in them.

An evaluation is one call of the harness: a results file and the samples of its tasks, which carry the same date. In
0.4.3 and later these are `results_DATE.json` and `samples_TASK_DATE.jsonl` (`.json` for a while) in a folder named
after the model; in 0.4.0 to 0.4.2 `results.json` and `ARGUMENTS_TASK.jsonl`, an array whatever its name says; in 0.3
any results file and `TASK_write_out_info.json`.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from veridical.errors import UserError
from veridical.files.links import real_path
from veridical.interop.imports.answer import held
from veridical.interop.imports.folders import files_in, not_read, why_no_file
from veridical.interop.imports.json_values import NOT_JSON
from veridical.interop.imports.lm_eval.results_file import ResultsFile
from veridical.interop.imports.records import RecordFile, read_document
from veridical.runs.provenance import LeftOut

_DATE = r"\d{4}-\d{2}-\d{2}T\d{2}[-:]\d{2}[-:]\d{2}(?:\.\d+)?"
_RESULTS = re.compile(rf"(?P<prefix>.*?)results_(?P<date>{_DATE})\.json")
_SAMPLES = re.compile(rf"(?P<prefix>.*?)samples_(?P<task>.+)_(?P<date>{_DATE})\.jsonl?")
_WRITE_OUT = re.compile(r"(?P<task>.+)_write_out_info\.json")
NAMELESS = "model not named in the log"


@dataclass(frozen=True, slots=True)
class Evaluation:
    """One call of the harness: where its numbers are, and its samples by task."""

    results: ResultsFile | None
    samples: Mapping[str, RecordFile]
    where: Path
    named: str = ""
    """The model as the files' names have it."""
    broken: str = ""
    """Why its results file cannot be read, where there is one."""
    whole: bool = True
    """Whether all its files were asked for, and not the samples of one task."""
    left_out: Sequence[LeftOut] = ()
    """Files of the folder that belong to no evaluation with samples; the folder's first evaluation has them."""

    @property
    def model(self) -> str:
        """The model's name, from the results file or the files' names; `NAMELESS` where neither gives it."""
        document = self.results.document if self.results else {}
        arguments = held(document.get("config")).get("model_args")
        for name in (document.get("model_name"), _pretrained(arguments)):
            if isinstance(name, str) and name.strip():
                return name
        return self.named or NAMELESS


def _pretrained(arguments: object) -> str | None:
    if isinstance(arguments, dict):
        found = arguments.get("pretrained", arguments.get("model"))
        return found if isinstance(found, str) else None
    match = re.search(r"(?:^|,)(?:pretrained|model|engine)=([^,]+)", arguments) if isinstance(arguments, str) else None
    return match[1] if match else None


@dataclass
class _Group:
    results: list[ResultsFile] = field(default_factory=list)
    samples: dict[str, RecordFile] = field(default_factory=dict)
    named: str = ""
    broken: str = ""
    strange: list[LeftOut] = field(default_factory=list)
    """Files that look like its own and are not read."""


def find_evaluations(path: Path) -> list[Evaluation]:
    """The evaluations in a file or a folder, each with its samples.

    Raises UserError where there is none, or where none has samples.
    """
    odd: list[LeftOut] = []
    files = files_in(path, (".json", ".jsonl"), odd) if path.is_dir() else _with_neighbours(path, odd)
    groups = _grouped(files, only=None if path.is_dir() else path)
    found = [
        Evaluation(
            group.results[0] if group.results else None,
            group.samples,
            path,
            group.named,
            group.broken,
            whole=path.is_dir() or bool(_RESULTS.fullmatch(path.name)),
        )
        for group in groups.values()
        if group.samples
    ]
    if found:
        return [replace(found[0], left_out=[*_left_out(path, groups.values()), *odd]), *found[1:]]
    results = [one for group in groups.values() for one in group.results]
    broken = [group.broken for group in groups.values() if group.broken]
    if broken and not results:
        raise UserError(broken[0])
    if odd:
        raise UserError(f"{path}: no samples can be read here{not_read(odd)}; put the files themselves there")
    if results:
        raise UserError(_without_samples(path, results))
    raise UserError(
        f"{path}: nothing of lm-evaluation-harness is here: a results_*.json with its samples_*.jsonl is expected, "
        "or the folder that they are in"
    )


def _left_out(path: Path, groups: Collection[_Group]) -> list[LeftOut]:
    """Results files that have no samples, and those that cannot be read."""
    alone = [group for group in groups if not group.samples]
    n = sum(len(group.results) for group in alone)
    left_out = [LeftOut(what="a results file", reason=group.broken) for group in alone if group.broken]
    left_out += [one for group in groups for one in group.strange]
    if n:
        what = "a results file without samples" if n == 1 else f"{n:,} results files without samples"
        reason = f"no answer can be judged; veridical import scores {path} --out scores.csv reads the numbers"
        left_out.append(LeftOut(what=what, reason=reason, n=n))
    return left_out


def _without_samples(path: Path, results: Sequence[ResultsFile]) -> str:
    tasks = list(dict.fromkeys(task for one in results for task in one.reported))
    shown = ", ".join(tasks[:4]) + (f" and {len(tasks) - 4} more" if len(tasks) > 4 else "")
    return (
        f"{path} has the harness's numbers ({shown or 'no task'}) and no samples of single answers, so that nothing "
        "can be judged: run lm-eval again with --log_samples, and import the folder that it writes; for a table of "
        f"these numbers: veridical import scores {path} --out scores.csv"
    )


def _with_neighbours(path: Path, odd: list[LeftOut]) -> list[Path]:
    """A file, and the files of the same date in its folder; names that do not lead to a file are added to `odd`."""
    if not path.exists():
        raise UserError(f"{path}: no such file or folder")
    named = _RESULTS.fullmatch(path.name) or _SAMPLES.fullmatch(path.name)
    neighbours = [one for one in sorted(path.parent.iterdir()) if one != path]
    whys = {one: why_no_file(one, real_path(path.parent)) for one in neighbours if one.suffix in (".json", ".jsonl")}
    if _RESULTS.fullmatch(path.name) and named is not None:
        odd += [LeftOut(what=str(one), reason=why) for one, why in whys.items() if why and _same(named, one.name)]
    neighbours = [one for one, why in whys.items() if not why]
    if named is not None:
        return [path, *(one for one in neighbours if _same(named, one.name))]
    if _is_samples(path):
        return [path, *(one for one in neighbours if one.name == "results.json")]
    undated = (one for one in neighbours if not _SAMPLES.fullmatch(one.name))
    return [path, *(one for one in undated if _WRITE_OUT.fullmatch(one.name) or one.suffix == ".jsonl")]


def _is_samples(file: Path) -> bool:
    return bool(_WRITE_OUT.fullmatch(file.name)) or file.suffix == ".jsonl" or _holds_records(file)


def _same(named: re.Match[str], name: str) -> bool:
    other = _RESULTS.fullmatch(name) or _SAMPLES.fullmatch(name)
    return other is not None and (other["prefix"], other["date"]) == (named["prefix"], named["date"])


def _grouped(files: Sequence[Path], only: Path | None) -> dict[tuple[str, ...], _Group]:
    """Files by evaluation. Where one samples file is asked for (`only`), its neighbours' samples are left aside."""
    groups: dict[tuple[str, ...], _Group] = {}
    undated: list[Path] = []
    for file in files:
        if match := _SAMPLES.fullmatch(file.name):
            if only is not None and file != only and _SAMPLES.fullmatch(only.name):
                continue  # one task of several was asked for
            group = groups.setdefault((str(file.parent), match["prefix"], match["date"]), _Group())
            if match["task"] in group.samples:
                group.strange.append(LeftOut(what=str(file), reason=f"it is a second file of task {match['task']}"))
                continue
            group.samples[match["task"]] = RecordFile(file)
            group.named = _model_in_names(file, match["prefix"])
        elif match := _RESULTS.fullmatch(file.name):
            group = groups.setdefault((str(file.parent), match["prefix"], match["date"]), _Group())
            try:
                document = read_document(file)
            except UserError as error:
                group.broken = str(error)
                continue  # its samples can be judged without it
            group.results.append(ResultsFile(file, document))
            group.samples = {**_embedded(document), **group.samples}
        else:
            undated.append(file)
    for folder in dict.fromkeys(file.parent for file in undated):
        groups |= _undated(folder, [file for file in undated if file.parent == folder], asked_for=only is not None)
    return groups


def _model_in_names(file: Path, prefix: str) -> str:
    return prefix.strip("_") or (file.parent.name if "__" in file.parent.name else "")


def _undated(folder: Path, files: Sequence[Path], *, asked_for: bool) -> dict[tuple[str, ...], _Group]:
    """Files of versions that put no date into names: results by their content, samples by what they are called."""
    results: list[ResultsFile] = []
    records: list[Path] = []
    broken = ""
    for file in files:
        if _is_samples(file):
            records.append(file)
            continue
        try:
            document = read_document(file)
        except UserError as error:
            if asked_for:
                raise
            if file.name.startswith("results"):
                broken = str(error)
            continue  # some other JSON that lies there
        if isinstance(document.get("results"), dict):
            results.append(ResultsFile(file, document))
    if not results and not records:
        return {}
    if len(results) > 1:
        # Without dates nothing says whose the samples are: each results file by itself, samples without numbers.
        alone: dict[tuple[str, ...], _Group] = {}
        for one in results:
            alone[(str(one.path),)] = _Group([one], _embedded(one.document))
        return alone | ({(str(folder),): _Group([], _named(records, None, []))} if records else {})
    own = results[0] if results else None
    strange: list[LeftOut] = []
    samples = {**(_embedded(own.document) if own else {}), **_named(records, own, strange)}
    return {(str(folder),): _Group(results, samples, broken=broken, strange=strange)}


def _embedded(document: Mapping[str, Any]) -> dict[str, RecordFile]:
    """Samples within a results document, as the harness's Python interface gives them."""
    samples = held(document.get("samples"))
    return {task: _Held(records) for task, records in samples.items() if isinstance(records, list)}


class _Held(RecordFile):
    """Records that are already read."""

    def __init__(self, records: list[Any]) -> None:
        super().__init__(Path())
        self._held = records

    def estimate(self) -> int:
        return len(self._held)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        for record in self._held:
            self.ledger.take()
            if isinstance(record, dict):
                yield record
            else:
                self.ledger.leave_unreadable(NOT_JSON)


def _named(files: Sequence[Path], results: ResultsFile | None, strange: list[LeftOut]) -> dict[str, RecordFile]:
    tasks = sorted(results.reported if results else (), key=len, reverse=True)
    found: dict[str, RecordFile] = {}
    for file in files:
        match = _WRITE_OUT.fullmatch(file.name)
        stem = match["task"] if match else file.stem
        task = next((task for task in tasks if stem == task or stem.endswith(f"_{task}")), stem)
        if results is not None and task not in results.reported and file != results.path:
            strange.append(LeftOut(what=str(file), reason=f"{results.path.name} has no task of that name"))
            continue  # of another evaluation
        found[task if task not in found else stem] = RecordFile(file)
    return found


def _holds_records(file: Path) -> bool:
    """Whether a `.json` holds records, as an array or one a line, and not one document."""
    with file.open("rb") as opened:
        head = opened.read(1 << 16)
    text = head.decode("utf-16" if head[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8", errors="replace")
    text = text.lstrip("\ufeff \t\r\n")
    return text.startswith("[") or bool(re.match(r'\{\s*"(doc_id|doc|arguments|resps)"', text))
