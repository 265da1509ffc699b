"""The harness's own tasks on our engine, with its own results and samples files."""

from __future__ import annotations

import contextlib
import json
import math
import sys
import traceback
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from veridical.errors import UserError
from veridical.files.writing import check_path, writable_folder
from veridical.installing import install_command
from veridical.models import LoadSettings

if TYPE_CHECKING:
    from veridical.interop.harness.tasks import Tasks

EXTRAS = ("hf", "lm-eval")


@dataclass(frozen=True, slots=True)
class Settings:
    """How the harness is to ask; names and defaults are its own, but `fewshot_as_multiturn` is None for its default.

    `limit` below 1 is a share of each task's documents. `seed` is all four of the harness's, its own where None.
    """

    num_fewshot: int | None = None
    limit: float | None = None
    apply_chat_template: bool = False
    system_instruction: str | None = None
    fewshot_as_multiturn: bool | None = None
    gen_kwargs: Mapping[str, object] = field(default_factory=dict)
    seed: int | None = None
    predict_only: bool = False
    confirm_run_unsafe_code: bool = False


@dataclass(frozen=True, slots=True)
class ModelSettings:
    """How the model is loaded and read. `max_length` is the harness's: what is longer is cut on the left."""

    loading: LoadSettings = field(default_factory=LoadSettings)
    max_length: int | None = None
    think_end_token: str | None = None

    def arguments(self, model: str) -> dict[str, object]:
        """The arguments of `EngineLM`, those alone that say something: they stand in the results file."""
        given = {
            "dtype": self.loading.dtype,
            "device": self.loading.device,
            "device_map": self.loading.device_map,
            "batch_tokens": self.loading.batch_tokens,
            "max_length": self.max_length,
            "think_end_token": self.think_end_token,
            "chat_template_args": dict(self.loading.template_args) or None,
        }
        return {"pretrained": model} | {name: value for name, value in given.items() if value is not None}


@dataclass(frozen=True, slots=True)
class Evaluated:
    """What the harness found of one model: its results, its samples where they were logged, and its files."""

    model: str
    results: dict[str, Any]
    samples: dict[str, Any]
    files: tuple[Path, ...] = ()


def check_installed() -> None:
    """Raise UserError where the harness is not installed."""
    if find_spec("lm_eval") is None:
        raise UserError(f"the harness's tasks need lm-eval, which is not installed: {install_command(*EXTRAS)}")


def find_tasks(names: Sequence[str], include_paths: Sequence[Path] = ()) -> Tasks:
    """The tasks, groups and tags of these names (patterns, and paths of YAML files), loaded and ready to be asked.

    Raises UserError for a name that matches nothing, a folder that is not there, and a task that cannot be loaded.
    """
    check_installed()
    for path in include_paths:
        check_path(path)
        if not path.is_dir():
            raise UserError(f"--include-path {path}: no such folder")
    wanted = [name for given in names for name in given.split(",") if name]
    if not wanted:
        raise UserError("no task is given: name at least one with --tasks ('lm-eval ls tasks' lists them)")
    if include_paths or all(map(_is_file, wanted)):
        # Reading the harness's own 14,000 takes ten seconds, and names of the user's go before them anyway.
        tasks = _tasks(include_paths, own=False)
        with contextlib.suppress(UserError):
            tasks.prepare(_matching(tasks, wanted))
            return tasks
    tasks = _tasks(include_paths, own=True)
    tasks.prepare(_matching(tasks, wanted))
    return tasks


def _tasks(include_paths: Sequence[Path], *, own: bool) -> Tasks:
    from veridical.interop.harness.tasks import Tasks

    return Tasks(include_paths, own=own)


def _is_file(name: str) -> bool:
    return name.endswith((".yaml", ".yml"))


def _matching(tasks: Tasks, wanted: Sequence[str]) -> list[str]:
    found: dict[str, None] = {}
    for name in wanted:
        if _is_file(name):
            if not Path(name).is_file():
                raise UserError(f"--tasks {name}: no such file")
            found[str(Path(name).absolute())] = None
        elif matches := tasks.match_tasks([name]):
            found.update(dict.fromkeys(matches))
        else:
            raise _unreadable(name, tasks.include_paths) or _unknown(name, tasks.all_tasks)
    return list(found)


def _unreadable(name: str, folders: Sequence[Path]) -> UserError | None:
    """The error for a file that the harness skips silently because it is not valid YAML; None where there is none."""
    files = [file for folder in folders for file in sorted(folder.rglob("*.yaml")) if file.stem == name]
    if not files:
        return None
    return UserError(
        f"unknown task {name!r}: {files[0]} is not valid YAML, or names its task otherwise ('task: {name}')"
    )


