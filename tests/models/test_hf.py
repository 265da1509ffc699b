"""Hugging Face models behind the protocol: tiny ones for each rule, the embedded SmolLM2 for the real thing."""

from __future__ import annotations

import json
import math
import random
from pathlib import Path
from typing import Any

import pytest
import torch

from veridical.engine.probes import probe
from veridical.errors import UserError
from veridical.models import hf, load
from veridical.models.endings import stop_tokens
from veridical.models.hf import HuggingFaceModel
from veridical.models.protocol import GenerationSettings, LanguageModel, Outcome, Query, Request, TokenSequence
from veridical.prompts.template import Conversation, Message, PlainText
from veridical.status import Status

from ..engine.sequences import one_at_a_time, tolerance
from . import tiny


def wrapped(tokenizer: Any, name: str = "tiny", seed: int = 0, **changes: Any) -> HuggingFaceModel:
    model = tiny.llama(len(tokenizer), seed=seed, **changes)
    return HuggingFaceModel(name, model, tokenizer, weights=f"seed {seed}", batch_tokens=300)


@pytest.fixture(scope="module")
def model() -> HuggingFaceModel:
    return wrapped(tiny.byte_level_tokenizer())


def asked(text: str, *continuations: str, unconditional: bool = False) -> Query:
    turns = (Message("system", "Be strict."), Message("user", text))
    return Query((Conversation(turns),), continuations, unconditional)


def answers(model: LanguageModel, requests: list[Request]) -> list[Outcome]:
    found = dict(model.answer(requests))
    assert sorted(found) == list(range(len(requests)))
    return [found[index] for index in range(len(requests))]


def test_the_protocol_is_kept(model: HuggingFaceModel) -> None:
    assert isinstance(model, LanguageModel)
    assert model.n_parameters == sum(p.numel() for p in model.engine.model.parameters())


def test_choices_are_scored_as_one_sequence_at_a_time(model: HuggingFaceModel) -> None:
    queries = [
        asked(f"Is the {noun} here?", "True", "False", "Unknown", unconditional=True) for noun in ("cat", "boat")
    ]
    requests = [model.prepare(query) for query in queries]
    for request, outcome in zip(requests, answers(model, requests), strict=True):
        assert outcome.status is Status.OK
        expected = one_at_a_time(model.engine.model, request.sequences)
        alone = one_at_a_time(model.engine.model, request.unconditional)
        for score, sequence, total, unconditional in zip(
            outcome.scores, request.sequences, expected, alone, strict=True
        ):
            assert score.total == pytest.approx(total, abs=tolerance(sequence))
            assert score.unconditional == pytest.approx(unconditional, abs=tolerance(sequence))
            assert (score.n_tokens, score.n_chars) == (len(sequence.continuation), sequence.n_chars)


def test_choices_may_have_contexts_of_their_own(model: HuggingFaceModel) -> None:
    contexts = tuple(PlainText(f"The {noun} fell because it") for noun in ("cat", "boat"))
    request = model.prepare(Query(contexts, ("was old.", "was old.")))
    assert request.sequences[0].context != request.sequences[1].context
    outcome = answers(model, [request])[0]
    expected = one_at_a_time(model.engine.model, request.sequences)
    assert [score.total for score in outcome.scores] == pytest.approx(expected, abs=1e-4)


def test_one_query_s_answer_does_not_depend_on_its_company(model: HuggingFaceModel) -> None:
    """Traps 16 and 27: batch of 1 against many, and each request under its own settings."""
    source = random.Random(0)
    words = ["cat", "boat", "river", "brick", "bread", "book"]
    texts = [" ".join(source.choices(words, k=source.randint(1, 12))) for _ in range(12)]
    requests = [model.prepare(asked(text, "True", "False", "Unknown")) for text in texts]
    requests += [model.prepare(asked(text), GenerationSettings(limit)) for limit, text in enumerate(texts, 1)]
    source.shuffle(requests)
    together = answers(model, requests)
    for request, outcome in zip(requests, together, strict=True):
        alone = answers(model, [request])[0]
        assert (outcome.text, outcome.finish, outcome.n_tokens) == (alone.text, alone.finish, alone.n_tokens)
        assert [s.total for s in outcome.scores] == pytest.approx([s.total for s in alone.scores], abs=1e-4)
        if request.settings is not None and outcome.finish == "length":
            assert outcome.n_tokens == request.settings.max_new_tokens


