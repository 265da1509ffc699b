"""The harness's own tasks get the harness's own numbers from our engine: every log-likelihood, every text."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("lm_eval", reason="lm-eval is not installed")

import torch
from lm_eval import simple_evaluate
from lm_eval.api.instance import Instance
from lm_eval.models.huggingface import HFLM
from lm_eval.tasks import TaskManager

from tests.interop.local_tasks import EXAMPLES, QUESTIONS, write_tasks
from tests.models import tiny
from veridical.errors import UserError
from veridical.interop.harness.model import EngineLM
from veridical.models.hf import HuggingFaceModel
from veridical.models.protocol import LanguageModel

pytestmark = pytest.mark.slow

SCORED = ["questions", "questions_one_shot", "mutual", "last_word", "rolling"]


def model_of(kind: str) -> HuggingFaceModel:
    """Models that differ in what matters here: special tokens, white space, the engine's path, the number of sides."""
    tokenizers: dict[str, Callable[[], Any]] = {
        "llama": tiny.byte_level_tokenizer,
        "llama with bos": lambda: tiny.byte_level_tokenizer(bos=True),
        "sentencepiece": tiny.sentencepiece_tokenizer,
    }
    tokenizer = tokenizers.get(kind, tiny.byte_level_tokenizer)()
    makers: dict[str, Callable[[int], Any]] = {
        "gpt2": tiny.gpt2,
        "sliding window": tiny.mistral_with_window,
        "state space": tiny.mamba,
        "encoder-decoder": tiny.t5,
    }
    return HuggingFaceModel(kind, makers.get(kind, tiny.llama)(len(tokenizer)), tokenizer, weights=kind)


def theirs(model: HuggingFaceModel, **settings: Any) -> HFLM:
    return HFLM(pretrained=model.engine.model, tokenizer=model.encoder.tokenizer, **settings)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tasks(tmp_path_factory.mktemp("tasks"))


def evaluated(lm: Any, folder: Path, tasks: list[str], **settings: Any) -> dict[str, Any]:
    """What the harness finds, by its own evaluation."""
    manager = TaskManager(include_path=str(folder), include_defaults=False)
    found: dict[str, Any] = simple_evaluate(lm, tasks=tasks, task_manager=manager, bootstrap_iters=0, **settings)
    return found


def responses(results: dict[str, Any]) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """(task, document, request, what it was), what came back: of every request of every document."""
    for task, samples in results["samples"].items():
        for sample in samples:
            for number, (asked, came) in enumerate(zip(sample["arguments"], sample["resps"], strict=True)):
                yield (task, sample["doc_id"], number, asked), came[0]


def agree(mine: dict[str, Any], other: dict[str, Any], tolerance: float = 1e-4) -> int:
    """Check that all requests are the same and got the same numbers; gives how many there were."""
    pairs = list(zip(responses(mine), responses(other), strict=True))
    for (asked, came), (asked_there, came_there) in pairs:
        assert asked == asked_there
        if isinstance(came_there, str):
            assert came == came_there
        elif isinstance(came_there, float | int):
            assert came == pytest.approx(came_there, abs=tolerance * 10)  # a sum over a thousand tokens
        else:
            assert came[0] == pytest.approx(came_there[0], abs=tolerance)
            assert came[1] == came_there[1]
    return len(pairs)


@pytest.mark.parametrize(
    "kind",
    ["llama", "llama with bos", "sentencepiece", "gpt2", "sliding window", "state space", "encoder-decoder"],
)
def test_every_log_likelihood_is_the_harness_s(kind: str, folder: Path) -> None:
    model = model_of(kind)
    mine = evaluated(EngineLM(model), folder, SCORED)
    other = evaluated(theirs(model, batch_size=3), folder, SCORED)
    n_choices = sum(len(choices) for _, choices, _ in QUESTIONS)
    assert agree(mine, other) == 2 * n_choices + 2 * n_choices + len(QUESTIONS) + 3
    for task, metrics in other["results"].items():
        for name, value in metrics.items():
            same = pytest.approx(value, rel=1e-4, nan_ok=True) if isinstance(value, float) else value
            assert mine["results"][task][name] == same


