"""The planner's one function: given a campaign, the world and the time, the next event."""

from datetime import datetime

from kernelmill.events import EventBase
from kernelmill_planner.domain.closing import begin_closing, close, stop_reason
from kernelmill_planner.domain.confirming import conclude, request
from kernelmill_planner.domain.planning import plan
from kernelmill_planner.domain.settling import abandon, end_tasks, settle_tasks
from kernelmill_planner.domain.situation import Situation
from kernelmill_planner.domain.starting import start


def decide(  # noqa: PLR0911 - one return for each stage of a campaign' life
    situation: Situation, now: datetime
) -> EventBase | None:
    """Return the next event that the planner owes a campaign, None while there is nothing to do.

    Promises are ended and settled first, so that the budget is known; then champions; then new work.
    """
    fold = situation.fold
    if fold.opened is None or fold.status == "closed":
        return None
    if fold.status == "pending":
        return start(situation, now)
    owed = (
        end_tasks(situation, now) or abandon(situation, now) or settle_tasks(situation, now) or conclude(situation, now)
    )
    if owed is not None or fold.status == "paused":
        return owed
    if fold.status == "closing":
        return close(situation, now)
    stop = stop_reason(situation, now)
    if stop is None:
        return request(situation, now, final=False) or plan(situation, now)
    if not fold.open_candidates and not fold.open_tasks:
        last = request(situation, now, final=True)
        if last is not None:
            return last
    return begin_closing(situation, now, *stop)