def test_equal_requests_are_computed_once(model: HuggingFaceModel) -> None:
    """Trap 56."""
    request = model.prepare(asked("Is it true?", "True", "False"))
    before = model.engine._packed.n_tokens_run
    once = answers(model, [request])
    cost = model.engine._packed.n_tokens_run - before
    before = model.engine._packed.n_tokens_run
    thrice = answers(model, [request] * 3)
    assert model.engine._packed.n_tokens_run - before == cost
    assert thrice == once * 3


def test_pad_equal_to_end_of_text_changes_nothing() -> None:
    """Trap 19: with one token for both, a "last token" that looks for padding finds the end of the text."""
    same, other = (wrapped(tiny.byte_level_tokenizer(pad_is_eos=flag)) for flag in (True, False))
    query = asked("Is the cat here?</s>", "True</s>", "False")
    scored = [answers(model, [model.prepare(query)])[0] for model in (same, other)]
    assert [s.total for s in scored[0].scores] == pytest.approx([s.total for s in scored[1].scores], abs=1e-6)


def test_what_is_too_long_is_skipped_and_said_not_cut(model: HuggingFaceModel) -> None:
    """Trap 15: cutting on the left loses the instructions."""
    assert model.longest == 256
    for n_words, expected in [(120, Status.OK), (400, Status.TOO_LONG)]:
        outcome = answers(model, [model.prepare(Query((PlainText("a b " * n_words),), ("c", "d")))])[0]
        assert outcome.status is expected
    generated = answers(model, [model.prepare(Query((PlainText("a b " * 400),)), GenerationSettings(4))])[0]
    assert generated.status is Status.TOO_LONG


def test_the_last_token_that_fits_is_scored_and_one_more_is_not(model: HuggingFaceModel) -> None:
    for n_context, expected in [(255, Status.OK), (256, Status.OK), (257, Status.TOO_LONG)]:
        request = Request((TokenSequence((7,) * n_context, (8,)),))
        assert answers(model, [request])[0].status is expected


def test_a_choice_without_tokens_is_empty(model: HuggingFaceModel) -> None:
    outcome = answers(model, [model.prepare(asked("Is it?", "True", ""))])[0]
    assert outcome.status is Status.EMPTY
    assert outcome.scores == ()


def test_scores_that_are_not_numbers_are_said() -> None:
    broken = wrapped(tiny.byte_level_tokenizer())
    with torch.no_grad():
        broken.engine.model.get_output_embeddings().weight[5] = math.nan
    outcome = answers(broken, [broken.prepare(asked("Is it?", "True", "False"))])[0]
    assert outcome.status is Status.NON_FINITE


@pytest.mark.parametrize("kind", ["causal", "window", "encoder-decoder"])
def test_text_from_logits_that_are_not_numbers_is_said(kind: str) -> None:
    tokenizer = tiny.byte_level_tokenizer()
    made = {"causal": tiny.llama, "window": tiny.mistral_with_window, "encoder-decoder": tiny.t5}[kind](len(tokenizer))
    with torch.no_grad():
        made.get_output_embeddings().weight.fill_(math.nan)
    broken = HuggingFaceModel("tiny", made, tokenizer, weights="w")
    outcome = answers(broken, [broken.prepare(asked("Is it?"), GenerationSettings(4))])[0]
    assert (outcome.status, outcome.text, outcome.n_tokens) == (Status.NON_FINITE, "", 0)
    assert "not numbers" in outcome.detail


def test_a_tokenizer_with_more_words_than_the_model_is_refused() -> None:
    tokenizer = tiny.byte_level_tokenizer()
    n = len(tokenizer) - 60
    with pytest.raises(UserError, match=rf"'tiny'.* 60 tokens \(ids up to {n + 59}\) beyond the {n} "):
        HuggingFaceModel("tiny", tiny.llama(n), tokenizer, weights="w")


