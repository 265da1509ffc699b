"""`vary`: seeds in, a suite file of seeds and their variants out, with the counts of every filter.

Seeds go through in chunks, so that memory does not grow with their number; only the ids of items are kept, by which
no problem is asked twice.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from importlib.metadata import version
from itertools import islice
from pathlib import Path

from veridical.errors import UserError
from veridical.files.targets import regular_target
from veridical.files.writing import replace
from veridical.items import Factor, Item
from veridical.progress import Progress, Silent
from veridical.variation.drawing import draw
from veridical.variation.filters import fill_all, make_variant, offered, plausible, tag_filled, tagged_alike
from veridical.variation.judging import Judge, judged
from veridical.variation.layout import frame, lines, proposed_by, with_factors, with_gain
from veridical.variation.nouns import Seed, Target, Variant, WordPair
from veridical.variation.protocol import Proposal, Proposer, Slot
from veridical.variation.seeds import SEED_GROUPING, Seeds
from veridical.variation.settings import VariationSettings
from veridical.variation.stages import Stages
from veridical.variation.tagging import TaggedTokens, Tagger
from veridical.variation.targets import find_targets
from veridical.variation.words import form
from veridical.variation.writer import SuiteWriter

CHUNK = 256
"""Seeds in a chunk: a proposer's batches are full, and what is proposed for all of them is small."""
SCHEMA = "veridical.stages/1"


@dataclass(frozen=True, slots=True)
class Varied:
    """What was made: counts of items as they stand in the file, and the stages."""

    path: Path
    stages: Stages
    seeds: int
    seeds_with_variants: int
    variants: int
    by_word_class: dict[str, int]
    by_proposer: dict[str, int]
    """With those that another proposer proposed as well."""
    targets: int = 0
    """Words to replace, of all seeds."""
    repeated_targets: int = 0
    """Those that stand more than once in a text of their seed."""

    @property
    def mean_variants(self) -> float:
        """Variants a seed, seeds without any included."""
        return self.variants / self.seeds


def stages_path(out: Path) -> Path:
    """Where the counts of a file of variants are. Raises UserError for a path that names no file."""
    if not out.name:
        raise UserError(f"cannot write {out}: a folder; name a file")
    return out.with_name(f"{out.name}.stages.json")


def vary(
    seeds: Seeds,
    *,
    proposers: Sequence[Proposer],
    tagger: Tagger,
    out: Path,
    judge: Judge | None = None,
    settings: VariationSettings | None = None,
    limit: int | None = None,
    progress: Progress | None = None,
) -> Varied:
    """Make the variants of the first `limit` seeds (all without one), and write them with their seeds to `out`.

    Each proposer makes variants of its own, at most `settings.max_variants` a seed; what several make is one variant.
    A `judge` bounds how much less likely a text may become, and ranks what is left (`veridical.variation.judging`).
    The counts go to `stages_path(out)`. Equal seeds, probabilities, tags and settings give the same bytes.
    Raises UserError where there are no seeds, where two proposers have one name, and where `out` cannot be written.
    """
    names = [proposer.name for proposer in proposers]
    if not names or len(set(names)) < len(names):
        raise UserError(f"proposers {', '.join(map(repr, names)) or '(none)'}: name one or more, each once")
    for path in (out, stages_path(out)):
        regular_target(path)
    settings, progress, stages = settings or VariationSettings(), progress or Silent(), Stages()
    ids, total = _all_ids(seeds, stages, limit)
    run = _Run(seeds, tuple(proposers), tagger, judge, settings, stages, ids, dict.fromkeys(names, 0), Counter())
    counts: Counter[str] = Counter()
    groupings = [SEED_GROUPING, *([seeds.grouping] if seeds.grouping else [])]
    header = frame(seeds, names, settings)
    with SuiteWriter(out, header, groupings) as writer, progress.steps("varying", total) as step:
        for seed, variants in run.varied(_fresh(seeds, Stages(), limit)):
            for item, memberships in lines(seed, variants, seeds.grouping):
                writer.write(item, memberships)
            counts["seeds"] += len(seed.items)
            counts["with variants"] += len(seed.items) if variants else 0
            counts.update(variant.target.word_class for variant in variants for _ in variant.items)
            step()
        writer.finish()
    by_class = {name: counts[name] for name in ("noun", "verb", "adjective", "adverb")}
    varied = Varied(
        out,
        stages,
        counts["seeds"],
        counts["with variants"],
        sum(by_class.values()),
        by_class,
        run.by_proposer,
        run.targets["all"],
        run.targets["repeated"],
    )
    _write_stages(varied, run, limit)
    return varied