def test_a_group_s_number_is_the_harness_s(folder: Path) -> None:
    model = model_of("llama")
    mine, other = (evaluated(lm, folder, ["both"]) for lm in (EngineLM(model), theirs(model, batch_size=4)))
    assert set(mine["groups"]) == {"both"}
    assert mine["groups"] == other["groups"]
    right = mine["results"]["questions"]["acc,none"] + mine["results"]["questions_one_shot"]["acc,none"]
    assert mine["groups"]["both"]["acc,none"] == pytest.approx(right / 2)


@pytest.mark.parametrize("multiturn", [True, False])
def test_chats_are_the_harness_s(folder: Path, multiturn: bool) -> None:
    model = model_of("llama")
    settings = {
        "apply_chat_template": True,
        "system_instruction": "You know the old town.",
        "fewshot_as_multiturn": multiturn,
        "num_fewshot": 2,
    }
    tasks = ["questions", "questions_one_shot", "written"]
    mine, other = (evaluated(lm, folder, tasks, **settings) for lm in (EngineLM(model), theirs(model, batch_size=1)))
    assert agree(mine, other) > 0
    context = mine["samples"]["questions_one_shot"][0]["arguments"][0][0]
    assert context.startswith("<|system|>You know the old town.<|end|><|user|>Question:")
    assert context.count("<|assistant|>") == (3 if multiturn else 1)
    assert EngineLM(model).chat_template(True) == tiny.TEMPLATE
    assert EngineLM(model).tokenizer_name == theirs(model).tokenizer_name


