"""Teach all-MiniLM-L6-v2 to fill masked places: low-rank adapters and a prediction head, everything else frozen.

    python training/minilm_mlm/train.py --data DIR

About an hour on one core. Writes the file that the package ships, and `result.json` beside this script:
settings, sources, and the cross-entropy of held-out sentences, measured on that file as the package loads it.
"""

from __future__ import annotations

import argparse
import json
import math
import platform
import random
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file
from sources import APART, SOURCES, Text, read
from torch.nn import functional

from veridical.variation import adapters, minilm

HERE = Path(__file__).parent
SHIPPED = HERE.parents[1] / "src" / "veridical" / "variation" / "data" / minilm.LEARNED

Tokens = list[int]


@dataclass(frozen=True, slots=True)
class Settings:
    """Defaults are those of the file that ships. `texts` is the most that are learned from."""

    texts: int = 40_000
    lines: bool = True
    passes: float = 6.0
    batch: int = 32
    masked: float = 0.2
    rank: int = 28
    rate: float = 2e-3
    warm_up: float = 0.05
    clip: float = 1.0
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Batch:
    """Sentences of like length, padded. `places` (rows, columns) are masked, and `words` are what stood there."""

    tokens: torch.Tensor
    mask: torch.Tensor
    places: tuple[torch.Tensor, torch.Tensor]
    words: torch.Tensor


class Masker:
    """Masks a share of the words and pieces of every sentence, one at the least. All become the mask itself."""

    def __init__(self, tokenizer: Any, share: float) -> None:
        self.mask, self.pad = int(tokenizer.mask_token_id), int(tokenizer.pad_token_id)
        self.share = share

    def batch(self, sentences: Sequence[Tokens], source: random.Random) -> Batch:
        width = max(map(len, sentences))
        tokens = torch.full((len(sentences), width), self.pad)
        mask = torch.zeros_like(tokens)
        rows, columns, words = [], [], []
        for row, sentence in enumerate(sentences):
            tokens[row, : len(sentence)] = torch.tensor(sentence)
            mask[row, : len(sentence)] = 1
            inside = range(1, len(sentence) - 1)  # between the tokenizer's own two
            for column in source.sample(inside, max(1, round(self.share * len(inside)))):
                rows.append(row)
                columns.append(column)
                words.append(sentence[column])
        places = (torch.tensor(rows), torch.tensor(columns))
        tokens[places] = self.mask
        return Batch(tokens, mask, places, torch.tensor(words))


def epochs(encoded: Sequence[Tokens], settings: Settings, masker: Masker) -> Iterator[Batch]:
    """Batches without end: each pass takes every sentence once, with new masks, in batches of like length."""
    source = random.Random(settings.seed)
    while True:
        order = list(range(len(encoded)))
        source.shuffle(order)
        pool = 50 * settings.batch
        batches = []
        for start in range(0, len(order), pool):
            some = sorted(order[start : start + pool], key=lambda number: len(encoded[number]))
            batches += [some[at : at + settings.batch] for at in range(0, len(some), settings.batch)]
        source.shuffle(batches)
        for numbers in batches:
            yield masker.batch([encoded[number] for number in numbers], source)


def losses(model: Any, batch: Batch) -> torch.Tensor:
    """Cross-entropy at every masked place, in nats."""
    states = model.bert(input_ids=batch.tokens, attention_mask=batch.mask).last_hidden_state
    return functional.cross_entropy(model.cls(states[batch.places]), batch.words, reduction="none")


@torch.inference_mode()
def held_out_losses(model: Any, tokenizer: Any, text: Text, settings: Settings) -> dict[str, float]:
    """Mean cross-entropy over the masked places of each source's held-out sentences, and over all but `APART`."""
    model.eval()
    source, masker = random.Random(settings.seed + 1), Masker(tokenizer, settings.masked)
    found: dict[str, torch.Tensor] = {}
    for file, sentences in text.held_out.items():
        encoded = sorted(tokenizer(list(sentences))["input_ids"], key=len)
        parts = [encoded[at : at + settings.batch] for at in range(0, len(encoded), settings.batch)]
        found[file] = torch.cat([losses(model, masker.batch(part, source)) for part in parts])
    own = torch.cat([values for file, values in found.items() if file != APART.file])
    return {"all": own.mean().item(), **{file: values.mean().item() for file, values in found.items()}}


