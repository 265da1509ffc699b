"""Several proposers and several files in one suite of variants: who proposed what, and where seeds come from."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import veridical
from tests.runs.toy import ToyModel
from tests.variation.planted import Planted, problem, problems, variants
from veridical.cli import main
from veridical.errors import UserError
from veridical.items import Suite
from veridical.models.protocol import ChoiceScore, TokenSequence
from veridical.suites.file_writer import write_suite
from veridical.suites.files import read_suite
from veridical.variation import proposers
from veridical.variation.builder import Varied, stages_path, vary
from veridical.variation.problems import read_files
from veridical.variation.settings import VariationSettings
from veridical.variation.stages import Stages
from veridical.variation.tagging import SpacyTagger

PAIRS = (("A dog sleeps on the floor.", "The dog sleeps."), ("A dog runs in the park.", "The dog runs."))
ANIMALS = ["cat", "horse", "pig", "lion", "tiger", "rabbit", "bear", "wolf", "fox", "mouse", "goat", "puppy"]


def both(
    tagger: SpacyTagger, folder: Path, first: list[str], second: list[str], settings: VariationSettings | None = None
) -> tuple[Varied, Suite]:
    """Variants by two proposers, `hf/a/one` and `hf/b/two`, of what each likes for `dog`."""
    out = folder / "variants.jsonl"
    made = vary(
        problems(*PAIRS),
        proposers=[
            Planted({"dog": dict.fromkeys(first, 0.3)}, name="hf/a/one"),
            Planted({"dog": dict.fromkeys(second, 0.2)}, name="hf/b/two"),
        ],
        tagger=tagger,
        out=out,
        settings=settings,
    )
    return made, read_suite(out)


def message(suite: Suite) -> dict[str, tuple[object, object]]:
    """(proposer, proposers) by replacement."""
    return {
        str(i.factors["replacement"]): (i.factors.get("proposer"), i.factors.get("proposers")) for i in variants(suite)
    }


def test_each_variant_is_its_proposers_and_one_of_several_is_none(tagger: SpacyTagger, tmp_path: Path) -> None:
    made, suite = both(tagger, tmp_path, ["cat", "horse"], ["horse", "pig"])
    assert message(suite) == {
        "cat": ("hf/a/one", None),
        "horse": (None, "hf/a/one, hf/b/two"),
        "pig": ("hf/b/two", None),
    }
    assert (made.variants, made.by_proposer) == (6, {"hf/a/one": 4, "hf/b/two": 4})
    # One set a seed, with the variants of both.
    assert [len(members) for members in suite.grouping("seed").sets().values()] == [4, 4]
    assert all(
        "proposer" not in suite.by_id[m.item].factors for m in suite.grouping("seed").members if m.role == "seed"
    )
    document = json.loads(stages_path(made.path).read_text(encoding="utf-8"))
    assert [found["name"] for found in document["proposers"]] == ["hf/a/one", "hf/b/two"]
    assert document["variants_by_proposer"] == made.by_proposer


def test_each_proposer_has_its_own_sample_of_variants(tagger: SpacyTagger, tmp_path: Path) -> None:
    """With 3 a seed, of 12 that both proposers like, and those are the same: a variant's rank is its own."""
    made, suite = both(tagger, tmp_path, ANIMALS, ANIMALS, VariationSettings(max_variants=3))
    alone, of_one = both(tagger, tmp_path, ANIMALS, [], VariationSettings(max_variants=3))
    assert made.variants == alone.variants == 6
    assert {item.id for item in variants(suite)} == {item.id for item in variants(of_one)}
    assert set(message(suite).values()) == {(None, "hf/a/one, hf/b/two")}
    apart, _ = both(tagger, tmp_path, ANIMALS[:6], ANIMALS[6:], VariationSettings(max_variants=3))
    assert (apart.variants, apart.by_proposer) == (12, {"hf/a/one": 6, "hf/b/two": 6})


class Fooled(ToyModel):
    """Right on every problem of entailment, unless it is about pigs."""

    def _score(self, sequence: TokenSequence) -> ChoiceScore:
        entails = "entail" in bytes(sequence.continuation).decode()
        right = entails != ("pig" in bytes(sequence.context).decode())
        return ChoiceScore(-0.1 if right else -9.0, len(sequence.continuation), sequence.n_chars, sequence.n_bytes)


