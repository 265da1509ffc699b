"""How much of a server's rate the client uses: requests a second of a `ServerModel` against a bare loop over the SDK.

    python benchmarks/server_client.py

The server is a process of its own that answers after 50 ms. The bare loop gathers the SDK's calls under a semaphore,
which is the least that a program with the same concurrency does. Each is measured three times, in turn; prints the
best rates and their ratio at 8 and at 32 requests at once.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import time
from multiprocessing.connection import Connection

from openai import AsyncOpenAI

from tests.models.fault_server import serving
from veridical.models import ServerSettings, load
from veridical.models.protocol import GenerationSettings, Request
from veridical.prompts.template import Message

SECONDS = 0.05
ROUNDS = 3
REQUESTS = {8: 400, 32: 1_600}


def serve(connection: Connection) -> None:
    """Serve until told to end."""
    with serving(seconds=SECONDS) as server:
        connection.send(server.url)
        connection.recv()


async def bare(url: str, concurrency: int, n: int) -> None:
    """As many requests by the SDK alone."""
    room = asyncio.Semaphore(concurrency)
    async with AsyncOpenAI(api_key="none", base_url=url) as client:

        async def ask(number: int) -> str:
            async with room:
                found = await client.chat.completions.create(
                    model="m",
                    messages=[{"role": "user", "content": f"{number}?"}],
                    max_tokens=16,
                    temperature=0,
                    seed=0,
                )
            return found.choices[0].message.content or ""

        await asyncio.gather(*map(ask, range(n)))


def main() -> None:
    """Measure and print."""
    here, there = multiprocessing.Pipe()
    process = multiprocessing.get_context("spawn").Process(target=serve, args=(there,))
    process.start()
    url = here.recv()
    for concurrency, n in REQUESTS.items():
        model = load("openai/m", server=ServerSettings(base_url=url, concurrency=concurrency))
        requests = [Request(messages=(Message("user", f"{k}?"),), settings=GenerationSettings(16)) for k in range(n)]
        rates: dict[str, list[float]] = {"ours": [], "bare": []}
        for _ in range(ROUNDS):
            begun = time.perf_counter()
            assert len(dict(model.answer(requests))) == n
            rates["ours"].append(n / (time.perf_counter() - begun))
            begun = time.perf_counter()
            asyncio.run(bare(url, concurrency, n))
            rates["bare"].append(n / (time.perf_counter() - begun))
        ours, alone = max(rates["ours"]), max(rates["bare"])
        print(f"{concurrency} at once: {ours:.0f} requests/s, bare {alone:.0f}, ratio {ours / alone:.2f}")
    here.send("end")
    process.join()


if __name__ == "__main__":
    main()