def test_contexts_that_are_too_long_are_cut_as_the_harness_cuts_them(
    folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    model = model_of("llama")
    settings = {"num_fewshot": len(EXAMPLES)}
    mine = evaluated(EngineLM(model, max_length=40), folder, ["questions_one_shot"], **settings)
    assert "15 of 15 contexts are cut on the left: the model takes 40 tokens" in caplog.text
    agree(mine, evaluated(theirs(model, max_length=40), folder, ["questions_one_shot"], **settings))


def test_rolling_windows_score_every_token_once() -> None:
    """Against the harness's own windows of 8 tokens, summed here token by token."""
    model = model_of("llama")
    text = "The boats on the river carry bread, books and bricks to the old town."
    tokens = model.encoder.tokenizer.encode(text)
    expected = 0.0
    with torch.inference_mode():
        for place, token in enumerate(tokens):
            # The last window is a full one that ends the text; before it windows begin where the last one ended.
            window = place // 8
            start = len(tokens) - 8 if (window + 1) * 8 > len(tokens) else window * 8
            before = [model.encoder.tokenizer.bos_token_id] if start == 0 else [tokens[start - 1]]
            context = [*before, *tokens[start:place]]
            logits = model.engine.model(torch.tensor([context])).logits[0, -1].double()
            expected += float(logits.log_softmax(-1)[token])
    assert len(tokens) > 16
    assert len(tokens) % 8 != 0
    request = Instance("loglikelihood_rolling", {}, (text,), 0)
    assert EngineLM(model, max_length=8).loglikelihood_rolling([request]) == [pytest.approx(expected, abs=1e-3)]


@pytest.mark.parametrize("kind", ["llama", "sliding window", "encoder-decoder"])
def test_what_the_model_would_write_is_greedy_and_nothing_else_is(kind: str) -> None:
    model = model_of(kind)
    numbers = random.Random(0)
    contexts = [tuple(numbers.randrange(7, 300) for _ in range(numbers.randrange(1, 9))) for _ in range(12)]
    requests: list[Any] = []
    expected: list[bool] = []
    for context in contexts:
        written = _greedy(model, context, 4)
        for length in (1, 2, 4):
            requests.append((None, list(context), written[:length]))
            expected.append(True)
            other = [*written[: length - 1], (written[length - 1] + 1) % 300]
            requests.append((None, list(context), other))
            expected.append(False)
    shuffled = numbers.sample(range(len(requests)), len(requests))
    answers = EngineLM(model, batch_tokens=None)._loglikelihood_tokens([requests[i] for i in shuffled], True)
    assert [greedy for _, greedy in answers] == [expected[i] for i in shuffled]
    alone = theirs(model, logits_cache=False)._loglikelihood_tokens([requests[i] for i in shuffled], True)
    assert [value for value, _ in answers] == pytest.approx([value for value, _ in alone], abs=1e-4)
    assert [greedy for _, greedy in answers] == [greedy for _, greedy in alone]


def _greedy(model: HuggingFaceModel, context: tuple[int, ...], n: int) -> list[int]:
    """The arg max of the bare model's logits, step by step."""
    written: list[int] = []
    for _ in range(n):
        with torch.inference_mode():
            if model.engine.model.config.is_encoder_decoder:
                given = {"input_ids": torch.tensor([context]), "decoder_input_ids": torch.tensor([[0, *written]])}
            else:
                given = {"input_ids": torch.tensor([[*context, *written]])}
            written.append(int(model.engine.model(**given).logits[0, -1].argmax()))
    return written


def test_requests_that_are_the_same_tokens_cut_elsewhere_are_each_scored() -> None:
    """With its cache of logits (the default) the harness reads the shorter continuation from the wrong end."""
    model = model_of("llama")
    requests = [(None, [10, 11, 12], [13, 14, 15]), (None, [10, 11, 12, 13], [14, 16])]
    expected = theirs(model, logits_cache=False)._loglikelihood_tokens(requests, True)
    answers = EngineLM(model)._loglikelihood_tokens(requests, True)
    assert [value for value, _ in answers] == pytest.approx([value for value, _ in expected], abs=1e-4)


def test_greedy_is_reported_across_small_batches() -> None:
    """A budget of 16 tokens cuts contexts into pieces and continuations away from them."""
    model = model_of("llama")
    model.engine.budget.batch_tokens = 16
    context = tuple(range(10, 60))
    written = _greedy(model, context, 12)
    odd = [*written[:-1], (written[-1] + 1) % 300]
    requests = [(None, list(context), written), (None, list(context), odd), (None, list(context), written[:1])]
    answers = EngineLM(model)._loglikelihood_tokens(requests, True)
    assert [greedy for _, greedy in answers] == [True, False, True]


@pytest.mark.parametrize("kind", ["llama", "llama with bos", "sliding window", "encoder-decoder"])
def test_every_text_is_the_harness_s(kind: str, folder: Path) -> None:
    model = model_of(kind)
    mine, other = (evaluated(lm, folder, ["written"]) for lm in (EngineLM(model), theirs(model, batch_size=1)))
    assert agree(mine, other) == len(QUESTIONS)
    assert any(came for _, came in responses(mine))


def test_texts_end_at_the_first_stop(tmp_path: Path) -> None:
    """Stops are taken from the middle of what the model writes without any, so that they are met."""
    model = model_of("llama")
    free = {"until": ["never written"], "max_gen_toks": 24}
    long = dict(responses_of_written(EngineLM(model), write_tasks(tmp_path / "a", free)))
    stops = sorted({text[5:8] for text in long.values() if len(text) > 12})[:3]
    stopped = write_tasks(tmp_path / "b", {"until": stops, "max_gen_toks": 24})
    mine, other = (dict(responses_of_written(lm, stopped)) for lm in (EngineLM(model), theirs(model)))
    assert mine == other
    assert any(len(mine[key]) < len(long[key]) for key in long)
    assert not any(stop in text for stop in stops for text in mine.values())


def responses_of_written(lm: Any, folder: Path) -> Iterator[tuple[int, str]]:
    for (_, document, _, _), came in responses(evaluated(lm, folder, ["written"])):
        yield document, came


def test_a_stop_ends_the_work_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else a task that stops at a line break would cost as much as its longest answer allows."""
    model = model_of("llama")
    steps: list[int] = []
    forward = type(model.engine.model).forward
    monkeypatch.setattr(
        type(model.engine.model), "forward", lambda self, *a, **k: (steps.append(1), forward(self, *a, **k))[1]
    )
    request = Instance("generate_until", {}, ("The boats carry", {"until": [], "max_gen_toks": 60}), 0)
    (text,) = EngineLM(model).generate_until([request])
    without = len(steps)
    request = Instance("generate_until", {}, ("The boats carry", {"until": [text[2:5]], "max_gen_toks": 60}), 0)
    EngineLM(model).generate_until([request])
    assert len(steps) - without < without / 2


@pytest.mark.parametrize(
    "settings",
    [
        {"until": ["\n\n"], "max_gen_toks": 12, "repetition_penalty": 1.5},
        {"until": ["\n\n"], "max_gen_toks": 12, "do_sample": True, "temperature": 0.9, "top_k": 20},
        {"until": ["\n\n"], "max_gen_toks": 12, "num_beams": 3},
    ],
    ids=["penalty", "sampled", "beams"],
)
def test_settings_that_are_not_plain_greedy_are_kept(settings: dict[str, Any], tmp_path: Path) -> None:
    model = model_of("llama")
    folder = write_tasks(tmp_path, settings)
    mine, other = (evaluated(lm, folder, ["written"]) for lm in (EngineLM(model), theirs(model, batch_size=1)))
    assert agree(mine, other) == len(QUESTIONS)
    plain = evaluated(
        EngineLM(model), write_tasks(tmp_path / "plain", {"until": ["\n\n"], "max_gen_toks": 12}), ["written"]
    )
    assert [came for _, came in responses(mine)] != [came for _, came in responses(plain)]


def test_a_checkpoint_s_own_penalty_counts(folder: Path) -> None:
    """Many instruction-tuned checkpoints come with one, and the harness's `hf` keeps to it."""
    model = model_of("llama")
    model.engine.model.generation_config.repetition_penalty = 1.5
    mine, other = (evaluated(lm, folder, ["written"]) for lm in (EngineLM(model), theirs(model, batch_size=1)))
    agree(mine, other)
    model.engine.model.generation_config.repetition_penalty = 1.0
    plain = evaluated(EngineLM(model), folder, ["written"])
    assert [came for _, came in responses(mine)] != [came for _, came in responses(plain)]


@pytest.mark.parametrize(
    "settings",
    [
        {"until": [""], "max_gen_toks": 12},
        {"until": ["zz"], "max_gen_toks": 40, "eos_token_id": 300},
        {"until": "t", "max_new_tokens": 12, "temperature": 0.0},
        {"max_tokens": 12},
    ],
    ids=["an empty stop", "an end of text of its own", "one stop", "no stop"],
)
@pytest.mark.parametrize("kind", ["llama", "llama with bos"])
def test_settings_of_a_task_are_read_as_the_harness_reads_them(kind: str, settings: dict[str, Any]) -> None:
    """Texts that begin, end and are cut in ways that tokenizers mind."""
    model = model_of(kind)
    contexts = ["The boats carry", "The boats carry ", "x " * 400, "漢字\n", "<s>The"]
    written = [
        lm.generate_until([Instance("generate_until", {}, (text, dict(settings)), 0) for text in contexts], True)
        for lm in (EngineLM(model), theirs(model, batch_size=1))
    ]
    assert written[0] == written[1]
    if settings["until"] == [""] if "until" in settings else False:
        assert all(len(text) <= len("unknown") for text in written[0])


def test_a_checkpoint_s_own_limit_goes_before_the_task_s_as_in_the_harness() -> None:
    """Transformers takes `max_new_tokens` of a checkpoint's generation settings before the harness's `max_length`."""
    model = model_of("llama")
    request = Instance("generate_until", {}, ("The boats carry", {"until": ["zz"], "max_gen_toks": 12}), 0)
    (free,) = EngineLM(model).generate_until([request], True)
    model.engine.model.generation_config.max_new_tokens = 5
    mine, other = (lm.generate_until([request], True) for lm in (EngineLM(model), theirs(model, batch_size=1)))
    assert mine == other
    assert free.startswith(mine[0])
    assert len(mine[0]) < len(free)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"max_gen_toks": 0}, "give max_gen_toks=N with N of 1 or more"),
        (
            {"max_gen_toks": "4,do_sample=true"},
            '"4,do_sample=true".*: a value is of the wrong type; change',
        ),
        ({"temperature": "hot"}, '"hot".*: a value is of the wrong type; change --gen-kwargs'),
        ({"until": None}, "'until' must be a text or a list of texts"),
        ({"until": [3]}, "'until' must be a text or a list of texts"),
        ({"nonsense": 3}, 'hf model cannot generate: it was given the settings .*"nonsense": 3'),
        (
            {"num_return_sequences": 2},
            'hf model cannot generate: it was given the settings .*"num_return_sequences": 2',
        ),
    ],
)
def test_settings_that_nothing_generates_under_are_one_line(settings: dict[str, Any], words: str) -> None:
    request = Instance("generate_until", {}, ("The boats carry", {"max_gen_toks": 4} | settings), 0)
    with pytest.raises(UserError, match=words):
        EngineLM(model_of("llama")).generate_until([request], True)