def _unknown(name: str, known: Sequence[str]) -> UserError:
    """The harness knows some ten thousand names, so they are not listed."""
    nearest = get_close_matches(name, known, n=1, cutoff=0.5)
    hint = f": did you mean {nearest[0]!r}?" if nearest else ";"
    return UserError(
        f"unknown task {name!r}{hint} 'lm-eval ls tasks' lists the harness's own, --include-path adds yours"
    )


def run_tasks(
    tasks: Tasks,
    model: str,
    *,
    settings: Settings | None = None,
    model_settings: ModelSettings | None = None,
    out: Path | None = None,
    log_samples: bool = False,
) -> Evaluated:
    """Ask one model the tasks and, with `out`, save what the harness saves, in a folder of the model's name in it.

    Raises UserError for a model that cannot be loaded or asked, and for a folder that cannot be written to.
    """
    from lm_eval import simple_evaluate
    from lm_eval.loggers import EvaluationTracker

    from veridical.interop.harness.model import NAME

    settings, model_settings = settings or Settings(), model_settings or ModelSettings()
    if out is not None and out.suffix == ".json":
        raise UserError(f"--out {out}: name a folder; the harness names the files in it")
    tasks.check_safe(allowed=settings.confirm_run_unsafe_code)
    tasks.check_shots(settings.num_fewshot or 0)
    tracker = EvaluationTracker(output_path=None if out is None else str(out))
    multiturn = settings.apply_chat_template if settings.fewshot_as_multiturn is None else settings.fewshot_as_multiturn
    if multiturn and not settings.apply_chat_template:
        raise UserError("--fewshot-as-multiturn makes turns of a chat: give --apply-chat-template too")
    seeds = ("random_seed", "numpy_random_seed", "torch_random_seed", "fewshot_random_seed")

    def evaluate() -> dict[str, Any]:
        # Standard output is for results, and the harness writes to it.
        with contextlib.redirect_stdout(sys.stderr):
            found: dict[str, Any] = simple_evaluate(
                model=NAME,
                model_args=model_settings.arguments(model),
                tasks=tasks.names,
                task_manager=tasks,
                evaluation_tracker=tracker,
                num_fewshot=settings.num_fewshot,
                limit=settings.limit,
                log_samples=log_samples or settings.predict_only,
                apply_chat_template=settings.apply_chat_template,
                system_instruction=settings.system_instruction,
                fewshot_as_multiturn=multiturn,
                gen_kwargs=dict(settings.gen_kwargs) or None,
                predict_only=settings.predict_only,
                confirm_run_unsafe_code=settings.confirm_run_unsafe_code,
                **({} if settings.seed is None else dict.fromkeys(seeds, settings.seed)),
            )
        return found

    if out is None:
        with _one_line_errors():
            results = evaluate()
        return Evaluated(model, results, results.pop("samples", {}))
    with writable_folder(out):
        with _one_line_errors():
            results = evaluate()
        samples = results.pop("samples", {})
        return Evaluated(model, results, samples, _saved(tracker, out, results, samples))


@contextlib.contextmanager
def _one_line_errors() -> Iterator[None]:
    """Errors of the harness or of a task's own code as one-line messages; those of Veridical keep their traceback."""
    try:
        yield
    except (UserError, OSError):
        raise
    except Exception as error:
        frames = [
            (str(frame.f_globals.get("__name__")), line) for frame, line in traceback.walk_tb(error.__traceback__)
        ]
        modules = [name for name, _ in frames]
        if any(name.startswith("veridical.") and name != __name__ for name in modules):
            raise
        raise UserError(
            f"the harness stopped at {modules[-1]}, line {frames[-1][1]}, with a {type(error).__name__}; is the task's "
            "code in order, and does it take these settings? VERIDICAL_DEBUG=1 shows the details"
        ) from error


def _saved(tracker: Any, out: Path, results: dict[str, Any], samples: dict[str, Any]) -> tuple[Path, ...]:
    """The files that the harness wrote. It swallows what goes wrong there, so they are looked for."""
    tracker.save_results_aggregated(results=results, samples=samples or None)
    for name in results["configs"] if samples else ():
        tracker.save_results_samples(task_name=name, samples=samples[name])
    folder = out / str(tracker.general_config_tracker.model_name_sanitized)
    date = getattr(tracker, "date_id", "-")
    wanted = [
        f"results_{date}.json",
        *(f"samples_{name}_{date}.jsonl" for name in (results["configs"] if samples else ())),
    ]
    if lacking := [name for name in wanted if not (folder / name).is_file()]:
        raise UserError(f"the harness could not write {folder / lacking[0]}: is the disk full, or the name too long?")
    return tuple(folder / name for name in wanted)


def as_json(value: Any) -> Any:
    """A harness's results as strict JSON has them: non-finite numbers become null, objects unknown to JSON their
    text."""
    from lm_eval.utils import handle_non_serializable

    return _finite(json.loads(json.dumps(value, default=handle_non_serializable)))


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _finite(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_finite(inner) for inner in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
