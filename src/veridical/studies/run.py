"""Asking models the questions of suites: from the options given to runs in a study folder."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Unpack

from veridical.cluster.execute import execute_remotely
from veridical.cluster.remote_model import RemoteModel
from veridical.collector import collector_paused
from veridical.errors import UserError
from veridical.files.writing import check_path, writable_folder
from veridical.items import FULL, Mode, Suite
from veridical.judge.registry import measure_set
from veridical.library_messages import collected
from veridical.models import LoadOptions, LoadSettings
from veridical.models.protocol import GenerationSettings, LanguageModel, LoadedFromFiles, LoadingNotes, Probed
from veridical.progress import Progress, Silent
from veridical.runs import manifest as manifests
from veridical.runs.execute import RunTally, execute
from veridical.runs.job import Job
from veridical.runs.load import Run, open_run, opened, run_folders
from veridical.runs.plan import AskOptions, Plan, check_names, plan
from veridical.runs.states import Layers
from veridical.runs.store import RunStore, check_items, lacking_suites, restore_items
from veridical.studies.judged import Judgement
from veridical.studies.loading import Loading, check_modes, spelled
from veridical.studies.remarks import lost_text
from veridical.studies.study import Study, default_out, run_folder
from veridical.suites.registry import Data, read
from veridical.suites.tables.options import WELL_KNOWN, TableOptions
from veridical.wording import counted

MAX_NEW_TOKENS = 512


def run(
    suites: str | Path | Suite | Sequence[str | Path | Suite],
    *,
    model: str | LanguageModel | Sequence[str | LanguageModel],
    prompts: str | Sequence[str] | None = None,
    mode: Mode | Sequence[Mode] = "loglikelihood",
    inputs: Sequence[str] | None = None,
    data: str | Path | None = None,
    data_dir: str | Path | None = None,
    shots: int = 0,
    limit: int | None = None,
    seed: int = 0,
    out: str | Path | None = None,
    orders: int | None = None,
    repeats: int = 1,
    max_new_tokens: int = MAX_NEW_TOKENS,
    hidden_layers: Layers | None = None,
    bases: Mapping[str, str] | None = None,
    table: TableOptions | None = None,
    before_judging: Callable[[Study], None] | None = None,
    progress: Progress | None = None,
    **loading: Unpack[LoadOptions],
) -> Study:
    """Ask models the questions of suites, store the answers, judge them and write the report.

    What a study folder (`out`) already holds is not asked again, so the same call resumes one that was
    stopped; more items, prompts, modes or models extend it, and all in the folder is judged together.

    Args:
        suites: names of built-in suites, suite files, tables of items, or suites.
        model: models as the command line spells them (`smollm2`, `hf/ORG/NAME`, `hf/PATH`), or objects that
            keep the protocol of `veridical.models.protocol.LanguageModel`.
        prompts: the prompts' names; every prompt that fits the mode where None.
        mode: `loglikelihood`, `generate` or both; `classify` for sequence classifiers, which have no other.
        inputs: what to show of the items; `full` and every restricted input of the suite where None.
        data: a file in place of the suite's own items, for suites that read one.
        data_dir: a folder of published files, in which each benchmark finds its own.
        shots: how many solved items to show before each that is asked (benchmarks), chosen by `seed`.
        limit: at most this many item sets of each suite, chosen by `seed`; a larger limit only adds sets.
        orders: how many rotations of the label order to ask (0: all); each prompt's own number where None.
        repeats: how often each question is asked; how often the answer changes is then measured.
        hidden_layers: by input, layers whose hidden state of the last prompt token is stored, from the passes that
            score, in the run's folder `hidden`: `{"full": [0, -2]}` (0 is the embedding, -2 the output of the
            penultimate block), or None for all.
        bases: by a model's name, the model that it was fine-tuned from; kept in its manifest, for home advantage.
        table: which columns of a table (CSV, TSV, JSONL, Parquet, a folder of `datasets`) hold what; where None they
            are looked for under well-known names.
        before_judging: called with the study once everything is asked, to add to its runs what is judged with them.
        loading: how models given by name are loaded (`dtype`, `device`, `template_args`, ...): the fields of
            `veridical.models.LoadSettings`.

    Raises:
        UserError: the input is at fault; the message is one line.
    """
    progress = progress or Silent()
    given = [suites] if isinstance(suites, str | Path | Suite) else suites
    names = [str(one) if isinstance(one, Path) else one for one in given]
    models = [spelled(one) for one in ([model] if isinstance(model, str | LanguageModel) else model)]
    options = AskOptions(
        modes=tuple(dict.fromkeys([mode] if isinstance(mode, str) else mode)),
        prompts=_names(prompts),
        inputs=_names(inputs),
        limit=limit,
        orders=orders,
        seed=seed,
        repeats=repeats,
    )
    if not names:
        raise UserError("no suite is given: name at least one, built in ('veridical suites' lists them) or a file")
    if repeats < 1:
        raise UserError(f"--repeats {repeats}: give 1 or more")
    if max_new_tokens < 1:
        raise UserError(f"--max-new-tokens {max_new_tokens}: give 1 or more")
    if not models:
        raise UserError("no model is given: name at least one with --model")
    given_data = Data(_path(data), _path(data_dir), shots, seed, limit is not None, table or WELL_KNOWN)
    plans = _plans(names, options, given_data)
    study = Path(out) if out is not None else default_out(names)
    settings = GenerationSettings(max_new_tokens)
    loader = Loading(LoadSettings(**loading))
    loader.check(models, options.modes)
    _check_study(study, plans)
    for one in models:
        loader.check_stored(study, one, _settings(options, settings))
    failed = 0
    with writable_folder(study):
        for folder in run_folders(study):
            restore_items(folder, plans)
        for line in (line for one in plans for line in one.skipped):
            progress.say(line)
        for one in models:
            with loader.opened(one, progress) as asked:
                check_modes(asked.name, asked.modes, options.modes)
                base = (bases or {}).get(asked.name, "")
                failed += _ask(asked, study, plans, options, settings, hidden_layers, progress, base)
                del asked
        result = Study(study, Judgement(_with_questions(study, progress)), failed)
        if before_judging is not None:
            before_judging(result)
        progress.say("judging")
        result.write()
    return result


def _with_questions(study: Path, progress: Progress) -> tuple[Run, ...]:
    """The runs of a study, less those (of other models) that were stopped before they asked, or are damaged."""
    judged: list[Run] = []
    refused: list[UserError] = []
    for run in opened([study]):
        try:
            if run.asked:
                run.check()
                judged.append(run)
            else:
                progress.say(f"{run.path}: no requests stored; left out")
        except UserError as error:
            refused.append(error)
    if refused and not judged:
        raise refused[0]
    for one in refused:
        progress.say(f"left out: {one}")
    return tuple(judged)


def _names(given: str | Sequence[str] | None) -> tuple[str, ...] | None:
    if given is None:
        return None
    return (given,) if isinstance(given, str) else tuple(given) or None


def _path(given: str | Path | None) -> Path | None:
    return None if given is None else Path(given)


def _plans(names: Sequence[str | Suite], options: AskOptions, data: Data) -> list[Plan]:
    with collector_paused():  # also while sets are chosen: they are chosen among all of them
        return _plans_of(names, options, data)


def _plans_of(names: Sequence[str | Suite], options: AskOptions, data: Data) -> list[Plan]:
    _check_data(names, data)
    suites: dict[str, Suite] = {}
    notes: dict[str, tuple[str, ...]] = {}
    for suite, found in ((s, ()) if isinstance(s, Suite) else read(s, data) for s in names):
        if suites.setdefault(suite.name, suite).content_hash != suite.content_hash:
            raise UserError(f"two different suites are named {suite.name!r}: ask them in calls of their own")
        notes[suite.name] = found
    check_names(list(suites.values()), options)
    for suite in suites.values():
        measure_set(suite.measures)
    plans = [plan(suite, options) for suite in suites.values()]
    return [replace(one, skipped=(*notes[one.suite.name], *one.skipped)) for one in plans]


def _check_data(names: Sequence[str | Suite], data: Data) -> None:
    if data.file is not None and len(names) != 1:
        raise UserError(f"--data goes with one suite, not with {len(names)}; --data-dir takes a folder of files")
    if data.file is not None and data.folder is not None:
        raise UserError("--data and --data-dir: give one of them")
    if data.shots < 0:
        raise UserError(f"--shots {data.shots}: give 0 or more")


def _check_study(study: Path, plans: Sequence[Plan]) -> None:
    """Raise UserError where the folder cannot take these suites."""
    check_path(study)
    if manifests.is_run(study):
        raise UserError(f"{study} is a run, not a study: give the folder above it, {study.parent}, as --out")
    folders = run_folders(study)
    if not folders and (study / "report.html").exists():
        raise UserError(f"{study} holds a report.html but no run: use another --out")
    for folder in folders:
        manifests.check_suites(folder, open_run(folder).manifest, _suite_entries(plans))
        if not lacking_suites(folder) <= {one.suite.name for one in plans}:
            check_items(folder)


def _ask(
    model: LanguageModel,
    study: Path,
    plans: Sequence[Plan],
    options: AskOptions,
    settings: GenerationSettings,
    hidden_layers: Layers | None,
    progress: Progress,
    base: str,
) -> int:
    """Ask one model all plans; gives the number of requests that failed."""
    with collected() as warnings:
        if isinstance(model, RemoteModel):
            job = model.begin(plans, settings, progress)
        else:
            job = Job.begin(model, plans, settings, progress)
        folder = run_folder(study, model)
        manifest = _manifest(model, plans, options, settings, base)
        if isinstance(model, Probed) and not manifests.is_run(folder):
            entry = manifest.model.model_copy(update={"probes": asdict(model.probe())})
            manifest = manifest.model_copy(update={"model": entry})
        store = RunStore(folder, manifest, plans)
        if store.lost:
            progress.say(f"{folder}: {lost_text(store.lost)}")
        if isinstance(model, RemoteModel):
            tally, warned = execute_remotely(model, store, job, progress, hidden_layers)
            warnings.extend(warned)
        else:
            tally = execute(model, store, job, progress, hidden_layers)
    stored = open_run(folder)
    # A large run whose answers are all stored already is not read for counts that are in its manifest.
    changed = tally.n_answered or tally.n_failed or stored.manifest.notes.get("asks") != stored.asks.height
    store.note(stored.notes() if changed else stored.manifest.notes, warnings)
    progress.say(_summary(model.name, tally))
    return tally.n_failed


def _summary(name: str, tally: RunTally) -> str:
    parts = [f"{name}: {counted(tally.n_answered, 'request')} answered"]
    if tally.n_stored:
        parts.append(f"{tally.n_stored:,} were stored before")
    if tally.n_failed:
        parts.append(f"{tally.n_failed:,} failed (the first: {tally.first_failure}): the same call asks them again")
    return "; ".join(parts)


def _suite_entries(plans: Sequence[Plan]) -> tuple[manifests.SuiteEntry, ...]:
    return tuple(
        manifests.SuiteEntry(
            name=p.suite.name, version=p.suite.version, content_hash=p.suite.content_hash, shots=p.suite.shots
        )
        for p in plans
    )


def _settings(options: AskOptions, settings: GenerationSettings) -> manifests.RunSettings:
    generates = "generate" in options.modes
    return manifests.RunSettings(seed=options.seed, max_new_tokens=settings.max_new_tokens if generates else None)


def _manifest(
    model: LanguageModel, plans: Sequence[Plan], options: AskOptions, settings: GenerationSettings, base: str
) -> manifests.Manifest:
    created = manifests.now()
    loading = model.loading if isinstance(model, LoadedFromFiles) else LoadingNotes()
    call = manifests.Call(
        created=created,
        suites=tuple(p.suite.name for p in plans),
        prompts={p.suite.name: tuple(dict.fromkeys(block.prompt for block in p.asks.blocks)) for p in plans},
        modes=options.modes,
        inputs=tuple(dict.fromkeys((FULL, *(block.input for p in plans for block in p.asks.blocks)))),
        limit=options.limit,
        orders=options.orders,
        packages=manifests.package_versions(),
    )
    return manifests.Manifest(
        created=created,
        model=manifests.ModelEntry(
            name=model.name,
            fingerprint=dict(model.fingerprint.parts),
            digest=model.fingerprint.digest,
            n_parameters=model.n_parameters,
            unused_weights=loading.unused_weights,
            remarks=loading.remarks,
            warnings=loading.warnings,
            base=base,
        ),
        suites=_suite_entries(plans),
        settings=_settings(options, settings),
        calls=(call,),
    )
