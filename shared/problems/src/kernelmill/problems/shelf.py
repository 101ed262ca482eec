"""Problems that a service has loaded, by digest."""

from collections.abc import Awaitable, Callable, Mapping

from kernelmill.problems.folder import problem_from_files
from kernelmill.problems.problem import Problem

FetchFiles = Callable[[str], Awaitable[Mapping[str, bytes]]]
"""Fetches the files of a registered problem by its digest."""

_KEPT = 8


class ProblemShelf:
    """Loads registered problems on first need and keeps the last few."""

    def __init__(self, fetch: FetchFiles) -> None:
        self._fetch = fetch
        self._problems: dict[str, Problem] = {}

    async def get(self, digest: str) -> Problem:
        """Return the problem.

        Raises:
            ProblemFormatError: the registered files make no problem.
        """
        problem = self._problems.pop(digest, None) or problem_from_files(await self._fetch(digest))
        self._problems[digest] = problem
        while len(self._problems) > _KEPT:
            self._problems.pop(next(iter(self._problems)))
        return problem
