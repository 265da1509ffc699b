"""Our engine as a model of lm-evaluation-harness: its tasks and its numbers, our forward passes.

What is put to a model is decided by the harness's own code, that of its model `hf` (`HFLM`): how a context and its
continuation are joined (white space at the end of a context goes to the continuation), what stands before a text, chat
templates, rolling windows, the cut of what is too long, stops. Only the forward passes are Veridical's, so that each
distinct prefix runs once. Where an `hf` model would sample, or generate under settings that are not plain greedy
decoding, it does so here as well, over the same weights.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from jinja2.exceptions import TemplateError
from lm_eval.api.registry import register_model
from lm_eval.models.huggingface import HFLM
from lm_eval.models.utils import handle_stop_sequences, postprocess_generated_text
from lm_eval.utils import get_rolling_token_windows, make_disjoint_window
from tqdm import tqdm

from veridical.engine.generation import Generator
from veridical.engine.likeliest import Likeliest
from veridical.engine.memory import TooLargeError
from veridical.engine.plain import PlainGenerator
from veridical.errors import UserError, excerpt
from veridical.interop.harness.greedy import StopText, is_plain_greedy, normalized
from veridical.loggers import errors_alone
from veridical.models import DeviceMap, load
from veridical.models.hf import HuggingFaceModel
from veridical.models.loading_notes import loading_sentences
from veridical.models.protocol import LanguageModel, TokenSequence

NAME = "veridical"
"""The model's name in the harness's registry, and in its results."""

RequestTokens = tuple[tuple[str, str] | None, list[int], list[int]]
"""A request as the harness has it: its texts (None of a window), the ids of the context and of the continuation."""
ScoredAnswer = tuple[float, bool]

_LOG = logging.getLogger(__name__)


@register_model(NAME)
class EngineLM(HFLM):  # type: ignore[misc]  # the harness has no types
    """A causal model or an encoder-decoder on our engine."""

    def __init__(
        self,
        pretrained: str | LanguageModel,
        *,
        dtype: str = "float32",
        device: str | None = None,
        device_map: DeviceMap | None = None,
        batch_tokens: int | None = None,
        batch_size: int | str | None = None,
        max_batch_size: int | None = None,
        max_length: int | None = None,
        add_bos_token: bool | None = None,
        prefix_token_id: int | None = None,
        think_end_token: str | int | None = None,
        chat_template_args: Mapping[str, object] | None = None,
    ) -> None:
        """`pretrained` is a model as the command line spells it, or one that is loaded.

        `batch_size` counts for what the harness generates itself. The others are the harness's own arguments. Raises
        UserError for a model that cannot be loaded, and for a sequence classifier.
        """
        if isinstance(pretrained, str):
            pretrained = load(
                pretrained,
                dtype=dtype,
                device=device or "auto",
                batch_tokens=batch_tokens,
                device_map=device_map,
            )
            for line in loading_sentences(pretrained.name, pretrained):
                _LOG.warning("%s", line)
        if not isinstance(pretrained, HuggingFaceModel):
            raise UserError(
                f"model {pretrained.name!r} cannot answer the harness's tasks: they need a language model whose "
                "weights are here"
            )
        self.answering = pretrained
        self.engine = pretrained.engine
        with errors_alone("lm_eval.models.huggingface"):  # which warns of every model that is loaded already
            super().__init__(
                pretrained=self.engine.model,
                tokenizer=pretrained.encoder.tokenizer,
                batch_size=batch_size or 1,
                max_batch_size=max_batch_size or 64,
                max_length=max_length,
                add_bos_token=add_bos_token,
                prefix_token_id=prefix_token_id,
                think_end_token=think_end_token,
                chat_template_args=dict(chat_template_args or {}),
            )

    def get_model_info(self) -> dict[str, Any]:
        """What the results file reports about the model."""
        fingerprint = self.answering.fingerprint
        return {
            "model_num_parameters": self.answering.n_parameters,
            "model_dtype": self.engine.model.dtype,
            "model_revision": fingerprint.parts["weights"],
            "model_sha": fingerprint.parts["weights"],
            "engine": self.engine.name,
            "fingerprint": fingerprint.digest,
        }

    def apply_chat_template(self, chat_history: list[dict[str, str]], add_generation_prompt: bool = True) -> str:
        """The chat as text, by the harness. Raises UserError where there is no template, or it refuses the chat."""
        if not self.tokenizer.chat_template:
            raise UserError(f"model {self.answering.name!r} has no chat template: leave out --apply-chat-template")
        try:
            text: str = super().apply_chat_template(chat_history, add_generation_prompt)
        except (TemplateError, ValueError) as error:
            roles = ", ".join(turn["role"] for turn in chat_history)
            # What a template itself says of a chat is the model's; Jinja and transformers raise other classes.
            own = f": {excerpt(error, 300)}" if type(error) is TemplateError else ""
            raise UserError(
                f"the chat template of model {self.answering.name!r} refuses turns of {roles}{own}; try "
                "--no-fewshot-as-multiturn, or no --apply-chat-template"
            ) from error
        return text

    # Log-likelihoods

    def _loglikelihood_tokens(
        self, requests: Sequence[RequestTokens], disable_tqdm: bool = False, override_bs: int | None = None
    ) -> list[ScoredAnswer]:
        """The harness's requests, in their order; equal ones are computed once."""
        sequences = [self._sequence(*request) for request in requests]
        self._tell_cut(requests, sequences)
        waiting: dict[TokenSequence, list[int]] = {}
        for number, sequence in enumerate(sequences):
            waiting.setdefault(sequence, []).append(number)
        answers: dict[int, ScoredAnswer] = {}
        with tqdm(total=len(requests), desc="Running loglikelihood requests", disable=disable_tqdm or None) as bar:
            for sequence, answer in self._scored(list(waiting)):
                for number in waiting[sequence]:
                    answers[number] = answer
                    if (texts := requests[number][0]) is not None:
                        self.cache_hook.add_partial("loglikelihood", texts, answer)
                    bar.update(1)
        return [answers[number] for number in range(len(requests))]

    def loglikelihood_rolling(self, requests: list[Any], disable_tqdm: bool = False) -> list[float]:
        """The log-likelihood (natural log) of each whole text, in windows of the model's length."""
        windows: list[RequestTokens] = []
        owners: list[int] = []
        for number, request in enumerate(requests):
            tokens = self.tok_encode(request.args[0])
            for window in get_rolling_token_windows(tokens, self.prefix_token_id, self.max_length, context_len=1):
                context, continuation = make_disjoint_window(window)
                windows.append((None, context, continuation))
                owners.append(number)
        totals = [0.0] * len(requests)
        for owner, (value, _) in zip(owners, self._loglikelihood_tokens(windows, disable_tqdm), strict=True):
            totals[owner] += value
        for request, total in zip(requests, totals, strict=True):
            self.cache_hook.add_partial("loglikelihood_rolling", request.args, total)
        return totals

    def _sequence(self, texts: tuple[str, str] | None, context: list[int], continuation: list[int]) -> TokenSequence:
        """What is scored for a request: cut on the left to what the model takes, as `hf` cuts it.

        Raises UserError where there is no token to score, or to begin from, or more of them than the model takes: `hf`
        stops there too.
        """
        shown = "" if texts is None else f": {texts[1]!r} after a context that ends {texts[0][-40:]!r}"
        if not continuation:
            raise UserError(f"a continuation has no token of its own{shown}; change the task's target_delimiter")
        if not context:
            raise UserError(f"a context of nothing but white space{shown}; change the task's doc_to_text")
        if len(continuation) > self.max_length:
            raise UserError(
                f"a continuation of {len(continuation)} tokens, and the model takes {self.max_length}{shown[:200]}"
            )
        if self.backend == "seq2seq":
            return TokenSequence(tuple(context[-self.max_length :]), tuple(continuation))
        room = self.max_length + 1 - len(continuation)
        return TokenSequence(tuple(context[-room:]), tuple(continuation))

    def _tell_cut(self, requests: Sequence[RequestTokens], sequences: Sequence[TokenSequence]) -> None:
        cut = sum(len(one.context) < len(request[1]) for one, request in zip(sequences, requests, strict=True))
        if cut:
            _LOG.warning(
                "%d of %d contexts are cut on the left: the model takes %d tokens", cut, len(requests), self.max_length
            )

    def _scored(self, sequences: list[TokenSequence]) -> Iterator[tuple[TokenSequence, ScoredAnswer]]:
        causal = self.backend == "causal"
        likeliest = Likeliest(self.engine.model, sequences) if causal else None
        written = {} if causal else self._first_tokens(sequences)
        try:
            for place, value in self.engine.score(sequences, likeliest):
                one = sequences[place]
                greedy = likeliest.agrees(place) if likeliest else written[place] == one.continuation
                yield one, (value, greedy)
        except TooLargeError as error:
            raise UserError(
                f"{len(error.places)} requests do not fit into memory, each alone in a pass: give a smaller model, or "
                "a smaller --max-length"
            ) from error

    def _first_tokens(self, sequences: Sequence[TokenSequence]) -> dict[int, tuple[int, ...]]:
        """What greedy decoding writes after each context, as many tokens as its continuation has."""
        generator = PlainGenerator(self.engine.model, self.engine.budget, frozenset())
        contexts = [sequence.context for sequence in sequences]
        limits = [len(sequence.continuation) for sequence in sequences]
        return {place: written.tokens for place, written in generator.generate(contexts, limits)}

    # Generation

    def generate_until(self, requests: list[Any], disable_tqdm: bool = False) -> list[str]:
        """The greedy text of each request, up to its first stop; requests with other settings go to the harness."""
        texts: dict[int, str] = {}
        groups: dict[str, list[int]] = {}
        for number, request in enumerate(requests):
            groups.setdefault(json.dumps(request.args[1], sort_keys=True, default=str), []).append(number)
        others: list[int] = []
        with tqdm(total=len(requests), desc="Running generate_until requests", disable=disable_tqdm or None) as bar:
            for numbers in groups.values():
                settings = requests[numbers[0]].args[1]
                if not self._is_ours(settings, [requests[number].args[0] for number in numbers]):
                    others += numbers
                    continue
                contexts = [requests[number].args[0] for number in numbers]
                for place, text in self._written(contexts, settings):
                    texts[numbers[place]] = text
                    self.cache_hook.add_partial("generate_until", requests[numbers[place]].args, text)
                    bar.update(1)
        if others:
            _LOG.info("%d texts are generated by the harness's own hf model", len(others))
            theirs = self._generated([requests[number] for number in others], disable_tqdm)
            texts |= dict(zip(others, theirs, strict=True))
        return [texts[number] for number in range(len(requests))]

    def _generated(self, requests: list[Any], disable_tqdm: bool) -> list[str]:
        """By the harness and transformers, which refuse settings that they do not know in ways of their own."""
        try:
            texts: list[str] = super().generate_until(requests, disable_tqdm=disable_tqdm)
        except Exception as error:
            settings = json.dumps(requests[0].args[1], sort_keys=True, default=str)
            empty = not all(one.args[0] for one in requests)
            asked = "a prompt without a token" if empty else f"the settings {excerpt(settings, 300)}"
            raise UserError(
                f"the harness's hf model cannot generate: it was given {asked}; change --gen-kwargs or the task"
            ) from error
        return texts

    def _is_ours(self, settings: Mapping[str, Any], contexts: Sequence[str]) -> bool:
        """Whether this is plain greedy decoding, which our engine does."""
        wanted = normalized(settings, self.max_gen_toks)
        plain = is_plain_greedy(self.engine.model.generation_config.to_dict(), wanted)
        return plain and self.engine.path == "packed" and all(contexts)

    def _written(self, contexts: Sequence[str], settings: Mapping[str, Any]) -> Iterator[tuple[int, str]]:
        """(place, text) for each context, as it is finished: greedy, up to an end of text or a stop."""
        wanted = normalized(settings, self.max_gen_toks)
        limit = wanted["max_gen_toks"]
        end_of_text = self.tok_decode([self.eot_token_id], skip_special_tokens=False)
        stops = handle_stop_sequences(wanted["until"], eos=end_of_text)
        room = self.max_length - limit
        if room < 1:
            raise UserError(
                f"{limit} tokens are to be generated, and the model takes {self.max_length} with the prompt: give "
                "--gen-kwargs max_gen_toks=N"
            )
        prompts = [tuple(self.tok_encode(context, left_truncate_len=room)) for context in contexts]
        generator = Generator(
            self.engine.model, self.engine.budget, self._ends_of_text(), StopText(self.tokenizer, stops)
        )
        thought = 0
        for place, written in generator.generate(prompts, limit):
            thought += self.answering.thinks(written.tokens)
            yield place, self._answer(written.tokens, stops)
        if thought and self.think_end_token is None:
            _LOG.warning(
                "%d of %d texts hold thinking, which the harness keeps in the answer unless --think-end-token names "
                "what ends it; 'veridical run' takes it out by itself",
                thought,
                len(prompts),
            )

    def _ends_of_text(self) -> frozenset[int]:
        """The tokens at which `model.generate` ends, and the tokenizer's, which the harness makes a stop."""
        configured = self.engine.model.generation_config.eos_token_id
        listed = configured if isinstance(configured, list | tuple) else [configured]
        return frozenset(token for token in (*listed, self.eot_token_id) if token is not None)

    def _answer(self, tokens: Sequence[int], stops: list[str]) -> str:
        """The text that the harness keeps: after the end of thinking, before the first stop."""
        mark = self.think_end_token
        if not isinstance(mark, int):
            return str(postprocess_generated_text(self.tok_decode(tokens), stops, mark))
        after = len(tokens) - tuple(tokens)[::-1].index(mark) if mark in tokens else 0
        return str(postprocess_generated_text(self.tok_decode(tokens[after:]).lstrip(), stops, None))
