"""What a caller may rely on from whatever answers.

A query says what is put to a model; a request is that query as this model sees it (token ids, or messages for
a server); an outcome is what came back. Models know nothing of suites: they see queries only.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, Protocol, runtime_checkable

from veridical.digests import digest
from veridical.items import Mode
from veridical.prompts.template import Context, Message
from veridical.status import Status

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from veridical.engine.passes import Pass
    from veridical.engine.probes import Probes

FinishReason = Literal["stop", "length", ""]

THINKING_OPEN = "thinking_open"
"""The note of a request whose context leaves a thinking block open, so that the reply begins inside it."""


@dataclass(frozen=True, slots=True)
class Query:
    """A context and, to score choices, one continuation a choice.

    `contexts` holds one context for all choices, or one a choice. Without continuations the model is to
    generate. `unconditional` asks for each continuation's score without its context as well. `delimiter` is what
    stands between a context and a continuation; where it is None that is decided by what the two are. `classes` holds,
    for each choice, the names of the class that stands for it; it goes with a `TextPair` and no continuations.
    """

    contexts: tuple[Context, ...]
    continuations: tuple[str, ...] = ()
    unconditional: bool = False
    classes: tuple[tuple[str, ...], ...] = ()
    delimiter: str | None = None

    def __post_init__(self) -> None:
        if len(self.contexts) not in (1, len(self.continuations)):
            raise ValueError(f"{len(self.contexts)} contexts for {len(self.continuations)} continuations")


@dataclass(frozen=True, slots=True)
class GenerationSettings:
    """Greedy decoding: where to stop."""

    max_new_tokens: int = 512


@dataclass(frozen=True, slots=True)
class TokenSequence:
    """A context and a continuation as token ids. `joined` marks a token that spanned the two texts.

    For a sequence classifier the context is the pair of texts, `segments` says which text each of its tokens is
    of, where the tokenizer says so (`token_type_ids`), and the continuation is the number of the class.
    """

    context: tuple[int, ...]
    continuation: tuple[int, ...] = ()
    n_chars: int = 0
    n_bytes: int = 0
    joined: bool = False
    segments: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Request:
    """A query as one model sees it. Two requests with one key have the same answer.

    It holds token ids (`sequences`, one a choice) for weights that are run here, or the `messages` of a conversation
    and the `continuations` to score after it for a model that tokenises itself. `notes` records what rendering had to
    do (`system_folded`: the template takes no system turn). Raises ValueError for both, or neither, of the two.
    """

    sequences: tuple[TokenSequence, ...] = ()
    unconditional: tuple[TokenSequence, ...] = ()
    settings: GenerationSettings | None = None
    notes: tuple[str, ...] = ()
    messages: tuple[Message, ...] = ()
    continuations: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if bool(self.sequences) == bool(self.messages):
            raise ValueError("a request holds token ids or messages, one of the two")

    @property
    def scores_choices(self) -> bool:
        """Whether continuations are scored; otherwise text is generated."""
        return self.settings is None

    def key(self, fingerprint: str, repeat: int = 0) -> str:
        """Everything that can change the answer: model, token ids or messages, settings, repeat. 32 hex digits."""
        settings = None if self.settings is None else self.settings.max_new_tokens
        if self.messages:
            turns = [[message.role, message.content] for message in self.messages]
            return digest([fingerprint, "messages", turns, self.continuations, settings, repeat], length=32)
        ids = [
            [list(s.context), list(s.continuation), *([list(s.segments)] if s.segments else [])]
            for s in (*self.sequences, *self.unconditional)
        ]
        return digest([fingerprint, ids, len(self.unconditional), settings, repeat], length=32)


@dataclass(frozen=True, slots=True)
class ChoiceScore:
    """The log-likelihood (natural log, float32 sums) of one choice and what normalises it."""

    total: float
    n_tokens: int
    n_chars: int
    n_bytes: int
    unconditional: float | None = None
    joined: bool = False


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came back for one request.

    `status` is `ok` where the model did its part; what the text or the scores then mean is judged later.
    `too_long` (skipped, never cut), `empty` (a choice with no token to score), `non_finite` and `truncated`
    (the token limit came first) are facts about the request; `error` is never stored as an answer.
    """

    status: Status
    scores: tuple[ChoiceScore, ...] = ()
    text: str | None = None
    n_tokens: int = 0
    finish: FinishReason = ""
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """What makes a model's answers what they are, by name: weights, dtype, tokenizer, engine, ..."""

    parts: Mapping[str, str] = field(default_factory=dict)

    @property
    def digest(self) -> str:
        """32 hexadecimal digits over all parts."""
        return digest(dict(self.parts), length=32)


