"""The options that say how models are loaded, for every command that loads them by name."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import fields
from typing import Annotated, Any, get_type_hints

import typer

from veridical.cli.options import BatchTokens, Device, DeviceMapOption, Dtype, GenerationHeader, TemplateArguments
from veridical.models import LoadSettings, RaySettings, ServerSettings

BaseUrl = Annotated[
    str | None,
    typer.Option("--base-url", metavar="URL", help="openai/NAME: the server. Default: OPENAI_BASE_URL, or OpenAI's."),
]
Concurrency = Annotated[int, typer.Option("--concurrency", metavar="N", min=1, help="Servers: requests at once.")]
Timeout = Annotated[
    float, typer.Option("--timeout", metavar="S", min=0.1, help="Servers: seconds that a request may take.")
]
Retries = Annotated[
    int, typer.Option("--retries", metavar="N", min=0, help="Servers: times that a request is sent again.")
]
MaxRequests = Annotated[
    int | None, typer.Option("--max-requests", metavar="N", min=1, help="Servers: requests to send at most.")
]
MaxTotalTokens = Annotated[
    int | None,
    typer.Option("--max-total-tokens", metavar="N", min=1, help="Servers: send none after so many tokens."),
]

Engine = Annotated[
    str, typer.Option("--engine", metavar="NAME", help="local, or ray: copies of the model on a cluster's workers.")
]
RayAddress = Annotated[
    str | None,
    typer.Option("--ray-address", metavar="ADDRESS", help="The cluster. Default: one is started on this machine."),
]
Workers = Annotated[
    int | None,
    typer.Option("--workers", metavar="N", min=1, help="Copies of the model. Default: one a GPU, or one a machine."),
]

_SERVER = ServerSettings()
OF_SERVERS = tuple(field.name for field in fields(ServerSettings))
"""The options for models behind a server: what a command leaves out that needs weights here."""
OF_CLUSTERS = ("engine", "ray_address", "workers")
"""The options for a Ray cluster: what a command leaves out that asks no run."""
PARAMETER = "loading"
"""The parameter of a command that takes the settings."""


def load_settings(
    dtype: Dtype = "float32",
    device: Device = "auto",
    device_map: DeviceMapOption = None,
    batch_tokens: BatchTokens = None,
    template_arg: TemplateArguments = None,
    generation_header: GenerationHeader = None,
    base_url: BaseUrl = None,
    concurrency: Concurrency = _SERVER.concurrency,
    timeout: Timeout = _SERVER.timeout,
    retries: Retries = _SERVER.retries,
    max_requests: MaxRequests = None,
    max_total_tokens: MaxTotalTokens = None,
    engine: Engine = "local",
    ray_address: RayAddress = None,
    workers: Workers = None,
) -> LoadSettings:
    """The settings that the options give. Raises UserError for an argument of the chat template that is at fault."""
    from veridical.prompts.template_arguments import parse_template_arguments

    return LoadSettings(
        dtype=dtype,
        device=device,
        device_map=device_map,
        batch_tokens=batch_tokens,
        template_args=parse_template_arguments(template_arg or [], generation_header),
        server=ServerSettings(base_url, concurrency, timeout, retries, max_requests, max_total_tokens),
        engine=engine,
        ray=RaySettings(ray_address, workers),
    )


def with_load_settings(*without: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command the options of `load_settings`, less those `without`, in place of its parameter `loading`.

    The command is called with a `LoadSettings`. Its parameters after `loading` must be keyword-only or have defaults.
    """
    options = [one for one in _parameters(load_settings) if one.name not in without]

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        def with_options(**given: Any) -> None:
            taken = {one.name: given.pop(one.name) for one in options}
            command(**given, **{PARAMETER: load_settings(**taken)})

        parameters = [
            option for one in _parameters(command) for option in (options if one.name == PARAMETER else [one])
        ]
        with_options.__name__, with_options.__doc__ = command.__name__, command.__doc__
        with_options.__module__ = command.__module__
        # Typer reads a command's options from these two.
        with_options.__annotations__ = {one.name: one.annotation for one in parameters}
        with_options.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        return with_options

    return decorate


def _parameters(function: Callable[..., object]) -> list[inspect.Parameter]:
    """A function's parameters, keyword-only, with their annotations evaluated."""
    hints = get_type_hints(function, include_extras=True)
    return [
        one.replace(kind=inspect.Parameter.KEYWORD_ONLY, annotation=hints[one.name])
        for one in inspect.signature(function).parameters.values()
    ]