def test_a_special_token_beyond_the_model_is_refused_where_a_text_holds_it() -> None:
    """As the image token of text models that were cut from larger ones."""
    tokenizer = tiny.byte_level_tokenizer()
    n = len(tokenizer)
    tokenizer.add_special_tokens({"additional_special_tokens": ["<image>"]})
    model = HuggingFaceModel("tiny", tiny.llama(n), tokenizer, weights="w")
    assert answers(model, [model.prepare(asked("Is it?", "True"))])[0].status is Status.OK
    for query in (asked("Is it <image>?"), asked("Is it?", "True", "<image>")):
        with pytest.raises(UserError, match="'tiny' has no embedding of the special token '<image>'"):
            model.prepare(query)


@pytest.mark.parametrize("longest", [1, 2, 3, 4, 8, 30])
@pytest.mark.parametrize("made", [tiny.llama, tiny.mistral_with_window])
def test_a_model_of_a_tiny_window_is_probed(made: Any, longest: int, monkeypatch: pytest.MonkeyPatch) -> None:
    tokenizer = tiny.byte_level_tokenizer()
    tokenizer.model_max_length = longest
    model = HuggingFaceModel("tiny", made(len(tokenizer)), tokenizer, weights="w")
    asked: list[tuple[list[tuple[int, ...]], int]] = []

    def watched(engine: Any, prompts: list[tuple[int, ...]], new_tokens: int) -> Any:
        asked.append((prompts, new_tokens))
        return probe(engine, prompts, new_tokens)

    monkeypatch.setattr(hf, "probe", watched)
    found = model.probe()
    ((prompts, new_tokens),) = asked
    assert found.n_prompts == len(prompts) == (4 if longest > 1 else 0)
    assert all(0 < len(prompt) <= longest - new_tokens for prompt in prompts)
    assert new_tokens > 0 or not prompts
    assert found.n_choices == sum(map(len, prompts))


@pytest.mark.parametrize("made", [tiny.llama, tiny.gpt2, tiny.mistral_with_window])
def test_an_answer_has_the_room_that_its_prompt_leaves(made: Any) -> None:
    tokenizer = tiny.byte_level_tokenizer()
    model = HuggingFaceModel("tiny", made(len(tokenizer)), tokenizer, weights="w")
    lengths = [(1, 3), (245, 3), (250, 30), (251, 30), (252, 30), (252, 2), (255, 30), (256, 1)]
    source = random.Random(1)
    prompts = [tuple(source.randrange(8, 300) for _ in range(n)) for n, _ in lengths]
    requests = [
        Request((TokenSequence(prompt),), settings=GenerationSettings(limit))
        for prompt, (_, limit) in zip(prompts, lengths, strict=True)
    ]
    found = answers(model, requests)
    assert found[-1].status is Status.TOO_LONG
    for outcome, prompt, (n, limit) in zip(found[:-1], prompts, lengths, strict=False):
        ids = torch.tensor([prompt])
        written = model.engine.model.generate(
            ids,
            attention_mask=torch.ones_like(ids),
            max_new_tokens=min(limit, 256 - n),
            do_sample=False,
            eos_token_id=sorted(model.engine.stop),
            pad_token_id=2,
        )[0, n:]
        kept = [token for token in written.tolist() if token not in model.engine.stop]
        assert (outcome.text, outcome.n_tokens) == (model.encoder.decode(tuple(kept)), len(kept))


def test_generation_stops_at_the_end_of_the_turn() -> None:
    """The template's own end of turn, even where the model's configuration names another end of text."""
    tokenizer = tiny.byte_level_tokenizer()
    model = wrapped(tokenizer)
    end = tokenizer.convert_tokens_to_ids("<|end|>")
    assert model.engine.model.config.eos_token_id != end
    assert {end, tokenizer.eos_token_id} <= model.engine._generator.stop


DATED = "{% set date = strftime_now('%d %b %Y %H:%M:%S') %}Today {{ date }}. " + tiny.TEMPLATE


