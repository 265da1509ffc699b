"""The rotary positions of a GGUF file, in the words of transformers, whose reader drops how they are scaled."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from veridical.errors import UserError

FREQUENCIES = "rope_freqs.weight"
LONG, SHORT = "rope_factors_long.weight", "rope_factors_short.weight"
TENSORS = (FREQUENCIES, LONG, SHORT)
"""Tensors that divide the rotary frequencies: no weights of the network."""

SCALING = "rope.scaling."
LEGACY_LINEAR = "rope.scale_linear"

_HARMLESS = ("finetuned",)
_LLAMA3 = {"low_freq_factor": 1.0, "high_freq_factor": 4.0, "original_max_position_embeddings": 8192}
"""What every Llama 3.1 and 3.2 has; its GGUF files hold the divisors that follow from these, not these."""

_POSITIVE = (
    *(f"{SCALING}{name}" for name in ("factor", "attn_factor", "yarn_attn_factor", "yarn_beta_fast", "yarn_beta_slow")),
    LEGACY_LINEAR,
    "rope.freq_base",
)
"""Metadata by which frequencies are multiplied or divided: with 0, NaN or infinity no answer would be usable."""

Divisors = Mapping[str, npt.NDArray[np.float32]]


def rope_scaling(
    values: Mapping[str, Any], divisors: Divisors, *, context_length: int, base: float
) -> dict[str, Any] | None:
    """Parameters for `config.rope_parameters` in addition to `rope_theta`; None where frequencies are not scaled.

    `values` are the architecture's metadata by name (`rope.scaling.factor`), `divisors` the tensors of `TENSORS` that
    the file holds, `base` the rotary base. llama.cpp turns pair i of a position by

        base^(-2i/d) / (factor * divisor_i)

    and so does transformers; for YaRN both follow arXiv 2309.00071. Raises UserError for what cannot be put so.
    """
    given = {name.removeprefix(SCALING): value for name, value in values.items() if name.startswith(SCALING)}
    kind = str(given.pop("type", "linear" if "factor" in given else "none"))
    factor = _number(given.pop("factor", values.get(LEGACY_LINEAR, 1)))
    if LEGACY_LINEAR in values and kind == "none":
        kind = "linear"
    original = int(given.pop("original_context_length", 0) or 0)
    multiplier = math.prod(_number(given.pop(name, 1)) or 1.0 for name in ("attn_factor", "yarn_attn_factor"))
    for name in _HARMLESS:
        given.pop(name, None)
    found: dict[str, Any] | None
    if LONG in divisors or SHORT in divisors or kind == "longrope":
        found = _longrope(divisors, original or context_length, context_length, multiplier)
    elif kind == "yarn":
        found = _yarn(given, factor, original or context_length, multiplier)
    elif kind in ("linear", "none"):
        found = {"rope_type": "linear", "factor": factor} if kind == "linear" and factor != 1.0 else None
        if multiplier != 1.0:
            raise UserError(f"its metadata has {SCALING}attn_factor {multiplier:g}, which goes with YaRN and LongRoPE")
    else:
        raise UserError(f"its metadata has {SCALING}type {kind!r}, which cannot be computed here")
    if left := sorted(name for name, value in given.items() if value):
        raise UserError(f"its metadata has {SCALING}{left[0]}, which nothing here computes with")
    return _with_frequencies(found, divisors, context_length, base)


def _longrope(divisors: Divisors, original: int, context_length: int, multiplier: float) -> dict[str, Any]:
    if not {LONG, SHORT} <= set(divisors):
        raise UserError(f"its LongRoPE needs the tensors {LONG} and {SHORT}, and they are not both there")
    scale = context_length / original
    default = math.sqrt(1 + math.log(scale) / math.log(original)) if scale > 1 else 1.0
    return {
        "rope_type": "longrope",
        "long_factor": divisors[LONG].tolist(),
        "short_factor": divisors[SHORT].tolist(),
        "original_max_position_embeddings": original,
        "attention_factor": multiplier if multiplier != 1.0 else default,
    }


def _yarn(given: dict[str, Any], factor: float, original: int, multiplier: float) -> dict[str, Any]:
    extrapolation = _number(given.pop("yarn_ext_factor", 1))
    if extrapolation not in (1.0, -1.0):  # -1: as llama.cpp decides, which is 1 for YaRN
        raise UserError(f"its metadata has {SCALING}yarn_ext_factor {extrapolation:g}: transformers computes with 1")
    return {
        "rope_type": "yarn",
        "factor": factor,
        "original_max_position_embeddings": original,
        "beta_fast": _number(given.pop("yarn_beta_fast", 32)),
        "beta_slow": _number(given.pop("yarn_beta_slow", 1)),
        "attention_factor": multiplier * (0.1 * math.log(factor) + 1.0 if factor > 1 else 1.0),
    }


def _with_frequencies(
    found: dict[str, Any] | None, divisors: Divisors, context_length: int, base: float
) -> dict[str, Any] | None:
    if FREQUENCIES not in divisors:
        return found
    own = divisors[FREQUENCIES]
    if found is None and (known := _llama3(own, base)) is not None:
        return known
    if found is not None and found["rope_type"] != "linear":
        raise UserError(f"its tensor {FREQUENCIES} goes with {found['rope_type']}, which cannot be computed here")
    factors = (own * (found["factor"] if found else 1.0)).tolist()
    # One list for short and long: the same divisors at every length.
    return {
        "rope_type": "longrope",
        "long_factor": factors,
        "short_factor": factors,
        "original_max_position_embeddings": context_length,
        "attention_factor": 1.0,
    }


def _llama3(divisors: npt.NDArray[np.float32], base: float) -> dict[str, Any] | None:
    """The parameters of Llama 3 of which these are the divisors; None where they are not."""
    factor = float(divisors.max())
    low, high = _LLAMA3["low_freq_factor"], _LLAMA3["high_freq_factor"]
    original = _LLAMA3["original_max_position_embeddings"]
    frequencies = base ** -(np.arange(len(divisors), dtype=np.float64) / len(divisors))
    smooth = np.clip((original * frequencies / (2 * math.pi) - low) / (high - low), 0, 1)
    expected = 1 / ((1 - smooth) / factor + smooth)
    if factor <= 1 or not np.allclose(divisors, expected, rtol=1e-5):
        return None
    return {"rope_type": "llama3", "factor": factor, **_LLAMA3}


def check_metadata(values: Mapping[str, Any]) -> None:
    """Raise UserError, naming the field, for a number of `_POSITIVE` that frequencies cannot be scaled by."""
    for name in _POSITIVE:
        if name in values:
            _check_positive(name, values[name])


def _check_positive(name: str, value: Any) -> None:
    if not isinstance(value, bool | int | float) or not (math.isfinite(value) and value > 0):
        raise UserError(
            f"its metadata has {name} {value}, where a finite number above 0 is needed: convert the model again, or "
            "set the value with gguf_set_metadata.py of llama.cpp"
        )


def check_divisors(divisors: Divisors, rotated: int) -> None:
    """Raise UserError, naming the tensor, unless each has a finite value above 0 for each pair that is rotated."""
    for name, values in divisors.items():
        if len(values) != rotated // 2:
            raise UserError(
                f"its tensor {name} has {len(values)} values, where its {rotated} rotated dimensions need "
                f"{rotated // 2}: copy the file again, or convert the model again"
            )
        if not (np.isfinite(values) & (values > 0)).all():
            raise UserError(
                f"its tensor {name} has values that are not finite numbers above 0: copy the file again, or convert "
                "the model again"
            )


def _number(value: Any) -> float:
    if isinstance(value, bool | int | float):
        return float(value)
    raise UserError(f"its metadata has {value!r} where a number of {SCALING}... is needed")
