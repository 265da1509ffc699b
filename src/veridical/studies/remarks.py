"""What a reader must know of how a model was loaded and asked, in words, where its scores stand."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import polars as pl

from veridical.models.loading_notes import sentences
from veridical.models.protocol import THINKING_OPEN
from veridical.prompts.chat import NO_CHAT_TEMPLATE, PREFILL_APPENDED, SYSTEM_FOLDED
from veridical.prompts.opening import NO_GENERATION_PROMPT, THINKING_LEFT
from veridical.runs.load import Run
from veridical.runs.manifest import Manifest, Part

SCORED = ("loglikelihood",)
ANY = ("loglikelihood", "generate")

_HEADER = "`--generation-header TEXT` puts a text there"
_OPEN = f"{_HEADER}, and `--template-arg enable_thinking=false` turns thinking off where the template has that switch"

RENDERING: dict[str, tuple[tuple[str, ...], str]] = {
    NO_CHAT_TEMPLATE: (ANY, "asked as plain text, without a chat template, since its tokenizer has none"),
    SYSTEM_FOLDED: (ANY, "asked with the system text at the head of the user's turn: its chat template takes no other"),
    PREFILL_APPENDED: (ANY, "asked with the beginning of the answer put after what its chat template ends with"),
    NO_GENERATION_PROMPT: (
        ANY,
        "put without the header of the answer's turn, since the chat template has no generation prompt: "
        "`--generation-header auto` adds the header that it has in a finished conversation",
    ),
    THINKING_OPEN: (SCORED, f"scored inside an open thinking block, where no answer stands: {_OPEN}"),
    THINKING_LEFT: (
        SCORED,
        f"scored where the chat template lets the model think first, so that no answer need stand there: {_OPEN}",
    ),
}
"""What rendering noted, in which modes that matters, and what to say of it. The order is that of the sentences."""


def remarks(runs: Sequence[Run]) -> Iterator[str]:
    """Sentences on each run's model: its files, what libraries warned of, and how its questions had to be put.

    Runs that answer what another folder has answered for the same model come first.
    """
    yield from _repeated(runs)
    for run in runs:
        entry = run.manifest.model
        yield from sentences(run.name, entry.remarks, entry.warnings)
        yield from (f"{run.name}: {words}." for words in _folder(run.manifest))
        if run.manifest.imported is None:
            yield from (f"{run.name}: {words}." for words in _rendering(run))
        elif account := run.manifest.imported.account:
            yield f"{run.name}: {account}."


def _repeated(runs: Sequence[Run]) -> Iterator[str]:
    """Which runs repeat another: a question that one model answered in several folders counts once."""
    earlier: dict[str, list[Run]] = {}
    for run in runs:
        others = earlier.setdefault(run.name, [])
        keys = run.asks["key"] if others else pl.Series([], dtype=pl.String())
        for other in others:
            here, there = _folder_names(run, other)
            again = int(keys.is_in(other.asks["key"].to_list()).sum())
            if again == len(keys):
                yield f"{here} repeats {there}: left out."
                break
            if again:
                yield (
                    f"{here}: {again:,} of its {len(keys):,} questions are in {there} too; each counts once, "
                    "by the first folder with an answer."
                )
        others.append(run)


def _folder_names(run: Run, other: Run) -> tuple[str, str]:
    """The names of two runs' folders, with those that they are in where they are called alike."""
    alike = run.path.name == other.path.name
    here, there = (f"{one.path.parent.name}/{one.path.name}" if alike else one.path.name for one in (run, other))
    return here, there


def _folder(manifest: Manifest) -> Iterator[str]:
    """What is not certain of the files that a run consists of."""
    if manifest.parts is None:
        yield "its folder is not sealed (Veridical 0.1.0 wrote it, without checksums), so that damage may not show"
    if manifest.sealed_later:
        yield "its folder was sealed late (Veridical 0.1.0 began it), so that earlier damage may not show"
    if manifest.lost:
        yield lost_text(manifest.lost)


def lost_text(lost: Sequence[Part]) -> str:
    """What to say of parts of a run that had gone when a later call went on with it."""
    names = ", ".join(part.path for part in lost[:3]) + (", …" if len(lost) > 3 else "")
    return (
        f"{len(lost)} of its files had gone when the run was continued ({names}): what they held was asked again only "
        "as far as later calls asked for it"
    )


def _rendering(run: Run) -> Iterator[str]:
    asks = run.asks
    for note, (modes, words) in RENDERING.items():
        asked = asks.filter(pl.col("mode").is_in(modes))
        count = asked.filter(pl.col("notes").list.contains(note)).height
        if count:
            yield f"{'all' if count == asked.height else f'{count:,} of'} {asked.height:,} questions were {words}"
