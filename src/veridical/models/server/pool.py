"""Many requests under way at once: coroutines in a thread of their own, their results handed to whoever iterates."""

from __future__ import annotations

import asyncio
import queue
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from typing import TypeVar

Asked = TypeVar("Asked")
Came = TypeVar("Came")

_END = object()


def concurrently(
    asked: Iterable[Asked],
    opened: Callable[[], AbstractAsyncContextManager[Callable[[Asked], Awaitable[Came]]]],
    concurrency: int,
) -> Iterator[tuple[int, Came]]:
    """(position, result) for everything asked, in the order in which they finish; `concurrency` at once.

    `opened` opens, in the thread, what answers (a client's connections) and closes it at the end. What is asked is
    taken when there is room for it. An exception of what answers is raised here once what is under way has ended, and
    nothing more is begun; closing the iterator cancels what is under way.
    """
    results: queue.SimpleQueue[object] = queue.SimpleQueue()
    source = enumerate(asked)
    loop = asyncio.new_event_loop()

    async def work() -> None:
        failed = False

        async def worker(answer: Callable[[Asked], Awaitable[Came]]) -> None:
            nonlocal failed
            for position, one in source:
                try:
                    results.put((position, await answer(one)))
                except BaseException:
                    failed = True
                    raise
                if failed:
                    return

        async with opened() as answer:
            tasks = [asyncio.create_task(worker(answer)) for _ in range(concurrency)]
            ended = await asyncio.gather(*tasks, return_exceptions=True)
        for error in ended:
            if isinstance(error, BaseException) and not isinstance(error, asyncio.CancelledError):
                raise error

    def run() -> None:
        try:
            with asyncio.Runner(loop_factory=lambda: loop) as runner:
                runner.run(work())
        except BaseException as error:
            results.put(error)
        else:
            results.put(_END)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    try:
        while (result := results.get()) is not _END:
            if isinstance(result, BaseException):
                raise result
            yield result  # type: ignore[misc]  # a position and what came
    finally:
        if thread.is_alive():
            _cancel(loop)
            thread.join(timeout=5)


def run_apart(job: Callable[[], Awaitable[Came]]) -> Came:
    """What a coroutine returns, run in a thread: a notebook has an event loop of its own in this one."""

    @asynccontextmanager
    async def opened() -> AsyncIterator[Callable[[None], Awaitable[Came]]]:
        yield lambda _: job()

    ((_, came),) = concurrently((None,), opened, 1)
    return came


def _cancel(loop: asyncio.AbstractEventLoop) -> None:
    def stop() -> None:
        for task in asyncio.all_tasks(loop):
            task.cancel()

    with suppress(RuntimeError):  # the loop has ended
        loop.call_soon_threadsafe(stop)
