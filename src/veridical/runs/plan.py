"""What a run asks: from suites and the options given to asks, and from an ask to its query.

A plan knows neither models nor files. Its order is that of the suite, so that two plans of one suite agree.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from veridical.errors import UserError, unknown
from veridical.items import FULL, Item, Mode, Suite, shown_fields
from veridical.limits import limited
from veridical.models.protocol import Query
from veridical.prompts.template import Context, PlainText, Prompt, TextPair
from veridical.runs.asks import Ask, Asks, Block
from veridical.runs.shots import with_examples

MODES: tuple[Mode, ...] = ("loglikelihood", "generate", "classify")
"""The ways in which a model answers here."""


@dataclass(frozen=True, slots=True)
class Plan:
    """The asks over one suite; `skipped` says what was left out of it and why."""

    suite: Suite
    asks: Asks
    skipped: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class AskOptions:
    """What of a suite is to be asked.

    `prompts` and `inputs` are names, and everything that fits where they are None. `limit` is a number of
    sets; `orders` a number of label orders for every prompt (0: all rotations), each prompt's own where None;
    `repeats` how often each is asked, for models that sample.
    """

    modes: tuple[Mode, ...] = ("loglikelihood",)
    prompts: tuple[str, ...] | None = None
    inputs: tuple[str, ...] | None = None
    limit: int | None = None
    orders: int | None = None
    seed: int = 0
    repeats: int = 1


def fitting_prompts(suite: Suite, mode: Mode) -> tuple[Prompt, ...]:
    """The suite's prompts that can be asked in this mode: a plain one names no answers, so its choices are scored."""
    if mode == "generate":
        return tuple(prompt for prompt in suite.prompts if not prompt.plain)
    return tuple(prompt for prompt in suite.prompts if not prompt.reasons)


def _bearer(fitting: Sequence[Prompt], prompts: Sequence[Prompt], options: AskOptions) -> Prompt | None:
    """The prompt under which restricted inputs are asked: see `plan`."""
    if not prompts:
        return None
    if fitting[0] in prompts:
        return fitting[0]
    return prompts[0] if options.inputs is not None else None


def check_names(suites: Sequence[Suite], options: AskOptions) -> None:
    """Raise UserError for a mode, prompt or input that no suite has, or a prompt that fits no mode asked for."""
    for mode in options.modes:
        if mode not in MODES:
            raise unknown("mode", mode, MODES)
    prompts = {prompt.name: prompt for suite in suites for prompt in suite.prompts}
    if options.prompts and set(options.modes) == {"classify"}:
        raise UserError("--prompt goes with a language model: mode classify shows a classifier the texts alone")
    for name in options.prompts or ():
        if name not in prompts:
            raise unknown("prompt", name, prompts)
        if "generate" not in options.modes and prompts[name].reasons:
            raise UserError(f"prompt {name!r} asks the model to reason: it needs --mode generate")
    inputs = {FULL, *(name for suite in suites for name in suite.inputs)}
    for name in options.inputs or ():
        if name not in inputs:
            raise unknown("input", name, inputs)
    if options.orders is not None and options.orders < 0:
        raise UserError(f"--orders {options.orders}: give 0 for every rotation of the labels, or 1 or more")
    if options.seed < 0:
        raise UserError(f"--seed {options.seed}: give 0 or more")


def _ask_inputs(suite: Suite, options: AskOptions, restricted: bool) -> Iterator[tuple[str, bool]]:
    """(input, whether all label orders are asked); restricted inputs where `restricted`, in one order."""
    wanted = options.inputs
    if wanted is None or FULL in wanted:
        yield FULL, True
    if restricted:
        for name in suite.inputs:
            if name != FULL and (wanted is None or name in wanted):
                yield name, False


