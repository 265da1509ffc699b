"""Whether what was loaded is the model of the files: which weights they lack, and which they hold beyond it."""

from __future__ import annotations

import logging
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from transformers import PreTrainedModel

from veridical.engine.placement import input_device
from veridical.errors import UserError

NAMED = 6
"""Weights that a message names; it counts the rest."""

_TRIAL_LENGTH = 8
_COLOURS = re.compile("\x1b\\[[0-9;]*m")


_HERE = torch.empty(0)


def load_weights(auto_class: Any, location: Any, **settings: Any) -> tuple[PreTrainedModel, tuple[str, ...]]:
    """The model that `auto_class.from_pretrained` makes, and the weights in its files that it does not use, by name.

    transformers makes up at random what a file lacks or holds in another shape. What takes no part in a forward pass
    (a pooler above a masked language model) may be lacking.

    Raises UserError, naming the weights, where anything else is.
    """
    with _reports() as reports:
        try:
            model, info = auto_class.from_pretrained(
                location, output_loading_info=True, ignore_mismatched_sizes=True, **settings
            )
        except RuntimeError as error:
            if failed := [line.split("|")[0].strip() for line in reports if "| CONVERSION" in line]:
                raise UserError(
                    f"{_count(failed)} of its files cannot be brought into the form that transformers computes with: "
                    f"{_listed(failed)}"
                ) from error
            raise
    check_weights(model, info)
    return model, tuple(sorted(info["unexpected_keys"]))


def check_weights(model: PreTrainedModel, info: Mapping[str, Any]) -> None:
    """Raise UserError where weights that `model` computes with were not loaded; `info` as transformers gives it."""
    if mismatched := sorted(info["mismatched_keys"]):
        shapes = [f"{name} ({_shape(stored)}, not {_shape(wanted)})" for name, stored, wanted in mismatched]
        raise UserError(
            f"{len(mismatched)} of its weights have another shape than its configuration says: {_listed(shapes)}; "
            "configuration and weights do not belong together"
        )
    missing = sorted(info["missing_keys"])
    if missing and (needed := [name for name in missing if _takes_part(model, name)]):
        raise UserError(
            f"its files lack {_count(needed)} that {type(model).__name__} computes with: {_listed(needed)}; they would "
            f"be made up at random{_prefix_hint(needed, info['unexpected_keys'])}"
        )


def unused_note(model: PreTrainedModel, names: Sequence[str]) -> str:
    """What to say of weights in the files that the model does not use; empty where there are none."""
    if not names:
        return ""
    return f"its files hold {_count(names)} that {type(model).__name__} does not use: {_listed(names)}"


def _takes_part(model: PreTrainedModel, name: str) -> bool:
    """Whether a weight takes part in a forward pass: whether the output is another one once the weight is NaN.

    It need not be NaN: some kernels of attention leave NaN scores out of a row's maximum and sum.

    An expert that no token of the trial reaches would not show, so all experts count; so does what lies on no device.
    """
    if "expert" in name or dict(model.named_parameters()).get(name, _HERE).device.type == "meta":
        return True
    try:
        with torch.inference_mode():
            before = model(**_trial_inputs(model))[0]
            with _not_a_number(model, name):
                after = model(**_trial_inputs(model))[0]
    except Exception:  # a model may fail in any way on a trial that it was not made for
        return True
    return not torch.equal(before, after)


@contextmanager
def _not_a_number(model: PreTrainedModel, name: str) -> Iterator[None]:
    """Within this context the weight is NaN. Integers are left: a buffer of them is made by the code, not learned."""
    named = dict[str, torch.Tensor](model.named_parameters(remove_duplicate=False))
    weight = named[name] if name in named else dict(model.named_buffers(remove_duplicate=False))[name]
    if not weight.is_floating_point():
        yield
        return
    before = weight.detach().clone()
    with torch.no_grad():
        weight.fill_(torch.nan)
    try:
        yield
    finally:
        with torch.no_grad():
            weight.copy_(before)


def _trial_inputs(model: PreTrainedModel) -> dict[str, torch.Tensor]:
    vocabulary = int(model.config.get_text_config().vocab_size)
    ids = (torch.arange(3, 3 + _TRIAL_LENGTH) % vocabulary).unsqueeze(0).to(input_device(model))
    inputs = {"input_ids": ids}
    if model.config.is_encoder_decoder and model.can_generate():
        inputs["decoder_input_ids"] = ids
    return inputs


def _prefix_hint(missing: Sequence[str], unused: Collection[str]) -> str:
    """Where the files hold the missing weights under longer names: what these begin with, and what to do."""
    lacking = set(missing)
    prefixes = Counter(
        name[: -len(rest)]
        for name in unused
        for rest in (name.split(".", start)[-1] for start in range(1, name.count(".") + 1))
        if rest in lacking
    )
    if not prefixes:
        return ""
    prefix, count = prefixes.most_common(1)[0]
    if "base_model." in prefix:
        return (
            f". They hold {count:,} of these under names that begin with {prefix!r}, as PEFT saves a model with "
            "adapters: merge these into the model (merge_and_unload) and save what that gives"
        )
    if not prefix.removesuffix(".") or set(prefix.split(".")) - {"_orig_mod", "module", ""}:
        return (
            f". They hold {count:,} of these under names that begin with {prefix!r}: save the model without that prefix"
        )
    return (
        f". They hold {count:,} of these under names that begin with {prefix!r}, as a wrapped module (compiled, or in "
        "parallel) saves them: save the module that is inside the wrapper"
    )


@contextmanager
def _reports() -> Iterator[list[str]]:
    """Within this context the lines of transformers' reports on what was loaded, without colours, go to the list."""
    lines: list[str] = []
    handler = logging.Handler()
    handler.emit = lambda record: lines.extend(_COLOURS.sub("", record.getMessage()).splitlines())  # type: ignore[method-assign]
    logger = logging.getLogger("transformers.modeling_utils")
    logger.addHandler(handler)
    try:
        yield lines
    finally:
        logger.removeHandler(handler)


def _listed(names: Sequence[str]) -> str:
    rest = len(names) - NAMED
    return ", ".join(names[:NAMED]) + (f" and {rest:,} more" if rest > 0 else "")


def _count(names: Sequence[str]) -> str:
    return "one weight" if len(names) == 1 else f"{len(names):,} weights"


def _shape(sizes: Sequence[int]) -> str:
    return "x".join(map(str, sizes)) or "a number"