def test_a_prompt_of_nothing_is_one_line() -> None:
    """Without a beginning of text there is no token to begin from."""
    request = Instance("generate_until", {}, ("", {"max_gen_toks": 4}), 0)
    with pytest.raises(UserError, match="it was given a prompt without a token"):
        EngineLM(model_of("llama")).generate_until([request], True)


def test_chats_that_no_template_puts_are_one_line() -> None:
    model = model_of("llama")
    chat = [{"role": "user", "content": "a"}, {"role": "user", "content": "b"}]
    model.encoder.tokenizer.chat_template = "{{ raise_exception('roles must alternate') }}"
    with pytest.raises(UserError, match="refuses turns of user, user: roles must alternate; try --no-fewshot"):
        EngineLM(model).apply_chat_template(chat)
    model.encoder.tokenizer.chat_template = None
    with pytest.raises(UserError, match="model 'llama' has no chat template: leave out --apply-chat-template"):
        EngineLM(model).apply_chat_template(chat)


def test_answers_are_cached_by_the_harness(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = model_of("llama")
    tasks = ["questions", "rolling", "written"]
    first = evaluated(EngineLM(model), folder, tasks, use_cache=str(tmp_path / "cache"))

    def refuse(*given: Any, **named: Any) -> Any:
        raise AssertionError("asked again")

    for method in ("loglikelihood", "loglikelihood_rolling", "generate_until"):
        monkeypatch.setattr(EngineLM, method, refuse)
    agree(evaluated(EngineLM(model), folder, tasks, use_cache=str(tmp_path / "cache")), first)


def test_a_continuation_without_a_token_of_its_own_is_refused() -> None:
    model = model_of("llama")
    requests = [Instance("loglikelihood", {}, ("The boats carry", ""), 0)]
    with pytest.raises(UserError, match="no token of its own: '' after a context that ends 'The boats carry'"):
        EngineLM(model).loglikelihood(requests, disable_tqdm=True)


def test_a_classifier_cannot_answer_the_tasks(tmp_path: Path) -> None:
    tokenizer = tiny.pair_tokenizer("bert")
    saved = tiny.saved(tmp_path / "c", tiny.classifier("bert", len(tokenizer), ["entailment", "neutral"]), tokenizer)
    with pytest.raises(UserError, match="need a language model"):
        EngineLM(f"hf/{saved}")


@pytest.mark.model
def test_smollm2_gets_the_harness_s_numbers(smollm2: LanguageModel, folder: Path) -> None:
    assert isinstance(smollm2, HuggingFaceModel)
    tasks = ["questions", "questions_one_shot", "last_word", "written"]
    mine, other = (evaluated(lm, folder, tasks) for lm in (EngineLM(smollm2), theirs(smollm2, batch_size=1)))
    assert agree(mine, other, tolerance=1e-3) == 2 * 15 + 5 + 5
    assert json.dumps(mine["results"], sort_keys=True, default=str)


def test_thinking_that_the_harness_keeps_is_said_once(caplog: pytest.LogCaptureFixture) -> None:
    tokenizer = tiny.byte_level_tokenizer()
    tokenizer.add_tokens(["<think>", "</think>"], special_tokens=True)
    model = HuggingFaceModel("thinker", tiny.llama(len(tokenizer)), tokenizer, weights="w")
    begin, end = tokenizer.convert_tokens_to_ids(["<think>", "</think>"])
    assert model.thinks((begin, 9, end, 10))
    assert model.thinks((9, end, 10))
    assert not model.thinks((9, 10))
    with torch.no_grad():  # it writes nothing but the end of thinking
        model.engine.model.lm_head.weight.zero_()
        model.engine.model.get_output_embeddings().bias = torch.nn.Parameter(
            torch.nn.functional.one_hot(torch.tensor(end), len(tokenizer)).float()
        )
    asked = [Instance("generate_until", {}, ("The cat", {"until": ["\n"], "max_gen_toks": 3}), 0, metadata=("t", 0, 1))]
    EngineLM(model).generate_until(asked, disable_tqdm=True)
    assert caplog.text.count("1 of 1 texts hold thinking, which the harness keeps in the answer") == 1
    caplog.clear()
    EngineLM(model, think_end_token="</think>").generate_until(asked, disable_tqdm=True)
    assert "thinking" not in caplog.text