def plan(suite: Suite, options: AskOptions) -> Plan:
    """Everything to ask of one suite.

    The suite's restricted inputs are asked under one prompt of a mode: the first of the suite's that fits the
    mode, whatever else is requested, so that prompts asked one call after another make the study that they make
    when asked at once. Where that prompt is not requested they are not asked, unless inputs are named: then
    they are asked under the first requested prompt.

    Raises UserError where nothing of the suite fits the request.
    """
    asked = limited(suite, options.limit, options.seed)
    blocks: list[Block] = []
    skipped: list[str] = []
    for mode in options.modes:
        if mode == "classify":
            blocks.extend(_classify_blocks(suite, asked.items, options))
            continue
        fitting = fitting_prompts(suite, mode)
        wanted = [p for p in suite.prompts if options.prompts is None or p.name in options.prompts]
        prompts = [p for p in wanted if p in fitting]
        bearer = _bearer(fitting, prompts, options)
        if left_out := [p.name for p in wanted if p not in prompts]:
            why = (
                "its choices are to be scored" if mode == "generate" else "a prompt that reasons needs --mode generate"
            )
            skipped.append(f"{suite.name}: skipping {', '.join(left_out)} in mode {mode}: {why}")
        for prompt in prompts:
            # A plain prompt names no labels, so it is the same in every order of them.
            count = 1 if prompt.plain else prompt.orders if options.orders is None else options.orders
            for name, all_orders in _ask_inputs(suite, options, restricted=prompt is bearer):
                orders = count if all_orders else 1
                blocks.append(Block(suite.name, asked.items, name, prompt.name, mode, orders, options.repeats))
    asks = Asks(tuple(blocks))
    if not asks:
        named = ", ".join(options.prompts) if options.prompts else "any"
        raise UserError(
            f"suite {suite.name!r} has no prompt to ask (prompt: {named}; mode: {', '.join(options.modes)}); "
            f"its prompts are {', '.join(prompt.name for prompt in suite.prompts)}"
        )
    return Plan(suite, asks, tuple(skipped))


def _classify_blocks(suite: Suite, items: Sequence[Item], options: AskOptions) -> Iterator[Block]:
    """Each item once under every input that shows a text of the pair."""
    if not suite.classes:
        raise UserError(
            f"suite {suite.name!r} cannot be asked in mode classify: it does not say what a classifier calls its "
            f'labels (in a suite file: "classes": {{"LABEL": ["NAME", ...]}})'
        )
    for name, _ in _ask_inputs(suite, options, restricted=True):
        if name in suite.inputs and not set(suite.inputs[name]) & set(suite.pair):
            continue
        yield Block(suite.name, items, name, "", "classify", 1, options.repeats)


def query(suite: Suite, ask: Ask) -> Query:
    """What is put to a model for an ask.

    Raises UserError where the prompt needs a field that the item or its input does not have.
    """
    item = suite.by_id[ask.item]
    if ask.mode == "classify":
        return _pair_query(suite, item, ask.input)
    prompt = next(prompt for prompt in suite.prompts if prompt.name == ask.prompt)
    try:
        context = prompt.render(shown_fields(suite, item, ask.input), ask.labels)
    except ValueError as error:
        where = f"suite {suite.name!r}, item {item.name or item.id!r}, input {ask.input!r}"
        raise UserError(f"{where}: {error}") from error
    if ask.mode == "generate":
        return Query((context,))
    contexts: tuple[Context, ...] = (context,)
    if any(choice.context is not None for choice in item.choices):
        contexts = tuple(context if c.context is None else PlainText(c.context) for c in item.choices)
    if suite.shots:
        contexts = with_examples(suite, item, contexts)
    return Query(
        contexts,
        tuple(choice.continuation for choice in item.choices),
        unconditional=suite.all_normalisations or suite.normalisation == "unconditional",
        delimiter=prompt.delimiter,
    )


def _pair_query(suite: Suite, item: Item, input_name: str) -> Query:
    where = f"suite {suite.name!r}, item {item.name or item.id!r}"
    if missing := [field for field in suite.pair if field not in item.fields]:
        raise UserError(f"{where}: no field {missing[0]!r}, which mode classify shows; the suite's 'pair' names it")
    if missing := [label for label in item.labels if label not in suite.classes]:
        raise UserError(f"{where}: the suite's 'classes' do not say what a classifier calls {missing[0]!r}")
    shown = shown_fields(suite, item, input_name)
    first, second = (shown.get(field, "") for field in suite.pair)
    return Query((TextPair(first, second),), classes=tuple(suite.classes[label] for label in item.labels))