def _all_ids(seeds: Seeds, stages: Stages, limit: int | None) -> tuple[set[int], int]:
    """The ids of all seeds' items, which no variant may have, and the number of seeds. Faults of input show here."""
    ids: set[int] = set()
    total = 0
    for seed in _fresh(seeds, stages, limit):
        ids.update(int(item.id, 16) for item in seed.items)
        total += 1
    if not total:
        counts = "; ".join(f"{stage.name}: {stage.left:,} of {stage.entered:,}" for stage in stages)
        raise UserError(
            f"{seeds.source}: no seed to vary{f' ({counts})' if counts else ''}; "
            "give problems with premise, hypothesis and label"
        )
    return ids, total


def _fresh(seeds: Seeds, stages: Stages, limit: int | None) -> Iterator[Seed]:
    """The first seeds that were not read before."""
    seen: set[int] = set()

    def first_time(seed: Seed) -> bool:
        own = {int(item.id, 16) for item in seed.items}
        fresh = len(own) == len(seed.items) and not own & seen
        seen.update(own)
        return stages.passes("not read before", "seeds", fresh, seed.name)

    return islice((seed for seed in seeds.read(stages) if first_time(seed)), limit)


@dataclass(frozen=True, slots=True)
class _Run:
    """The way of a chunk of seeds through all stages."""

    seeds: Seeds
    proposers: tuple[Proposer, ...]
    tagger: Tagger
    judge: Judge | None
    settings: VariationSettings
    stages: Stages
    ids: set[int]
    by_proposer: dict[str, int]
    targets: Counter[str]

    def varied(self, seeds: Iterable[Seed]) -> Iterator[tuple[Seed, list[Variant]]]:
        """Every seed, with the factors added to its items, and its variants."""
        described = map(self._described, seeds)
        while chunk := list(islice(described, CHUNK)):
            yield from self._chunk(chunk)

    def _described(self, seed: Seed) -> Seed:
        """The seed, with the source of its items and, where there is one proposer, its name among their factors."""
        items = tuple(with_factors(item, self._factors(item)) for item in seed.items)
        return Seed(seed.name, items, seed.members)

    def _factors(self, item: Item) -> dict[str, Factor]:
        alone = self.proposers[0].name if len(self.proposers) == 1 else None
        return {
            "source": item.factors.get("source", self.seeds.source),
            "label": str(item.factors.get("label", " or ".join(item.gold))),
            **({"proposer": alone} if alone else {}),
            "sample_seed": self.settings.seed,
        }

    def _chunk(self, chunk: Sequence[Seed]) -> Iterator[tuple[Seed, list[Variant]]]:
        texts = list(dict.fromkeys(text for seed in chunk for text in seed.texts))
        tokens = dict(zip(texts, self.tagger.tag(texts), strict=True))
        targets = [find_targets(seed, tokens, self.seeds.design, self.stages, self.settings.tag) for seed in chunk]
        every = [target for found in targets for target in found]
        self.targets.update(all=len(every), repeated=sum(target.repeated for target in every))
        found = [self._proposed(proposer, chunk, targets, tokens) for proposer in self.proposers]
        for position, seed in enumerate(chunk):
            own = {proposer.name: made[position] for proposer, made in zip(self.proposers, found, strict=True)}
            yield seed, self._chosen(seed, own)

    def _proposed(
        self, proposer: Proposer, chunk: Sequence[Seed], targets: list[list[Target]], tokens: dict[str, TaggedTokens]
    ) -> list[list[Variant]]:
        """The variants of every seed of a chunk that one proposer makes and that pass every filter."""
        proposals = self._proposals(proposer, [target for found in targets for target in found])
        pairs = [self._plausible(*of_seed, proposals, tokens) for of_seed in zip(chunk, targets, strict=True)]
        flat = [pair for found in pairs for pair in found]
        filled = fill_all(flat, tokens)
        alike = set(tagged_alike(flat, filled, tag_filled(filled, self.tagger), self.stages, self.settings.tag))
        dropped = self.seeds.design.dropped_factors
        made = [
            [make_variant(seed, pair, filled[pair], dropped) for pair in found if pair in alike]
            for seed, found in zip(chunk, pairs, strict=True)
        ]
        kept = [self._keeping(seed, variants) for seed, variants in zip(chunk, made, strict=True)]
        return kept if self.judge is None else judged(chunk, kept, self.judge, self.settings, self.stages)

    def _proposals(self, proposer: Proposer, targets: Sequence[Target]) -> dict[Slot, Proposal]:
        slots = list(dict.fromkeys(slot for target in targets for slot in target.slots))
        proposals = {slots[position]: found for position, found in proposer.propose(slots, self.settings.top)}
        if len(proposals) != len(slots):
            raise RuntimeError(f"the proposer {proposer.name!r} left {len(slots) - len(proposals)} slots out")
        return proposals

    def _plausible(
        self, seed: Seed, targets: list[Target], proposals: dict[Slot, Proposal], tokens: dict[str, TaggedTokens]
    ) -> list[WordPair]:
        whole = self.stages.sift(
            "one token of the proposer's",
            "words",
            targets,
            lambda target: all(proposals[slot].original is not None for slot in target.slots),
        )
        words = frozenset(form(token.text) for text in seed.texts for token in tokens[text])
        pairs = [pair for target in whole for pair in offered(target, proposals, self.settings, self.stages)]
        return plausible(pairs, words, self.settings, self.stages)

    def _keeping(self, seed: Seed, variants: list[Variant]) -> list[Variant]:
        """Those that keep what the seeds' suite promises."""
        for rule in self.seeds.design.variant_rules:
            variants = self.stages.sift(rule.name, "replacements", variants, partial(rule.keep, seed))
        return variants

    def _chosen(self, seed: Seed, made: Mapping[str, list[Variant]]) -> list[Variant]:
        """The variants of a seed that are written, of those by proposer: new ones, and not too many of a proposer's."""
        chosen: dict[str, Variant] = {}
        fresh: dict[str, set[str]] = {}
        for name, variants in made.items():
            # Another proposer's of the same seed are not in the file yet.
            new = self.stages.sift("no problem of the file", "replacements", variants, self._is_new)
            fresh[name] = set(map(str, new))
            for variant in self._drawn(seed, new):
                chosen.setdefault(str(variant), with_gain(variant))
        self.ids.update(int(item.id, 16) for variant in chosen.values() for item in variant.items)
        for name, keys in fresh.items():
            self.by_proposer[name] += sum(len(variant.items) for key, variant in chosen.items() if key in keys)
        if len(made) == 1:
            return list(chosen.values())
        return [
            proposed_by(variant, [name for name, keys in fresh.items() if key in keys])
            for key, variant in chosen.items()
        ]

    def _drawn(self, seed: Seed, variants: list[Variant]) -> list[Variant]:
        most = self.settings.max_variants
        drawn = set(map(str, draw(variants, most, self.settings.seed, [item.id for item in seed.items])))
        return self.stages.sift(
            f"at most {most} a seed", "replacements", variants, lambda variant: str(variant) in drawn
        )

    def _is_new(self, variant: Variant) -> bool:
        ids = {int(item.id, 16) for item in variant.items}
        return len(ids) == len(variant.items) and not ids & self.ids


