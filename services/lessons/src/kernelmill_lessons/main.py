"""Wiring of the lessons service."""

from kernelmill.bus import Bus, ServicePlan, ServiceSettings, run_service
from kernelmill_lessons.handlers import Lessons
from kernelmill_lessons.storage import Store


async def plan(bus: Bus, settings: ServiceSettings) -> ServicePlan:
    """Return the lessons: one fold, three answers."""
    store = Store(settings.data / "lessons")
    lessons = Lessons(bus, store)

    async def stop() -> None:
        store.close()

    return ServicePlan(
        tasks=(lessons.follow,),
        answers={
            "lessons.advice": lessons.answer_advice,
            "lessons.list": lessons.answer_list,
            "lessons.rebuild": lessons.answer_rebuild,
        },
        stop=stop,
    )


def main() -> int:
    """Run the service."""
    return run_service("lessons", plan)
