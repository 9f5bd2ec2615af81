"""The whole state in one value, built at the edge and handed down."""

from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from bot.state import (
    audit,
    drafts,
    drawings,
    feedback,
    followed,
    follows,
    inbox,
    leases,
    posts,
    runs,
    seen_keys,
    threads,
    watches,
)
from bot.state.database import BUSY_SECONDS, Database
from bot.state.errors import StateUnavailable
from bot.state.small_values import Clock, utc_now

# A released version is never edited: a change is one more entry.
MIGRATIONS = (
    runs.SCHEMA
    + seen_keys.SCHEMA
    + posts.schema("posts", "runs")
    + threads.SCHEMA
    + drafts.SCHEMA
    + audit.SCHEMA
    + feedback.SCHEMA,
    drafts.JOINING,
    watches.SCHEMA,
    leases.BEGINNINGS + inbox.SCHEMA,
    followed.SCHEMA,
    drawings.SCHEMA + runs.TURNS,
    runs.TASKS,
    follows.SCHEMA + followed.FOLLOWERS,
)  # fmt: skip
SEEN_FOR = timedelta(days=3)  # Slack tries an event three times within about an hour; a weekend on top


@dataclass(frozen=True)
class State:
    """Everything that outlives a restart; all of it may be used by any thread."""

    database: Database
    clock: Clock
    runs: runs.Runs
    inbox: inbox.Inbox
    watch_posts: posts.Posts
    follow_posts: posts.Posts
    posts: posts.Posts
    seen_keys: seen_keys.SeenKeys
    threads: threads.Threads
    drafts: drafts.Drafts
    drawings: drawings.Drawings
    audit: audit.Audit
    feedback: feedback.Feedback
    watches: watches.Watches
    followed: followed.FollowedJobs
    follows: follows.Follows

    def together(self) -> AbstractContextManager[None]:
        """All that happens inside is stored as one, or not at all."""
        return self.database.transaction()

    def forget(self, older_than: timedelta) -> tuple[str, ...]:
        """Drop runs that have been over for that long, with all that hangs on them; their ids.

        What people approved is in the fault library, and who did it stays in the audit.
        """
        now = self.clock()
        self.seen_keys.forget(now - SEEN_FOR)
        self.inbox.forget(now - SEEN_FOR)
        self.watches.forget(now - older_than)
        return self.runs.forget(now - older_than)

    def writable(self) -> bool:
        """Whether something can be stored now; asked by who watches the bot, so it really stores a word."""
        try:
            self.seen_keys.touch("writable")
        except StateUnavailable:
            return False
        return True

    def close(self) -> None:
        """Close the file."""
        self.database.close()


def open_state(
    path: Path, *, clock: Clock = utc_now, lease: timedelta = leases.LEASE, busy_seconds: float = BUSY_SECONDS
) -> State:
    """The state in this file, made when it is not there; raises StateUnavailable."""
    database = Database(path, MIGRATIONS, busy_seconds=busy_seconds)
    return State(
        database=database,
        clock=clock,
        runs=runs.Runs(database, clock, lease=lease),
        inbox=inbox.Inbox(database, clock, lease=min(lease, inbox.LEASE)),
        posts=posts.Posts(database, clock),
        seen_keys=seen_keys.SeenKeys(database, clock),
        threads=threads.Threads(database, clock, lease=lease),
        drafts=drafts.Drafts(database, clock),
        drawings=drawings.Drawings(database, clock, lease=lease),
        audit=audit.Audit(database, clock),
        feedback=feedback.Feedback(database, clock),
        watches=watches.Watches(database, clock),
        followed=followed.FollowedJobs(database, clock),
        follows=follows.Follows(database, clock),
        follow_posts=posts.Posts(database, clock, table=follows.POSTS),
        watch_posts=posts.Posts(database, clock, table=watches.POSTS),
    )
