"""The reference that the fast reader of the lessons must equal: the same fold as a projection of the library."""

import json
from typing import Any

from eventsourcing.persistence import Tracking
from eventsourcing.projection import Projection
from eventsourcing.sqlite import SQLiteTrackingRecorder

from kernelmill.bus.recorder import LoggedEvent
from kernelmill_lessons.domain.notes import Memory, Note


class NotesView(SQLiteTrackingRecorder):
    """What is remembered, stored with the position in one transaction, as the library wants it."""

    def construct_create_table_statements(self) -> list[str]:
        table = "create table if not exists remembered (part text, key text, content text, primary key (part, key))"
        return [*super().construct_create_table_statements(), table]

    def store(self, rows: list[tuple[str, str, str]], tracking: Tracking) -> None:
        with self.datastore.transaction(commit=True) as cursor:
            self._insert_tracking(cursor, tracking)
            for row in rows:
                cursor.execute("insert or replace into remembered values (?, ?, ?)", row)

    def memory(self) -> Memory:
        """Return the memory as it is stored."""
        memory = Memory(position=self.max_tracking_id("kernelmill") or 0)
        with self.datastore.transaction(commit=False) as cursor:
            cursor.execute("select part, key, content from remembered", ())
            for part, key, content in [tuple(row) for row in cursor.fetchall()]:
                held = json.loads(content)
                if part == "campaign":
                    memory.campaigns[key] = (held[0], held[1])
                elif part == "note":
                    note = Note.of(held)
                    memory.notes[note.campaign, note.candidate] = note
                else:
                    memory.stated[key] = held
        return memory


class NotesProjection(Projection[NotesView]):
    """Folds every event into the memory, one transaction each."""

    name = "notes"

    def __init__(self, view: NotesView) -> None:
        super().__init__(view)
        self._memory = view.memory()

    def process_event(self, domain_event: LoggedEvent, tracking: Tracking) -> None:
        memory = self._memory
        memory.apply(tracking.notification_id, domain_event.event)
        changed: list[tuple[str, str, Any]] = [
            *(("campaign", key, memory.campaigns[key]) for key in memory.changed_campaigns),
            *(("note", ".".join(key), memory.notes[key].plain()) for key in memory.changed_notes),
            *(("stated", key, memory.stated[key]) for key in memory.changed_stated),
        ]
        self.view.store([(part, key, json.dumps(content)) for part, key, content in changed], tracking)
        for keys in (memory.changed_campaigns, memory.changed_notes, memory.changed_stated):
            keys.clear()
