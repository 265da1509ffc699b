"""`veridical vary`: seeds in, a suite of their minimal variants out, a count for every filter."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from veridical.cli.options import DeviceMapOption
from veridical.variation.settings import MAX_DROP, MIN_JOINT

if TYPE_CHECKING:
    from rich.table import Table

    from veridical.variation.builder import Varied

MOST = 2**63 - 1
"""The largest number that every part of a table can hold."""


def command(
    proposer: Annotated[
        list[str],
        typer.Option(
            "--proposer",
            metavar="MODEL",
            help="minilm-mlm, or any model: hf/ORG/NAME, hf/PATH, smollm2. Repeatable: each makes its own variants.",
        ),
    ],
    out: Annotated[Path, typer.Option("--out", metavar="FILE", help="The suite file that is written.")],
    seeds: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="SEEDS", help="A suite file, or TSV, CSV or JSONL tables such as SNLI or MultiNLI as published."
        ),
    ] = None,
    suite: Annotated[
        str | None, typer.Option("--suite", metavar="SUITE", help="A built-in suite or a suite file as seeds.")
    ] = None,
    min_ratio: Annotated[
        float,
        typer.Option("--min-ratio", metavar="R", min=0, help="Keep r for o where P(r) > R P(o); below 1 loosens."),
    ] = 1.0,
    top: Annotated[
        int,
        typer.Option("--top", metavar="N", min=1, max=MOST, help="Candidates at each occurrence, the likeliest N."),
    ] = 100,
    min_probability: Annotated[
        float, typer.Option("--min-probability", metavar="P", min=0, max=1, help="Keep r for o where P(r) >= P.")
    ] = 0.001,
    tag: Annotated[
        str,
        typer.Option(
            "--tag",
            metavar="fine|coarse",
            help="What r shares with o: the fine tag (inflection holds), or the word class alone.",
        ),
    ] = "fine",
    judge: Annotated[
        str | None,
        typer.Option(
            "--judge",
            metavar="MODEL",
            help="Causal model that bounds how odd a text may be; none for no bound. Default: smollm2, if there.",
        ),
    ] = None,
    max_drop: Annotated[
        float,
        typer.Option(
            "--max-drop", metavar="NATS", help="How much a text's log-likelihood may fall under --judge, natural log."
        ),
    ] = MAX_DROP,
    min_joint: Annotated[
        float,
        typer.Option(
            "--min-joint",
            metavar="P",
            min=0,
            max=1,
            help="With --judge, P(r) times the factor by which the likelihood falls must reach P.",
        ),
    ] = MIN_JOINT,
    max_variants: Annotated[
        int,
        typer.Option(
            "--max-variants", metavar="N", min=1, max=MOST, help="Variants a seed, sampled where there are more."
        ),
    ] = 20,
    limit: Annotated[
        int | None, typer.Option("--limit", metavar="N", min=1, max=MOST, help="Vary the first N seeds only.")
    ] = None,
    seed: Annotated[
        int, typer.Option("--seed", metavar="N", min=0, max=MOST, help="Chooses the sample of variants.")
    ] = 0,
    premise_column: Annotated[
        str | None, typer.Option("--premise-column", metavar="NAME", help="Default: premise, sentence1 or text.")
    ] = None,
    hypothesis_column: Annotated[
        str | None, typer.Option("--hypothesis-column", metavar="NAME", help="Default: hypothesis or sentence2.")
    ] = None,
    label_column: Annotated[
        str | None, typer.Option("--label-column", metavar="NAME", help="Default: gold_label, label or gold.")
    ] = None,
    label_name: Annotated[
        list[str] | None,
        typer.Option("--label-name", metavar="NAME=LABEL", help="What a label's name stands for; repeatable."),
    ] = None,
    encoding: Annotated[
        str | None,
        typer.Option("--encoding", metavar="NAME", help="Of SEEDS. Default: UTF-8, else Windows-1252, and said."),
    ] = None,
    device_map: DeviceMapOption = None,
    spacy_model: Annotated[
        str | None, typer.Option("--spacy-model", metavar="NAME", help="Finds the words. Default: en_core_web_sm.")
    ] = None,
) -> None:
    """Replace one word at a time by what a model likes better there: the label, syntax and overlap stay."""
    from veridical.cli.console import errors, results
    from veridical.errors import UserError, printable, unknown
    from veridical.files.targets import keep_apart, regular_target
    from veridical.library_messages import collected
    from veridical.models import LoadSettings
    from veridical.models.loading_notes import loading_sentences, sentences
    from veridical.progress import Terminal
    from veridical.variation import proposers
    from veridical.variation.builder import stages_path, vary
    from veridical.variation.judging import chosen_judge
    from veridical.variation.problems import ProblemColumns, named_suite, parse_label_names, read_files, refuse_options
    from veridical.variation.settings import TAG_EQUALITIES, VariationSettings
    from veridical.variation.tagging import load_tagger
    from veridical.variation.writer import try_writing

    if (not seeds) == (suite is None):
        raise UserError("give either SEEDS, a file, or --suite, a suite's name (see 'veridical vary --help')")
    if repeated := sorted({spec for spec in proposer if proposer.count(spec) > 1}):
        raise UserError(f"--proposer {repeated[0]} is given twice; name each once")
    if not math.isfinite(min_ratio):
        raise UserError(f"--min-ratio {min_ratio}: a finite number is needed")
    for option, value in (("--min-probability", min_probability), ("--max-drop", max_drop), ("--min-joint", min_joint)):
        if not math.isfinite(value):
            raise UserError(f"{option} {value}: a finite number is needed")
    if tag not in TAG_EQUALITIES:
        raise unknown("--tag", tag, TAG_EQUALITIES)
    settings = VariationSettings(
        top=top,
        min_probability=min_probability,
        min_ratio=min_ratio,
        max_drop=max_drop,
        min_joint=min_joint,
        tag=tag,
        max_variants=max_variants,
        seed=seed,
    )
    LoadSettings(device_map=device_map).check()
    # Before anything is read or loaded, which may take minutes.
    outputs = [regular_target(path) for path in (out, stages_path(out))]
    for output in outputs:
        try_writing(output)
    keep_apart(outputs, _inputs(seeds or [], suite, [*proposer, judge or ""], spacy_model))
    columns = ProblemColumns(premise_column, hypothesis_column, label_column, parse_label_names(label_name or []))
    if suite is not None:
        refuse_options(f"--suite {suite}", columns, encoding)
    source = named_suite(suite) if suite is not None else read_files(seeds or [], columns, encoding)
    progress = Terminal(errors())
    for note in source.notes:
        progress.say(note)
    tagger = load_tagger(spacy_model)
    loaded = [proposers.load(spec, device_map=device_map) for spec in proposer]
    judging = chosen_judge(judge, progress, device_map)
    found = [line for one in (*loaded, judging) if one for line in loading_sentences(one.name, one)]
    for line in dict.fromkeys(found):
        progress.say(line)
    with collected() as warnings:
        varied = vary(
            source,
            proposers=loaded,
            tagger=tagger,
            judge=judging,
            out=out,
            settings=settings,
            limit=limit,
            progress=progress,
        )
    for line in sentences("while asking", (), warnings):
        progress.say(line)
    results().print(_table(varied))
    classes = ", ".join(f"{count:,} {name}" for name, count in varied.by_word_class.items() if count)
    without = varied.seeds - varied.seeds_with_variants
    typer.echo(
        f"\n{varied.variants:,} variants of {varied.seeds:,} seeds, {varied.mean_variants:.2f} a seed"
        + (f" ({classes})" if classes else "")
        + f"; {without:,} seeds have none"
    )
    if varied.repeated_targets:
        typer.echo(
            f"{varied.repeated_targets:,} of {varied.targets:,} words stand more than once in a text of their seed"
        )
    if len(varied.by_proposer) > 1:
        shares = ", ".join(f"{count:,} by {printable(name)}" for name, count in varied.by_proposer.items())
        typer.echo(f"proposed: {shares} (what several propose is one variant, and counted here for each)")
    typer.echo(f"suite: {out}\ncounts: {stages_path(out)}")
    for warning in varied.stages.warnings():
        progress.say(warning)


def _inputs(seeds: list[Path], suite: str | None, proposers: list[str], spacy_model: str | None) -> list[Path]:
    """The files and folders that are read, as far as they are the user's own."""
    from veridical.suites.registry import BUILT_IN

    named = [suite if suite not in BUILT_IN else None, spacy_model]
    models = [Path(spec.partition("/")[2]) for spec in proposers if "/" in spec]
    files = [path for path in seeds if not path.is_dir()]  # a folder is not a table, which is reported where it is read
    return [*files, *(Path(name) for name in named if name), *(path for path in models if path.exists())]


def _table(varied: Varied) -> Table:
    from rich import box
    from rich.table import Table

    from veridical.errors import printable

    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    table.add_column("stage", overflow="fold")
    table.add_column("counts")
    table.add_column("in", justify="right")
    table.add_column("out", justify="right")
    for stage in varied.stages:
        table.add_row(printable(stage.name), stage.unit, f"{stage.entered:,}", f"{stage.left:,}")
    return table