def test_home_advantage_is_measured_on_what_one_proposer_alone_proposed(tagger: SpacyTagger, tmp_path: Path) -> None:
    """All of its own variants right and all of the other's wrong: an advantage of 1, whatever both proposed."""
    both(tagger, tmp_path, ["cat", "horse"], ["horse", "pig"])
    study = veridical.run(
        str(tmp_path / "variants.jsonl"), model=Fooled(name="hf/a/one"), out=tmp_path / "study", progress=False
    )
    rows = [row for row in study.measures.to_dicts() if row["measure"] == "home_advantage"]
    assert rows
    assert {row["value"] for row in rows} == {1.0}
    by = {str(row["slice"]) for row in study.measures.to_dicts() if row["measure"] == "variant_accuracy"}
    assert any("hf/b/two" in found for found in by)


@pytest.mark.parametrize("names", [(), ("a", "a")])
def test_proposers_have_names_of_their_own(tagger: SpacyTagger, tmp_path: Path, names: tuple[str, ...]) -> None:
    given = [Planted({}, name=name) for name in names]
    with pytest.raises(UserError, match="one or more, each once"):
        vary(problems(*PAIRS), proposers=given, tagger=tagger, out=tmp_path / "x.jsonl")


@pytest.fixture
def tables(tmp_path: Path) -> list[Path]:
    """Two files, of which the second repeats the first's problem."""
    first, second = tmp_path / "snli.tsv", tmp_path / "mnli.csv"
    first.write_text("premise\thypothesis\tlabel\nA dog sleeps.\tThe dog rests.\tentailment\n", encoding="utf-8")
    second.write_text(
        "premise,hypothesis,label\nA dog sleeps.,The dog rests.,entailment\nA dog runs.,The dog sits.,contradiction\n",
        encoding="utf-8",
    )
    return [first, second]


def test_several_files_are_distinguished_by_their_source(tables: list[Path]) -> None:
    seeds = read_files(tables)
    found = [item for seed in seeds.read(Stages()) for item in seed.items]
    assert [item.factors["source"] for item in found] == ["snli", "mnli", "mnli"]
    assert seeds.source == "snli-mnli"


def test_files_of_one_name_and_suites_among_several_are_refused(tables: list[Path], tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    same = tmp_path / "other" / "snli.csv"
    same.write_bytes(tables[1].read_bytes())
    with pytest.raises(UserError, match="another file is named 'snli' too"):
        read_files([tables[0], same])
    suite = tmp_path / "suite.jsonl"
    write_suite(problems(problem("A dog sleeps.", "The dog rests.")).frame, suite)
    with pytest.raises(UserError, match="give it alone"):
        read_files([tables[0], suite])


def test_options_and_files_are_repeated_on_the_command_line(
    tables: list[Path],
    tagger: SpacyTagger,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    liked = {"hf/a/one": {"cat": 0.3}, "hf/b/two": {"cat": 0.3, "horse": 0.2}}
    monkeypatch.setattr(proposers, "load", lambda spec, **_: Planted({"dog": liked[spec]}, name=spec))
    monkeypatch.setattr("veridical.variation.tagging.load_tagger", lambda model: tagger)
    out = tmp_path / "o.jsonl"
    options = ["--proposer", "hf/a/one", "--proposer", "hf/b/two", "--judge", "none", "--out", str(out)]
    assert main(["vary", *map(str, tables), *options]) == 0
    assert "2 by hf/a/one, 4 by hf/b/two" in capsys.readouterr().out
    suite = read_suite(out)
    assert suite.name == "snli-mnli-variants"
    sources = [(item.factors["source"], item.factors["replacement"]) for item in variants(suite)]
    assert sorted(sources) == [("mnli", "cat"), ("mnli", "horse"), ("snli", "cat"), ("snli", "horse")]
    assert main(["vary", str(tables[0]), "--proposer", "x", "--proposer", "x", "--out", str(tmp_path / "p.jsonl")]) == 2
    assert "--proposer x is given twice" in capsys.readouterr().err
