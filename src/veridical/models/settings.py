"""How a model given by name is loaded: one object, passed from the command line to the backend."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from importlib.util import find_spec
from typing import TypedDict, cast

from veridical.errors import UserError, unknown
from veridical.models.server.settings import ServerSettings

DTYPES = ("float32", "bfloat16", "float16", "auto")
DEVICES = ("auto", "cpu", "cuda")
DEVICE_MAPS = ("auto", "balanced", "balanced_low_0", "sequential")

DeviceMap = str | Mapping[str, int | str]
"""How weights are spread over devices: a word of accelerate's, or the device of each module by name."""


ENGINES = ("local", "ray")


@dataclass(frozen=True, slots=True)
class RaySettings:
    """The cluster of `--engine ray`: its `address`, or one that is started on this machine, where None.

    `workers` hold a copy of the model each: one a GPU where None, or one a machine where there is none.
    """

    address: str | None = None
    workers: int | None = None


class LoadOptions(TypedDict, total=False):
    """The fields of `LoadSettings` as keyword arguments, for functions that take models by name."""

    dtype: str
    device: str
    batch_tokens: int | None
    template_args: Mapping[str, object]
    device_map: DeviceMap | None
    server: ServerSettings
    engine: str
    ray: RaySettings


@dataclass(frozen=True, slots=True)
class LoadSettings:
    """How a model is loaded.

    `dtype` `auto` is the checkpoint's own; `device` `auto` is CUDA where there is one. `batch_tokens` bounds a forward
    pass (from free memory by default). `template_args` go to the chat template. `device_map` spreads the weights of a
    model that no one device holds (`auto`: over all that there are); `device` is then left at `auto`. `server` is for
    models that a server runs. With `engine` `ray` copies of the model answer on the workers of a Ray cluster (`ray`).
    """

    dtype: str = "float32"
    device: str = "auto"
    batch_tokens: int | None = None
    template_args: Mapping[str, object] = field(default_factory=dict)
    device_map: DeviceMap | None = None
    server: ServerSettings = field(default_factory=ServerSettings)
    engine: str = "local"
    ray: RaySettings = field(default_factory=RaySettings)

    def options(self) -> LoadOptions:
        """The settings as keyword arguments."""
        return cast("LoadOptions", {one.name: getattr(self, one.name) for one in fields(self)})

    def here(self) -> LoadSettings:
        """The same for a model that this process loads."""
        return replace(self, engine="local", ray=RaySettings())

    def check(self) -> None:
        """Raise UserError for a dtype or device that there is not; only a CUDA device needs torch to tell."""
        if isinstance(self.device_map, str) and self.device_map not in DEVICE_MAPS:
            raise unknown("device map", self.device_map, DEVICE_MAPS)
        if self.device_map is not None and self.device != "auto":
            raise UserError(f"--device-map and --device {self.device}: give one of them")
        if self.dtype not in DTYPES:
            raise unknown("dtype", self.dtype, DTYPES)
        if self.engine not in ENGINES:
            raise unknown("engine", self.engine, ENGINES)
        if self.engine == "ray":
            self._check_ray()
            return
        if self.ray != RaySettings():
            raise UserError("--ray-address, --workers: give --engine ray too")
        _check_device(self.device)

    def _check_ray(self) -> None:
        if self.device_map is not None:
            raise UserError("--device-map and --engine ray: a worker holds its model on one device; give one of them")
        if self.device not in ("auto", "cpu", "cuda"):
            raise UserError(f"--device {self.device} and --engine ray: the cluster chooses the GPU; give cuda or auto")
        if self.ray.workers is not None and self.ray.workers < 1:
            raise UserError(f"--workers {self.ray.workers}: give 1 or more")


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