LANGUAGE_MODES: tuple[Mode, ...] = ("loglikelihood", "generate")
"""The modes of a model that scores and writes text."""
CLASSIFIER_MODES: tuple[Mode, ...] = ("classify",)


@runtime_checkable
class LanguageModel(Protocol):
    """Answers requests.

    What holds for every backend: the outcome of a request does not depend on the other requests of the call,
    on their order or on the size of batches (near ties aside, which are counted); equal requests are computed
    once; a request that is too long is answered `too_long`; one bad request never loses the others.
    """

    @property
    def name(self) -> str:
        """The model as the user spelt it (`smollm2`, `hf/ORG/NAME`)."""

    @property
    def fingerprint(self) -> Fingerprint:
        """Everything about the model that its answers depend on."""

    @property
    def n_parameters(self) -> int | None:
        """Number of parameters, None where it is not known."""

    @property
    def modes(self) -> tuple[Mode, ...]:
        """The ways in which this model can be asked."""

    def prepare(self, query: Query, settings: GenerationSettings | None = None) -> Request:
        """Render and tokenise: no forward pass. `settings` are for queries without continuations.

        Raises UserError where the model cannot be asked this (no chat template for a conversation that needs
        one, say).
        """

    def answer(self, requests: Iterable[Request]) -> Iterator[tuple[int, Outcome]]:
        """(position in `requests`, outcome) for every request, in the order in which they finish."""


@runtime_checkable
class Resumable(Protocol):
    """A model that answers what is left of a job as it would have within the whole of it.

    Scores move in their last digits with what runs in the same batch. A model of this kind plans batches of the whole
    job, so that a run that was stopped and goes on gives the same scores to the bit.
    """

    def answer_some(self, requests: Sequence[Request], wanted: Collection[int]) -> Iterator[tuple[int, Outcome]]:
        """As `answer(requests)`, less the positions that are not wanted."""


@runtime_checkable
class Divisible(Resumable, Protocol):
    """A model whose work can be divided over several copies of it without changing what runs together."""

    def passes(self, requests: Sequence[Request]) -> list[Pass]:
        """What would run together, were all of these requests answered; each request is a place of one pass."""


@runtime_checkable
class Probed(Protocol):
    """A model that can try how far its answers depend on batches and repetition."""

    def probe(self) -> Probes:
        """Run a few prompts alone, in batches and repeatedly, and compare the results."""


@dataclass(frozen=True, slots=True)
class LoadingNotes:
    """What was found when a model's files were read.

    `unused_weights` are in the files and not in the model. `warnings` are those of the libraries that read the files.
    `remarks` are sentences on what a reader of the scores must know of the model, without its name and a full stop.
    """

    unused_weights: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()


NOTHING_FOUND = LoadingNotes()


@runtime_checkable
class LoadedFromFiles(Protocol):
    """A model with local weights: it says what was found when they were read."""

    @property
    def loading(self) -> LoadingNotes:
        """What was found when the files were read."""


@dataclass(eq=False)
class RequestedStates:
    """Hidden states wanted from the passes that answer: of each request's last prompt token, at some layers.

    Layer 0 is the embedding, k the output of block k, and the last is taken before the final norm, whatever a model's
    own code counts (transformers' Mamba leaves the embedding out). `states` [requests, layers, width], float32, is
    there once every request has been answered; the row of a request that was refused is NaN.
    """

    layers: tuple[int, ...]
    states: npt.NDArray[np.float32] | None = None


@runtime_checkable
class Readable(Protocol):
    """A model whose hidden states can be read."""

    @property
    def n_blocks(self) -> int:
        """Number of blocks: the layers are 0 to this."""

    def answer_and_read(
        self, requests: Sequence[Request], reading: RequestedStates, wanted: Collection[int] | None = None
    ) -> Iterator[tuple[int, Outcome]]:
        """As `answer`, for requests that score choices; fills `reading` from the same passes.

        Where some positions alone are `wanted`, the others are neither answered nor read: see `Resumable`.
        """


@runtime_checkable
class SpanReader(Protocol):
    """A model whose hidden states can be averaged over a part of a text."""

    @property
    def n_blocks(self) -> int:
        """Number of blocks; layers are numbered from 0 (the embedding) to this."""

    def read_spans(
        self, texts: Sequence[str], spans: Sequence[tuple[int, int]], layers: Sequence[int]
    ) -> npt.NDArray[np.float32]:
        """Mean state of the tokens that touch characters [start, stop) of each text, [texts, layers, width].

        Texts are put to the model as they stand, with what its tokenizer's rule puts before a text.
        """
