"""Pages to test: what goes into an ordinary one, and one in which everything from outside is hostile."""

from __future__ import annotations

from typing import Any

from tests.report.synthetic import MODELS, Study
from veridical.report.html import page

MANIFEST = {"smollm2": {"created": "2026-01-31T12:00:00+00:00", "settings": {"seed": 7}}}
SIZES = {MODELS[0]: 134_515_008, MODELS[1]: 1_711_376_384}

HOSTILE = "</script><script>window.pwned=1</script><img src=x onerror=window.pwned=1>'\"&\u2028"


def hostile_page(study: Study) -> str:
    """The page of a study in which everything that comes from outside is hostile."""
    items = tuple(
        item.model_copy(update={"fields": {"premise": HOSTILE + str(i), HOSTILE: HOSTILE}, "name": HOSTILE})
        for i, item in enumerate(study.suite.items)
    )
    renamed = {old.id: new.id for old, new in zip(study.suite.items, items, strict=True)}
    groupings = tuple(
        grouping.model_copy(
            update={
                "members": tuple(
                    member.model_copy(update={"item": renamed[member.item], "set": HOSTILE + member.set})
                    for member in grouping.members
                )
            }
        )
        for grouping in study.suite.groupings
    )
    update: dict[str, Any] = {"items": items, "groupings": groupings}
    update |= dict.fromkeys(("name", "title", "version", "citation", "licence"), HOSTILE)
    suite = study.suite.model_copy(update=update)
    frame = study.frame.with_columns(
        item=study.frame["item"].replace_strict(renamed),
        suite=study.frame["suite"].replace(study.suite.name, HOSTILE),
        model=study.frame["model"] + HOSTILE,
        prompt=study.frame["prompt"] + HOSTILE,
        text=study.frame["text"].fill_null("") + HOSTILE,
        detail=study.frame["detail"].fill_null("") + HOSTILE,
    )
    measures = [
        m.model_copy(
            update={
                "suite": HOSTILE,
                "model": m.model + HOSTILE,
                "prompt": m.prompt + HOSTILE,
                "interval": HOSTILE,
                "null": HOSTILE,
                "slice": {k: v if k == "group" else f"{v}{HOSTILE}" for k, v in m.slice.items()},
            }
        )
        for m in study.measures
    ]
    sizes = {model + HOSTILE: size for model, size in SIZES.items()}
    return page([suite], measures, frame, {HOSTILE: {"created": HOSTILE}}, sizes, [HOSTILE])