def _judge_record(run: _Run) -> dict[str, object] | None:
    if run.judge is None:
        return None
    bounds = {"max_drop": run.settings.max_drop, "min_joint": run.settings.min_joint}
    return {"name": run.judge.name, "fingerprint": run.judge.fingerprint, **bounds}


def _write_stages(varied: Varied, run: _Run, limit: int | None) -> None:
    settings = {**asdict(run.settings), "limit": limit}
    document = {
        "schema": SCHEMA,
        "veridical": version("veridical"),
        "source": run.seeds.source,
        "notes": list(run.seeds.notes),
        "proposers": [{"name": found.name, "fingerprint": found.fingerprint} for found in run.proposers],
        "judge": _judge_record(run),
        "tagger": run.tagger.name,
        "same_tag": run.settings.tag,
        "settings": {name: value for name, value in settings.items() if name not in ("tag", "max_drop", "min_joint")},
        "seeds": varied.seeds,
        "seeds_with_variants": varied.seeds_with_variants,
        "variants": varied.variants,
        "variants_by_word_class": varied.by_word_class,
        "variants_by_proposer": varied.by_proposer,
        "targets": varied.targets,
        "repeated_targets": varied.repeated_targets,
        "stages": [stage.record() for stage in varied.stages],
        "nothing_left": varied.stages.warnings(),
    }
    data = json.dumps(document, ensure_ascii=False, allow_nan=False, indent=1) + "\n"
    replace(stages_path(varied.path), data.encode())
