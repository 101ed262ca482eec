"""SQLite under the memory: what changed and the position are stored in one transaction."""

import json
import sqlite3
from pathlib import Path

from kernelmill_lessons.domain.notes import VERSION, Memory, Note

_SCHEMA = """
create table if not exists position (
    id integer primary key check (id = 0), log_id text not null, sequence integer not null
);
create table if not exists campaigns (campaign text primary key, problem text not null, target text not null);
create table if not exists notes (campaign text, candidate text, note text not null, primary key (campaign, candidate));
create table if not exists stated (lesson text primary key, content text not null);
"""


class Store:
    """The stored memory of one log; another log id or another version of the fold starts from nothing."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._database = sqlite3.connect(folder / f"lessons-v{VERSION}.sqlite", check_same_thread=False)
        self._database.execute("pragma journal_mode = wal")
        self._database.execute("pragma synchronous = normal")
        self._database.executescript(_SCHEMA)

    def load(self, log_id: str) -> Memory:
        """Return the memory as it was stored last, or an empty one."""
        memory = Memory()
        row = self._database.execute("select log_id, sequence from position").fetchone()
        if row is None or row[0] != log_id:
            self._forget()
            return memory
        memory.position = row[1]
        for campaign, problem, target in self._database.execute("select campaign, problem, target from campaigns"):
            memory.campaigns[campaign] = (problem, target)
        for campaign, candidate, note in self._database.execute("select campaign, candidate, note from notes"):
            memory.notes[campaign, candidate] = Note.of(json.loads(note))
        for lesson, content in self._database.execute("select lesson, content from stated"):
            memory.stated[lesson] = json.loads(content)
        return memory

    def save(self, log_id: str, memory: Memory) -> None:
        """Store what changed together with the position."""
        with self._database:
            self._database.executemany(
                "insert or replace into campaigns values (?, ?, ?)",
                [(campaign, *memory.campaigns[campaign]) for campaign in memory.changed_campaigns],
            )
            self._database.executemany(
                "insert or replace into notes values (?, ?, ?)",
                [(*key, json.dumps(memory.notes[key].plain())) for key in memory.changed_notes],
            )
            self._database.executemany(
                "insert or replace into stated values (?, ?)",
                [(lesson, json.dumps(memory.stated[lesson])) for lesson in memory.changed_stated],
            )
            self._database.execute("insert or replace into position values (0, ?, ?)", (log_id, memory.position))
        memory.changed_campaigns.clear()
        memory.changed_notes.clear()
        memory.changed_stated.clear()

    def replace(self, log_id: str, memory: Memory) -> None:
        """Store a rebuilt memory in place of what is there, in one transaction."""
        with self._database:
            for table in ("campaigns", "notes", "stated", "position"):
                self._database.execute(f"delete from {table}")  # noqa: S608 - the names are ours
        memory.changed_campaigns = set(memory.campaigns)
        memory.changed_notes = set(memory.notes)
        memory.changed_stated = set(memory.stated)
        self.save(log_id, memory)

    def _forget(self) -> None:
        with self._database:
            for table in ("campaigns", "notes", "stated", "position"):
                self._database.execute(f"delete from {table}")  # noqa: S608 - the names are ours

    def close(self) -> None:
        """Close the database."""
        self._database.close()
