"""Cross-entropy of held-out text, of a file that `train.py` wrote: a fifth of the words masked, or one place at a time.

    python training/minilm_mlm/measure.py --data DIR [--file FILE]

One place at a time is how a proposer asks. Sentences alone, and with the whole lines that training also reads.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from sources import APART, read
from train import SHIPPED, Settings, held_out_losses

from veridical.variation import minilm

HELLASWAG = "hellaswag_requests/rc_5shot/requests.jsonl.gz"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="the folder that holds the sources (README.md)")
    parser.add_argument("--file", type=Path, default=SHIPPED)
    given = parser.parse_args()
    model = minilm.load(file=given.file, device="cpu").model
    _, tokenizer = minilm.base("cpu")
    for lines in (False, True):
        text = read(given.data, lines)
        # A share of 0 masks one word or piece of each text.
        for share, masked in ((Settings().masked, "a fifth masked"), (0.0, "one place masked")):
            found = held_out_losses(model, tokenizer, text, Settings(masked=share))
            what = "sentences and lines" if lines else "sentences"
            values = {"all": found["all"], "HellaSwag": found[HELLASWAG], "of another origin": found[APART.file]}
            print(f"{what}, {masked}:", ", ".join(f"{name} {value:.2f}" for name, value in values.items()))


if __name__ == "__main__":
    main()
