"""Options that several commands have, each with one spelling, one help and one meaning."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

MODEL = typer.Option("--model", metavar="MODEL", help="smollm2, hf/ORG/NAME, hf/PATH, gguf/PATH, openai/NAME; repeats.")
Models = Annotated[list[str], MODEL]
Dtype = Annotated[str, typer.Option("--dtype", metavar="DTYPE", help="float32, bfloat16, float16 or auto.")]
Device = Annotated[str, typer.Option("--device", metavar="DEVICE", help="auto, cpu or cuda.")]
DeviceMapOption = Annotated[
    str | None,
    typer.Option("--device-map", metavar="MAP", help="auto: weights over all devices, in the place of --device."),
]
OutStudy = Annotated[
    Path | None,
    typer.Option("--out", metavar="STUDY", help="Study folder; one that exists is resumed or extended."),
]
BatchTokens = Annotated[int | None, typer.Option("--batch-tokens", metavar="N", min=1, help="Tokens in a batch.")]
TemplateArguments = Annotated[
    list[str] | None,
    typer.Option("--template-arg", metavar="K=V", help="For the chat template; repeatable."),
]
GenerationHeader = Annotated[
    str | None,
    typer.Option(
        "--generation-header",
        metavar="TEXT",
        help="Text after what the chat template ends with, where the answer begins (\\n: a line break); auto: the "
        "header that the template has in a finished conversation (docs/asking.md).",
    ),
]
DrawSeed = Annotated[int, typer.Option("--seed", metavar="N", min=0, help="Seed of every draw.")]
Runs = Annotated[list[Path], typer.Argument(metavar="RUN", help="Run folders, or studies.")]
DataFile = Annotated[
    Path | None, typer.Option("--data", metavar="FILE", help="Your copy of the suite's published data.")
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document, and nothing else, to standard output.")]
