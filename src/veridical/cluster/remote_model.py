"""What the driver knows of a model that workers hold."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from veridical.cluster.team import Team
from veridical.cluster.worker import Description
from veridical.models.protocol import GenerationSettings, Outcome, Query, Request
from veridical.models.settings import LoadSettings
from veridical.progress import Progress
from veridical.runs.job import Job
from veridical.runs.plan import Plan

if TYPE_CHECKING:
    from veridical.engine.probes import Probes


class RemoteModel:
    """A model that the workers of a cluster hold: `veridical.cluster.execute` asks it a job.

    It keeps `veridical.models.protocol.LanguageModel` but for `prepare` and `answer`, which the workers do themselves.
    """

    def __init__(self, team: Team, described: Description) -> None:
        self.team = team
        self.name = described.name
        self.fingerprint = described.fingerprint
        self.n_parameters = described.n_parameters
        self.modes = described.modes
        self.loading = described.loading

    @property
    def n_blocks(self) -> int:
        """Number of blocks. Raises UserError where hidden states cannot be read."""
        return int(self.team.ask_one("n_blocks"))

    def prepare(self, query: Query, settings: GenerationSettings | None = None) -> Request:
        """Raise TypeError: the workers prepare what they answer."""
        raise TypeError("a remote model prepares nothing here: its workers do")

    def answer(self, requests: Iterable[Request]) -> Iterator[tuple[int, Outcome]]:
        """Raise TypeError: the workers answer units of a job."""
        raise TypeError("a remote model answers jobs, not requests")

    def begin(self, plans: Sequence[Plan], settings: GenerationSettings, progress: Progress) -> Job:
        """The job, tried by a worker. Raises UserError where one of the asks that are tried cannot be put."""
        with progress.steps("preparing", 1) as step:
            self.team.ask_one("try_job", list(plans), settings)
            step()
        return Job(self, plans, settings, ())

    def close(self) -> None:
        """End the workers."""
        self.team.close()


class ProbedRemoteModel(RemoteModel):
    """A remote model that can try how far its answers depend on batches and repetition."""

    def probe(self) -> Probes:
        """Run a few prompts on one worker; see `veridical.models.protocol.Probed`."""
        found: Probes = self.team.ask_one("probe")
        return found


def start(spec: str, settings: LoadSettings, progress: Progress) -> RemoteModel:
    """The model of that name on the workers of a cluster. Raises UserError where that cannot be."""
    team, described = Team.start(spec, settings, progress)
    return (ProbedRemoteModel if described.probed else RemoteModel)(team, described)