@pytest.mark.parametrize(
    ("template", "arguments"),
    [
        (DATED, {}),
        (DATED.replace("strftime_now(", "[strftime_now][0]("), {}),
        ("{% if not persona %}{{ raise_exception('who?') }}{% endif %}{{ persona }}" + tiny.TEMPLATE, {"persona": "I"}),
        # Adds what the opened turn does not have, as templates for thinking do.
        (tiny.TEMPLATE.replace("message['content']", "('[thought]' if loop.last else '') + message['content']"), {}),
        ({"default": tiny.TEMPLATE, "tool_use": "{{ 1 }}"}, {}),
    ],
    ids=["prints the date", "has the clock under another name", "needs its arguments", "adds to the turn", "several"],
)
def test_the_end_of_the_turn_is_found_whatever_else_the_template_prints(
    template: Any, arguments: dict[str, object]
) -> None:
    tokenizer = tiny.byte_level_tokenizer(template=template)
    model = tiny.llama(len(tokenizer))
    asked = HuggingFaceModel("tiny", model, tokenizer, weights="w", template_args=arguments)
    assert tokenizer.convert_tokens_to_ids("<|end|>") in asked.engine.stop


def test_a_template_that_ends_a_turn_with_plain_text_ends_no_answer() -> None:
    for template in (None, tiny.TEMPLATE.replace("<|end|>", " end"), "{{ raise_exception('never') }}"):
        tokenizer = tiny.byte_level_tokenizer(template=template)
        assert stop_tokens(tiny.llama(len(tokenizer)), tokenizer) == {tokenizer.eos_token_id}


@pytest.mark.parametrize("token", ["</s>", -1, True, 2.5, [1, "x"], {"a": 1}])
def test_an_end_of_text_that_is_no_token_is_refused(token: Any) -> None:
    tokenizer = tiny.byte_level_tokenizer()
    model = tiny.llama(len(tokenizer))
    model.generation_config.eos_token_id = token
    with pytest.raises(UserError, match=r"eos_token_id in generation_config.json is .* not a token id"):
        stop_tokens(model, tokenizer)


def test_a_configuration_may_hold_a_number_without_end() -> None:
    """As Mamba-2's does: the greatest step of time is infinite."""
    tokenizer = tiny.byte_level_tokenizer()
    plain, limited = (tiny.llama(len(tokenizer)) for _ in range(2))
    limited.config.time_step_limit = (0.0, float("inf"))
    one, other = (HuggingFaceModel("tiny", model, tokenizer, weights="w") for model in (plain, limited))
    assert one.fingerprint.digest != other.fingerprint.digest


def fingerprints(**changes: Any) -> str:
    return wrapped(tiny.byte_level_tokenizer(), **changes).fingerprint.digest


def test_the_fingerprint_holds_whatever_can_change_an_answer() -> None:
    """Traps 7 and 35: other weights, tokenizer, template, dtype or template arguments are another model."""
    base = fingerprints()
    assert base == fingerprints()
    tokenizer = tiny.byte_level_tokenizer()
    others = {
        "weights": fingerprints(seed=1),
        "tokenizer": wrapped(tiny.byte_level_tokenizer(bos=True)).fingerprint.digest,
        "template": wrapped(tiny.byte_level_tokenizer(template=tiny.TEMPLATE + " ")).fingerprint.digest,
        "dtype": HuggingFaceModel(
            "tiny", tiny.llama(len(tokenizer)).to(torch.bfloat16), tokenizer, weights="seed 0", batch_tokens=300
        ).fingerprint.digest,
        "arguments": HuggingFaceModel(
            "tiny", tiny.llama(len(tokenizer)), tokenizer, weights="seed 0", template_args={"enable_thinking": False}
        ).fingerprint.digest,
    }
    assert len({base, *others.values()}) == len(others) + 1


