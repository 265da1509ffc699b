"""Following a recipe: its steps one after another, in one study folder; what a user must decide first is named."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from veridical.errors import UserError
from veridical.files.writing import make_folder
from veridical.items import Suite
from veridical.limits import limited
from veridical.models import LoadSettings
from veridical.models.protocol import LanguageModel
from veridical.progress import Progress, Silent
from veridical.studies.recipe import AskStep, Model, ReadoutStep, Recipe, ValidityStep, VaryStep
from veridical.studies.run import run
from veridical.studies.study import Study, open_study
from veridical.studies.validity_step import prepare_validity

CLASSIFY = "classify"


@dataclass(frozen=True, slots=True)
class Given:
    """What a user gives in addition to a recipe. `models` replace the recipe's; the rest is as in `run`.

    `dtype` takes precedence over the recipe's, which takes precedence over that of `loading`; arguments of the chat
    template in `loading` take precedence over the recipe's of the same name.
    """

    models: Sequence[str | LanguageModel] = ()
    data: Path | None = None
    data_dir: Path | None = None
    limit: int | None = None
    seed: int = 0
    dtype: str | None = None
    loading: LoadSettings = field(default_factory=LoadSettings)


def follow(recipe: Recipe, out: Path, given: Given | None = None, progress: Progress | None = None) -> Study:
    """Do a recipe's steps in the study folder `out`; one that was stopped goes on where it stopped.

    Models behind APIs are left out, and so is a benchmark of which the user has no copy; each with a message. Scores
    that predict are not analysed here, since families and sizes are to be looked at first: the command is named.

    Raises UserError where a step cannot be done: no model is left, the user's file is missing, or as `run` does.
    """
    return _Follower(recipe, out, given or Given(), progress or Silent()).follow()


@dataclass(frozen=True, slots=True)
class _Follower:
    recipe: Recipe
    out: Path
    given: Given
    progress: Progress

    def follow(self) -> Study:
        asked = self.given.models or self._models()
        self._check_data()
        failed = 0
        for number, step in enumerate(self.recipe.steps, 1):
            self.progress.say(f"{self.recipe.name}: step {number} of {len(self.recipe.steps)}, {_step_name(step.what)}")
            match step.what:
                case AskStep() as ask:
                    failed += self._ask(ask, asked)
                case ReadoutStep() as readout:
                    failed += self._readout(readout, asked)
                case VaryStep() as vary:
                    self._vary(vary)
                case ValidityStep() as validity:
                    models = () if self.given.models else self.recipe.models
                    self.progress.say(prepare_validity(self.out, validity, models))
        study = open_study(self.out)
        return Study(study.path, study.judgement, failed)

    def _models(self) -> list[str]:
        behind = [model.name for model in self.recipe.models if model.api]
        if behind:
            self.progress.say(f"left out, behind an API: {', '.join(behind)}")
        here = [model.name for model in self.recipe.models if not model.api]
        if not here:
            raise UserError(f"recipe {self.recipe.name!r}: all its models are behind APIs; name others with --model")
        return here

    def _check_data(self) -> None:
        """Raise UserError, before anything is asked, where a file that a step needs, or the folder, is not there."""
        from veridical.suites.commonsense.copies import Copy

        Copy(folder=self.given.data_dir)
        for step in self.recipe.steps:
            if step.vary is not None and not step.vary.suite and self.given.data is None:
                raise UserError(f"recipe {self.recipe.name!r} needs a file, --data FILE{self._data()}")
        takes_file = any(_takes_file(step.what) for step in self.recipe.steps)
        if self.given.data is not None and not takes_file:
            raise UserError(f"--data {self.given.data}: no step of recipe {self.recipe.name!r} reads a file")

    def _data(self) -> str:
        """What the recipe says of the user's file or folder, after what asks for it."""
        return f": {self.recipe.data}" if self.recipe.data else ""

    def _ask(self, ask: AskStep, models: Sequence[str | LanguageModel]) -> int:
        suites = [suite for name in ask.suites if (suite := self._suite(name, ask)) is not None]
        if not suites:
            raise UserError(
                f"recipe {self.recipe.name!r}: there is no copy of any of {', '.join(ask.suites)}; "
                f"give a folder of published files with --data-dir{self._data()}"
            )
        failed = 0
        grouped = self._by_mode(ask, models).items()
        for modes, settings in ((modes, one) for modes, asked in grouped for one in self._settings(asked)):
            failed += run(
                suites,
                prompts=ask.prompts,
                mode=modes,  # type: ignore[arg-type]  # checked when the recipe was read
                orders=ask.orders,
                max_new_tokens=ask.max_new_tokens,
                bases={model.name: model.base for model in self.recipe.models if model.base},
                limit=self.given.limit,
                **settings,
            ).failed
        return failed

    def _by_mode(
        self, ask: AskStep, models: Sequence[str | LanguageModel]
    ) -> dict[tuple[str, ...], list[str | LanguageModel]]:
        """The models by the modes in which they are asked: where there are both kinds, each in its own."""
        others = tuple(mode for mode in ask.mode if mode != CLASSIFY)
        if len(others) in (0, len(ask.mode)):
            return {ask.mode: list(models)}
        found: dict[tuple[str, ...], list[str | LanguageModel]] = {}
        for model in models:
            found.setdefault((CLASSIFY,) if self._classifies(model) else others, []).append(model)
        return found

    def _classifies(self, model: str | LanguageModel) -> bool:
        if not isinstance(model, str):
            return CLASSIFY in model.modes
        from veridical.models.sources import known_to_classify, resolve

        known = known_to_classify(resolve(model))
        return any(one.classifies for one in self.recipe.models if one.name == model) if known is None else known

    def _settings(self, models: Sequence[str | LanguageModel]) -> list[dict[str, Any]]:
        """What a step that asks models is given, once for all models that are loaded alike."""
        described = {model.name: model for model in self.recipe.models}
        alike: list[tuple[LoadSettings, list[str | LanguageModel]]] = []
        for given in models:
            loading = self._loading(described.get(given) if isinstance(given, str) else None)
            for known, members in alike:
                if known == loading:
                    members.append(given)
                    break
            else:
                alike.append((loading, [given]))
        same = {"seed": self.given.seed, "out": self.out, "progress": self.progress}
        return [{"model": members, **same, **loading.options()} for loading, members in alike]

    def _loading(self, described: Model | None) -> LoadSettings:
        """How a model that the recipe describes so is loaded."""
        loading = self.given.loading
        dtype = self.given.dtype or (described.dtype if described else None) or loading.dtype
        arguments = {**(described.arguments() if described else {}), **loading.template_args}
        return replace(loading, dtype=dtype, template_args=arguments)

    def _suite(self, name: str, ask: AskStep) -> Suite | None:
        """The suite of that name with its data; None, with a message, of a benchmark that the user has no copy of."""
        from veridical.suites.registry import Data, benchmarks, read

        if name in self._written():
            return read(str(self.out / name), Data())[0]
        data = Data(
            self.given.data if ask.data else None,
            self.given.data_dir,
            ask.shots,
            self.given.seed,
            few=self.given.limit is not None,
        )
        if name not in benchmarks():
            return read(name, Data(file=data.file))[0]
        try:
            suite, notes = read(name, data)
        except UserError as error:
            self.progress.say(f"left out: {error}")
            return None
        for note in notes:
            self.progress.say(note)
        return suite

    def _written(self) -> set[str]:
        return {step.vary.writes for step in self.recipe.steps if step.vary is not None}

    def _readout(self, wanted: ReadoutStep, models: Sequence[str | LanguageModel]) -> int:
        from veridical.readouts.crossfit import check_folds
        from veridical.readouts.rows import Rows
        from veridical.studies.readout import readout
        from veridical.suites.registry import Data, benchmarks, read

        whole = wanted.read_out_whole
        if whole and self.given.limit is not None:
            self.progress.say(f"--limit: {wanted.suite} is read out whole")
        data = Data(self.given.data if wanted.data else None)
        if wanted.suite in benchmarks():
            data = Data(data.file, self.given.data_dir)
        suite = read(wanted.suite, data)[0]
        if not whole and self.given.limit is not None:
            try:
                check_folds(Rows.of(limited(suite, self.given.limit, self.given.seed)))
            except UserError as error:  # a trial of the other steps need not fail here, after hours of asking
                self.progress.say(f"--limit {self.given.limit}: the readout of {wanted.suite} is left out: {error}")
                return 0
        failures = [
            readout(
                wanted.suite if data == Data() else suite,
                prompt=wanted.prompt,
                layer=wanted.layer,
                fit_on=wanted.fit_on or None,
                against=wanted.against,  # type: ignore[arg-type]  # checked where the recipe is read
                max_new_tokens=wanted.max_new_tokens,
                twin=wanted.twin,
                draws=wanted.draws,
                category_draws=wanted.category_draws,
                control_draws=wanted.control_draws,
                limit=None if whole else self.given.limit,
                **settings,
            ).failed
            for settings in self._settings(models)
        ]
        return sum(failures)

    def _vary(self, wanted: VaryStep) -> None:
        from veridical.variation import proposers
        from veridical.variation.builder import vary
        from veridical.variation.judging import chosen_judge
        from veridical.variation.problems import named_suite, read_files
        from veridical.variation.settings import VariationSettings
        from veridical.variation.tagging import load_tagger

        path = self.out / wanted.writes
        if path.exists():
            self.progress.say(f"{path} is there already, and is used as it is")
            return
        seeds = named_suite(wanted.suite) if wanted.suite else read_files([Path(str(self.given.data))])
        for note in seeds.notes:
            self.progress.say(note)
        loaded, tagger = [proposers.load(name) for name in wanted.proposers], load_tagger(None)
        make_folder(self.out)
        varied = vary(
            seeds,
            proposers=loaded,
            tagger=tagger,
            judge=chosen_judge(wanted.judge or None, self.progress),
            out=path,
            settings=VariationSettings(
                min_ratio=wanted.min_ratio, max_variants=wanted.max_variants, seed=self.given.seed
            ),
            limit=self.given.limit,
            progress=self.progress,
        )
        self.progress.say(f"{path}: {varied.variants:,} variants of {varied.seeds:,} seeds")


def _takes_file(what: AskStep | ReadoutStep | VaryStep | ValidityStep | None) -> bool:
    """Whether a step reads the file of --data."""
    match what:
        case AskStep(data=data) | ReadoutStep(data=data):
            return data
        case VaryStep(suite=suite):
            return not suite
        case _:
            return False


def _step_name(what: AskStep | ReadoutStep | VaryStep | ValidityStep | None) -> str:
    match what:
        case AskStep(suites=suites):
            return f"ask {', '.join(suites)}"
        case ReadoutStep(suite=suite):
            return f"read out {suite}"
        case VaryStep(suite=suite):
            return f"vary {suite or 'the seeds of --data'}"
        case _:
            return "validity"
