"""What reading a model's files found, in words: the same wherever a model is loaded."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from veridical.models.protocol import LoadedFromFiles


def sentences(name: str, remarks: Sequence[str], warnings: Sequence[str]) -> Iterator[str]:
    """A line for each remark on a model and for each warning of the libraries that read or ran it."""
    for remark in remarks:
        yield f"{name}: {remark}."
    for warning in warnings:
        library, _, text = warning.partition(": ")
        yield f"{name}: {library} warns: {text}"


def loading_sentences(name: str, model: object) -> list[str]:
    """What is to be said of a model that was just loaded; nothing of one that is not of files."""
    if not isinstance(model, LoadedFromFiles):
        return []
    return list(sentences(name, model.loading.remarks, model.loading.warnings))
