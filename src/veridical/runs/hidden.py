"""Hidden states on disk: one safetensors file a suite, prompt and input, in the run's folder `hidden`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from veridical.digests import digest
from veridical.errors import UserError
from veridical.files.writing import slug
from veridical.runs.editing import editing
from veridical.runs.parts import checked

SCHEMA = "veridical.hidden/1"
PENULTIMATE = -2
"""The output of the last block but one, counted from the end of the L + 1 entries that L blocks make."""


@dataclass(frozen=True, slots=True)
class StatesKey:
    """Which questions hidden states are of: those of one suite, prompt and input, in the first order of the labels."""

    suite: str
    prompt: str
    input: str

    @property
    def part(self) -> str:
        """The part of a run that holds these states, by its path in the run's folder."""
        # The digest distinguishes names that look alike as parts of a file's name.
        names = [self.suite, self.prompt, self.input]
        return f"hidden/{'.'.join(slug(name) for name in names)}.{digest(names, 8)}.safetensors"


@dataclass(frozen=True, eq=False)
class Hidden:
    """The state of the last prompt token: `states` [items, layers, width], float32, NaN where an item was refused."""

    items: tuple[str, ...]
    layers: tuple[int, ...]
    states: npt.NDArray[np.float32]

    def at(self, layer: int, items: Sequence[str]) -> npt.NDArray[np.float64]:
        """One layer's states (items, width) of these items, in their order."""
        place = {item: row for row, item in enumerate(self.items)}
        return self.states[[place[item] for item in items], self.layers.index(layer)].astype(np.float64)

    def finite(self, layers: Sequence[int]) -> frozenset[str]:
        """The items that were read at all these layers: one that the model refused has none."""
        picked = self.states[:, [self.layers.index(layer) for layer in layers]]
        read = np.flatnonzero(np.isfinite(picked).all(axis=(1, 2)))
        return frozenset(self.items[row] for row in read)

    def holds(self, items: Sequence[str], layers: Sequence[int]) -> bool:
        """Whether all these items and layers are among those stored; a refused item counts as stored."""
        return set(items) <= set(self.items) and set(layers) <= set(self.layers)


def resolve_layers(layers: Sequence[int], n_blocks: int) -> tuple[int, ...]:
    """Layers counted from 0 (the embedding) to `n_blocks`, ascending and each once; negative ones count from the end.

    Raises UserError for a layer that the model does not have.
    """
    if odd := [layer for layer in layers if not -n_blocks - 1 <= layer <= n_blocks]:
        raise UserError(f"layer {odd[0]}: the model has layers 0 (the embedding) to {n_blocks}; -2 is the penultimate")
    return tuple(sorted({layer % (n_blocks + 1) for layer in layers}))


def write_hidden(run: Path, asked: StatesKey, hidden: Hidden) -> None:
    """Write the states of one suite, prompt and input, whole, over those that were there."""
    from safetensors.numpy import save

    metadata = {
        "schema": SCHEMA,
        "suite": asked.suite,
        "prompt": asked.prompt,
        "input": asked.input,
        "place": "last prompt token",
        "layers": json.dumps(hidden.layers),
        "items": json.dumps(hidden.items),
    }
    with editing(run) as edit:
        edit.put(asked.part, save({"states": np.ascontiguousarray(hidden.states)}, metadata), len(hidden.items))


def read_hidden(run: Path, asked: StatesKey) -> Hidden | None:
    """The states of one suite, prompt and input; None where none are stored.

    Raises UserError where they were stored and are missing or damaged, and for a file that is not one of these.
    """
    path = checked(run, asked.part)
    if path is None:
        return None
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, framework="numpy") as file:
            metadata = file.metadata() or {}
            known = {name: metadata.get(name) for name in ("suite", "prompt", "input")}
            if metadata.get("schema") != SCHEMA or known != asdict(asked) or not {"items", "layers"} <= set(metadata):
                raise UserError(f"{path}: not these hidden states ({SCHEMA}); move it away and run again")
            states = file.get_tensor("states")
    except (OSError, SafetensorError) as error:
        reason = error.strerror if isinstance(error, OSError) else None
        what = f"cannot read {path}: {reason}" if reason else f"{path} is damaged"
        raise UserError(f"{what}; move it away and run again: the states are read again") from error
    return Hidden(tuple(json.loads(metadata["items"])), tuple(json.loads(metadata["layers"])), states)
