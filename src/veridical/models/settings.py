"""How a model given by name is loaded: one object, passed from the command line to the backend."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from importlib.util import find_spec
from typing import TypedDict, cast

from veridical.errors import UserError, unknown
from veridical.models.server.settings import ServerSettings

DTYPES = ("float32", "bfloat16", "float16", "auto")
DEVICES = ("auto", "cpu", "cuda")
DEVICE_MAPS = ("auto", "balanced", "balanced_low_0", "sequential")

DeviceMap = str | Mapping[str, int | str]
"""How weights are spread over devices: a word of accelerate's, or the device of each module by name."""


class LoadOptions(TypedDict, total=False):
    """The fields of `LoadSettings` as keyword arguments, for functions that take models by name."""

    dtype: str
    device: str
    batch_tokens: int | None
    template_args: Mapping[str, object]
    device_map: DeviceMap | None
    server: ServerSettings


@dataclass(frozen=True, slots=True)
class LoadSettings:
    """How a model is loaded.

    `dtype` `auto` is the checkpoint's own; `device` `auto` is CUDA where there is one. `batch_tokens` bounds a forward
    pass (from free memory by default). `template_args` go to the chat template. `device_map` spreads the weights of a
    model that no one device holds (`auto`: over all that there are); `device` is then left at `auto`. `server` is for
    models that a server runs.
    """

    dtype: str = "float32"
    device: str = "auto"
    batch_tokens: int | None = None
    template_args: Mapping[str, object] = field(default_factory=dict)
    device_map: DeviceMap | None = None
    server: ServerSettings = field(default_factory=ServerSettings)

    def options(self) -> LoadOptions:
        """The settings as keyword arguments."""
        return cast("LoadOptions", {one.name: getattr(self, one.name) for one in fields(self)})

    def check(self) -> None:
        """Raise UserError for a dtype or device that there is not; only a CUDA device needs torch to tell."""
        if isinstance(self.device_map, str) and self.device_map not in DEVICE_MAPS:
            raise unknown("device map", self.device_map, DEVICE_MAPS)
        if self.device_map is not None and self.device != "auto":
            raise UserError(f"--device-map and --device {self.device}: give one of them")
        if self.dtype not in DTYPES:
            raise unknown("dtype", self.dtype, DTYPES)
        _check_device(self.device)


def _check_device(device: str) -> None:
    kind, colon, number = device.partition(":")
    if kind not in DEVICES:
        raise unknown("device", device, DEVICES)
    if colon and (kind != "cuda" or re.fullmatch("[0-9]{1,4}", number) is None):
        raise UserError(f"--device {device}: give auto, cpu, cuda or cuda:N, where N is a device's number")
    if kind == "cuda" and find_spec("torch") is not None:
        import torch

        count = torch.cuda.device_count() if torch.cuda.is_available() else 0
        if not count:
            raise UserError(f"--device {device}: torch {torch.__version__} finds no CUDA device on this machine")
        if colon and int(number) >= count:
            raise UserError(f"--device {device}: the last CUDA device of this machine is cuda:{count - 1}")
