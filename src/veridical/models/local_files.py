"""Where the files of a model of one's own are: `hf/PATH`, `hf/ORG/NAME` and `gguf/PATH`."""

from __future__ import annotations

from pathlib import Path

from veridical.errors import UserError
from veridical.files.links import real_path
from veridical.files.pointers import check_pointer_file
from veridical.files.sources import check_folder
from veridical.models.model_source import ModelSource
from veridical.models.shards import check_shards

WEIGHTS = (".safetensors", ".safetensors.index.json")


def gguf_file(spec: str, rest: str) -> ModelSource:
    """The GGUF file at the path `rest`. Raises UserError for what is not such a file."""
    path = Path(rest).expanduser()
    if not path.is_file():
        raise UserError(f"model {spec!r}: there is no file {path}")
    check_pointer_file(path)
    if path.read_bytes()[:4] != b"GGUF" if path.stat().st_size < 4 else not _begins_with(path, b"GGUF"):
        raise UserError(f"model {spec!r}: {path} is not a GGUF file (its first bytes are not 'GGUF')")
    return ModelSource(spec, "gguf", str(real_path(path)), provider="gguf")


def _begins_with(path: Path, magic: bytes) -> bool:
    with path.open("rb") as file:
        return file.read(len(magic)) == magic


def hugging_face(spec: str, rest: str) -> ModelSource:
    """The model folder at the path `rest`, or the hub's repository of that name.

    Raises UserError for a folder without a configuration or weights, and for a path that does not exist.
    """
    path = Path(rest).expanduser()
    if path.is_dir():
        check_folder(path)
        if not (path / "config.json").is_file():
            raise UserError(f"model {spec!r}: {path} has no config.json, so it is not a Hugging Face model folder")
        if not any(file.name.endswith(WEIGHTS) for file in path.iterdir()):
            raise UserError(
                f"model {spec!r}: {path} has a config but no weights (*.safetensors); "
                "pickled weights (*.bin) are not loaded: convert them with save_pretrained"
            )
        for file in path.iterdir():
            if file.name.endswith((*WEIGHTS, ".json", ".model")):
                check_pointer_file(file)
        check_shards(path)
        return ModelSource(spec, "folder", str(real_path(path)))
    if path.is_file():
        raise UserError(f"model {spec!r}: {path} is a file; name its folder, or gguf/{rest} for a GGUF file")
    looks_local = rest.startswith((".", "/", "~")) or rest.count("/") != 1
    if looks_local:
        raise UserError(f"model {spec!r}: there is no folder {path} (on the hub a model is named hf/ORG/NAME)")
    return ModelSource(spec, "hub", rest)