def test_a_folder_is_loaded_with_the_hash_of_its_weights(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VERIDICAL_CACHE", str(tmp_path / "cache"))
    tokenizer = tiny.byte_level_tokenizer()
    first = load(f"hf/{tiny.saved(tmp_path / 'a' / 'm', tiny.llama(len(tokenizer)), tokenizer)}")
    copy = load(f"hf/{tiny.saved(tmp_path / 'b' / 'm', tiny.llama(len(tokenizer)), tokenizer)}")
    other = load(f"hf/{tiny.saved(tmp_path / 'c' / 'm', tiny.llama(len(tokenizer), seed=9), tokenizer)}")
    assert first.fingerprint == copy.fingerprint
    assert first.fingerprint.digest != other.fingerprint.digest


def edited(file: Path, **entries: Any) -> None:
    file.write_text(json.dumps({**json.loads(file.read_text()), **entries}))


@pytest.mark.parametrize(
    ("file", "entries"),
    [
        ("config.json", {"rope_parameters": {"rope_type": "default", "rope_theta": 5.0}}),
        ("config.json", {"rms_norm_eps": 0.1}),
        ("config.json", {"hidden_act": "gelu"}),
        ("config.json", {"max_position_embeddings": 128}),
        ("config.json", {"eos_token_id": 70}),
        ("generation_config.json", {"eos_token_id": [2, 70]}),
        ("tokenizer_config.json", {"model_max_length": 100}),
    ],
)
def test_weights_under_another_configuration_are_another_model(
    file: str, entries: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else stored answers of the one would be served for the other."""
    monkeypatch.setenv("VERIDICAL_CACHE", str(tmp_path / "cache"))
    tokenizer = tiny.byte_level_tokenizer()
    folder = tiny.saved(tmp_path / "m", tiny.llama(len(tokenizer)), tokenizer)
    before = load(f"hf/{folder}").fingerprint
    edited(folder / file, **entries)
    after = load(f"hf/{folder}").fingerprint
    assert before.digest != after.digest
    assert before.parts["weights"] == after.parts["weights"]


def test_where_and_by_what_a_model_was_saved_is_not_part_of_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VERIDICAL_CACHE", str(tmp_path / "cache"))
    tokenizer = tiny.byte_level_tokenizer()
    folder = tiny.saved(tmp_path / "m", tiny.llama(len(tokenizer)), tokenizer)
    before = load(f"hf/{folder}").fingerprint
    edited(folder / "config.json", transformers_version="5.0.0", _name_or_path="elsewhere", dtype="bfloat16")
    edited(folder / "generation_config.json", transformers_version="5.0.0")
    assert load(f"hf/{folder.rename(tmp_path / 'n')}").fingerprint == before


@pytest.mark.model
class TestSmolLM2:
    """The embedded weights."""

    QUESTIONS = ("Is water wet?", "Was the bridge built before the road to the old mill was closed in spring?", "Why?")

    def test_it_shares_prefixes(self, smollm2: HuggingFaceModel) -> None:
        assert smollm2.engine.path == "packed", smollm2.engine.reason
        assert smollm2.n_parameters == 134_515_008

    def test_log_likelihoods_are_those_of_one_sequence_at_a_time(self, smollm2: HuggingFaceModel) -> None:
        queries = [asked(text, "True", "False", "It is not known whether it is.") for text in self.QUESTIONS]
        requests = [smollm2.prepare(query) for query in queries]
        for request, outcome in zip(requests, answers(smollm2, requests), strict=True):
            expected = one_at_a_time(smollm2.engine.model, request.sequences)
            for score, sequence, total in zip(outcome.scores, request.sequences, expected, strict=True):
                assert score.total == pytest.approx(total, abs=tolerance(sequence))

    def test_greedy_text_is_that_of_transformers(self, smollm2: HuggingFaceModel) -> None:
        requests = [smollm2.prepare(asked(text), GenerationSettings(12)) for text in self.QUESTIONS]
        for request, outcome in zip(requests, answers(smollm2, requests), strict=True):
            prompt = torch.tensor([request.sequences[0].context])
            written = smollm2.engine.model.generate(
                prompt, attention_mask=torch.ones_like(prompt), max_new_tokens=12, do_sample=False, pad_token_id=2
            )[0, prompt.shape[1] :]
            expected = smollm2.encoder.tokenizer.decode(written, skip_special_tokens=True)
            assert outcome.text == expected

    def test_the_converted_copy_has_the_weights_of_the_file(self, smollm2: HuggingFaceModel) -> None:
        from veridical.models import gguf, sources

        file = sources.embedded_smollm2()
        assert file is not None
        folder = gguf.converted(file)
        assert folder is not None
        # Made once: a second call finds it.
        assert gguf.converted(file) == folder
        assert (folder / "model.safetensors").is_file()
        assert (folder / "tokenizer.json").is_file()