def prepare(model: Any, encoded: Sequence[Tokens], settings: Settings) -> list[torch.nn.Parameter]:
    """Freeze the encoder, add adapters, begin the head at the words' own frequencies; what is left to train."""
    model.requires_grad_(False)
    adapters.adapt(model.bert.encoder, settings.rank)
    head = model.cls.predictions
    counts = torch.ones(model.config.vocab_size)
    for sentence in encoded:
        counts.index_add_(0, torch.tensor(sentence), torch.ones(len(sentence)))
    with torch.no_grad():
        head.bias.copy_(torch.log(counts / counts.sum()))
    trained = [p for name, p in model.named_parameters() if name.endswith((f".{adapters.DOWN}", f".{adapters.UP}"))]
    trained += [*head.transform.parameters(), head.bias]
    for parameter in trained:
        parameter.requires_grad_(True)
    return trained


def train(model: Any, tokenizer: Any, text: Text, settings: Settings) -> None:
    encoded = tokenizer(random.Random(settings.seed).sample(text.learned, min(settings.texts, len(text.learned))))
    encoded = encoded["input_ids"]
    trained = prepare(model, encoded, settings)
    model.train(False)  # no dropout: so little is learned, and so shortly
    steps = round(settings.passes * len(encoded) / settings.batch)
    optimizer = torch.optim.AdamW(trained, lr=settings.rate, betas=(0.9, 0.98), weight_decay=0.0)

    def rate(step: int) -> float:
        rising = (step + 1) / (settings.warm_up * steps)
        return min(rising, 0.5 * (1 + math.cos(math.pi * step / steps)))

    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, rate)
    began, recent = time.perf_counter(), []
    print(f"{len(encoded)} texts, {steps} steps, {sum(p.numel() for p in trained)} weights", file=sys.stderr)
    for step, batch in zip(range(steps), epochs(encoded, settings, Masker(tokenizer, settings.masked)), strict=False):
        loss = losses(model, batch).mean()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(trained, settings.clip)
        optimizer.step()
        optimizer.zero_grad()
        schedule.step()
        recent.append(loss.item())
        if step % 25 == 24:
            mean, took = sum(recent) / len(recent), time.perf_counter() - began
            print(f"step {step + 1}, {took:.0f} s, loss {mean:.3f}", file=sys.stderr, flush=True)
            recent.clear()


def learned(model: Any) -> dict[str, torch.Tensor]:
    """What training made, in half precision: adapters and head, by the names that they have in the model."""
    head = model.cls.predictions
    found = {**adapters.adapters(model), "cls.predictions.bias": head.bias.detach()}
    found |= {f"cls.predictions.transform.{name}": p.detach() for name, p in head.transform.named_parameters()}
    return {name: values.half().contiguous() for name, values in found.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="the folder that holds the sources (README.md)")
    parser.add_argument("--out", type=Path, default=SHIPPED)
    parser.add_argument("--result", type=Path, default=HERE / "result.json")
    parser.add_argument("--threads", type=int, default=2)
    for name, value in asdict(Settings()).items():
        kind = {"action": argparse.BooleanOptionalAction} if isinstance(value, bool) else {"type": type(value)}
        parser.add_argument(f"--{name.replace('_', '-')}", default=value, **kind)
    given = vars(parser.parse_args())
    settings = Settings(**{name: given[name] for name in asdict(Settings())})
    torch.set_num_threads(given["threads"])
    torch.manual_seed(settings.seed)

    text = read(given["data"], settings.lines)
    encoder, tokenizer = minilm.base("cpu")
    identity = minilm.identity(encoder)
    model = minilm.with_head(encoder)
    began = time.perf_counter()
    train(model, tokenizer, text, settings)
    minutes = (time.perf_counter() - began) / 60
    given["out"].parent.mkdir(parents=True, exist_ok=True)
    save_file(learned(model), given["out"], metadata={minilm.BASE_KEY: identity})

    measured = held_out_losses(minilm.load(file=given["out"], device="cpu").model, tokenizer, text, settings)
    result = {
        "settings": asdict(settings),
        "base": {"model": minilm.HUB, "weights": identity},
        "sources": [{"file": s.file, "sha256": s.sha256, "licence": s.licence} for s in SOURCES],
        "apart": {"file": APART.file, "sha256": APART.sha256, "licence": APART.licence},
        "held_out_texts": {file: len(some) for file, some in text.held_out.items()},
        "held_out_cross_entropy": {file: round(value, 4) for file, value in measured.items()},
        "minutes": round(minutes, 1),
        "threads": given["threads"],
        "torch": torch.__version__,
        "python": platform.python_version(),
        "bytes": given["out"].stat().st_size,
    }
    given["result"].write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")
    print(json.dumps(result["held_out_cross_entropy"], indent=2))


if __name__ == "__main__":
    main()
