"""Reading suites out: ask models, keep their hidden states, fit readouts, judge everything together."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Literal, Unpack

from veridical.errors import UserError, unknown
from veridical.items import FULL, Suite
from veridical.judge.registry import measure_set
from veridical.limits import limited
from veridical.models import LoadOptions, LoadSettings
from veridical.models.protocol import LanguageModel, SpanReader
from veridical.progress import Progress, Silent
from veridical.readouts.analysis import Effort, cross, transferred
from veridical.readouts.crossfit import check_folds
from veridical.readouts.representation import compared_items, cosines, representations
from veridical.readouts.rows import Rows
from veridical.readouts.transfer import TransferTask
from veridical.runs.hidden import PENULTIMATE, StatesKey, read_hidden, resolve_layers
from veridical.runs.load import Run
from veridical.runs.plan import fitting_prompts
from veridical.runs.readouts import add_representation, read_cosines, write_cosines, write_readout
from veridical.studies.features import RunSource
from veridical.studies.fit_on import READOUT_MODES, fitted_on
from veridical.studies.loading import Loading, spelled
from veridical.studies.run import MAX_NEW_TOKENS, run
from veridical.studies.study import Study, default_out
from veridical.suites.registry import Data, read

COMPARE_PHRASES = ("imperfective", "imperfective-quads")
"""Measure sets of suites whose premise and hypothesis differ in aspect, so that the two phrases can be compared."""

DRAWS = {True: (1_000, 200), False: (200, 100)}
"""Draws of the readout's null and of the others by default, fitted on another suite or not: a cross-fitted null is five
fits with selection a draw."""


def readout(
    suite: str | Suite,
    *,
    model: str | LanguageModel | Sequence[str | LanguageModel],
    prompt: str | None = None,
    layer: int = PENULTIMATE,
    draws: int | None = None,
    category_draws: int | None = None,
    control_draws: int = 100,
    data: str | Path | None = None,
    fit_on: str | Path | Suite | None = None,
    against: Literal["loglikelihood", "generate"] = "loglikelihood",
    max_new_tokens: int = MAX_NEW_TOKENS,
    twin: bool = False,
    limit: int | None = None,
    seed: int = 0,
    out: str | Path | None = None,
    progress: Progress | None = None,
    **loading: Unpack[LoadOptions],
) -> Study:
    """Fit linear readouts to a model's hidden states and judge them together with its answers.

    The model is asked the suite by log-likelihood under one prompt, with every input, and the hidden state of the last
    prompt token is kept from the same passes: at every layer for the whole item, at `layer` for restricted inputs.
    What a study folder (`out`) already holds is neither asked nor read again.

    Args:
        suite: a built-in suite, a suite file, or a suite; `evidence` is fitted on `evidence-development`.
        data: a file in place of the suite's own items, for suites that read one.
        fit_on: a suite, a suite file or a built-in suite to select and fit on, in the place of that of `suite`; it is
            asked with the prompt and inputs of `suite`.
        against: the mode of the answers that the readout is set against: `loglikelihood`, or `generate`, for which the
            model also writes its answers, of `max_new_tokens` at most.
        twin: read out a twin of each model too, with the same configuration and tokenizer and weights initialised anew
            from `seed`. Model and twin are in memory together.
        prompt: the suite's first prompt that needs no generated reasoning, where None.
        layer: the readout's layer; 0 is the embedding, -2 the output of the penultimate block.
        draws: permutations for the null of the readout itself; 1,000, or 200 where it is cross-fitted.
        category_draws: permutations for restricted inputs, the readout with a category left out, the layer sweep and
            the baselines; 200, or 100 where it is cross-fitted.
        control_draws: random labellings of the control task.
        limit: at most this many sets of a suite that is cross-fitted.
        loading: how models given by name are loaded: the fields of `veridical.models.LoadSettings`.

    Raises:
        UserError: the input is at fault; the message is one line.
    """
    progress = progress or Silent()
    asked = _asked(suite, data, progress)
    name = _prompt(asked, prompt, against)
    fitted = fitted_on(suite if data is None else asked, asked, fit_on, name)
    draws, category_draws = (
        given if given is not None else default
        for given, default in zip((draws, category_draws), DRAWS[fitted is not None], strict=True)
    )
    if min(draws, category_draws, control_draws) < 1:
        raise UserError("--draws, --category-draws and --control-draws: give 1 or more")
    if fitted is not None and limit is not None:
        raise UserError(f"--limit: suite {asked.name!r} is fitted on {fitted.name!r} and read out whole")
    if fitted is None:
        check_folds(Rows.of(limited(asked, limit, seed)))
    else:
        TransferTask(Rows.of(fitted), Rows.of(asked))
    measure_set(asked.measures)
    inputs: dict[str, Sequence[int] | None] = {FULL: None} | {one: [layer] for one in asked.inputs if one != FULL}
    effort = Effort(draws, category_draws, control_draws, seed, against)
    loader = Loading(LoadSettings(**loading))
    models = [spelled(one) for one in ([model] if isinstance(model, str | LanguageModel) else model)]
    loader.check(models, ["loglikelihood", *([against] if against == "generate" else [])], local=True)
    if twin and loader.settings.engine == "ray":
        raise UserError("--twin and --engine ray: workers hold no twins of a model; give one of them")
    # Phrases are compared in this process, whoever answers.
    here = Loading(loader.settings.here())
    if twin:
        models = _with_twins(models, loader, seed, progress)
    given = {one if isinstance(one, str) else one.name: one for one in models}

    def read_out(study: Study) -> None:
        for one in study.runs:
            given_here = _is_given(one, given, loader.settings.dtype)
            if given_here and read_hidden(one.path, StatesKey(asked.name, name, FULL)) is not None:
                _read_out(one, asked, fitted, name, layer, effort, progress)
                if asked.measures in COMPARE_PHRASES:
                    load_model = partial(here.load, given[one.manifest.model.name], progress)
                    _compare_phrases(one, asked.name, name, load_model)

    ask = partial(
        run,
        model=models,
        prompts=name,
        limit=limit,
        seed=seed,
        out=out if out is not None else default_out([asked]),
        orders=1,
        max_new_tokens=max_new_tokens,
        progress=progress,
        **loading,
    )
    if against == "generate":
        ask([asked], mode="generate", inputs=[FULL])
    return ask(
        [asked] if fitted is None else [asked, fitted],
        inputs=list(inputs),
        hidden_layers=inputs,
        before_judging=read_out,
    )


def _asked(suite: str | Suite, data: str | Path | None, progress: Progress) -> Suite:
    """The suite to be read out; what is to be said of how its data were read is said."""
    if isinstance(suite, Suite):
        if data is not None:
            raise UserError("--data goes with a suite given by name")
        return suite
    found, notes = read(suite, Data(file=None if data is None else Path(data)))
    for note in notes:
        progress.say(note)
    return found


def _with_twins(
    models: Sequence[str | LanguageModel], loading: Loading, seed: int, progress: Progress
) -> list[str | LanguageModel]:
    """Every model, loaded, with its twin of random weights after it."""
    from veridical.models.twin import twin

    found: list[str | LanguageModel] = []
    for given in models:
        model = loading.load(given, progress)
        found += [model, twin(model, seed, loading.settings.batch_tokens)]
    return found


def _prompt(suite: Suite, given: str | None, against: str) -> str:
    """The prompt whose states are read: one without reasoning, and for answers that are written one that asks."""
    if against not in READOUT_MODES:
        raise unknown("mode to set a readout against:", against, READOUT_MODES)
    fitting = fitting_prompts(suite, "loglikelihood")
    if against == "generate":
        written = fitting_prompts(suite, "generate")
        fitting = tuple(prompt for prompt in fitting if prompt in written)
        if not fitting:
            raise UserError(f"--against generate: suite {suite.name!r} has no prompt whose answer a model could write")
    if given is None:
        if not fitting:
            raise UserError(f"suite {suite.name!r} has no prompt that can be read out: each asks for reasoning")
        return fitting[0].name
    if given not in [prompt.name for prompt in suite.prompts]:
        raise unknown("prompt", given, [prompt.name for prompt in suite.prompts])
    if given not in [prompt.name for prompt in fitting]:
        raise UserError(f"prompt {given!r} asks the model to reason: what it would write is not read out; give another")
    return given


def _is_given(run: Run, given: Mapping[str, str | LanguageModel], dtype: str) -> bool:
    """Whether a run of the study is of a model that this call was given, in its dtype."""
    model = given.get(run.manifest.model.name)
    if model is None:
        return False
    if isinstance(model, str):
        return dtype in ("auto", run.manifest.model.fingerprint.get("dtype"))
    return model.fingerprint.digest == run.manifest.model.digest


def _read_out(
    run: Run, asked: Suite, fitted: Suite | None, prompt: str, layer: int, effort: Effort, progress: Progress
) -> None:
    """The analysis of one run, stored in it."""
    source = RunSource(run, prompt)
    n_blocks = max(source.hidden(asked.name, FULL).layers)
    at = resolve_layers([layer], n_blocks)[0]
    judged = _read(source, run.suites[asked.name], at, progress)
    if fitted is None:
        check_folds(judged)
        stored, draws = cross(source, judged, at, n_blocks, effort, progress)
    else:
        learnt = _read(source, run.suites[fitted.name], at, progress)
        stored, draws = transferred(source, learnt, judged, at, n_blocks, effort, progress)
    write_readout(run.path, stored, draws)


def _read(source: RunSource, suite: Suite, layer: int, progress: Progress) -> Rows:
    """The items of a suite whose states are stored under every input; those that the model refused are counted."""
    rows = Rows.of(suite)
    read = frozenset(rows.items)
    for input in dict.fromkeys((FULL, *suite.inputs)):
        read &= source.hidden(suite.name, input).finite([layer])
    if lacking := len(rows) - len(read):
        progress.say(f"{suite.name}: {lacking} of {len(rows)} items are left out: the model has no states of them")
    return rows.part(read)


def _compare_phrases(run: Run, suite: str, prompt: str, load_model: Callable[[], LanguageModel]) -> None:
    """Add the representation analysis to a stored readout; the phrases are read once a run."""
    asked = run.suites[suite]
    items = compared_items(asked)
    ids = [item.id for item in items]
    values = read_cosines(run.path, suite, ids)
    if values is None:
        model = load_model()
        if not isinstance(model, SpanReader):
            return
        values = cosines(model, items)
        write_cosines(run.path, suite, ids, values)
    frame = run.frame.filter(suite=suite, prompt=prompt, input=FULL, mode="loglikelihood", order=0, repeat=0)
    add_representation(run.path, suite, prompt, representations(asked, items, values, frame))
