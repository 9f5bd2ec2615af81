"""The tables of the fault library. What people did is only ever added to: triggers refuse to delete or to change it."""

APPLICATION_ID = 0x46464C42  # "FFLB": a database of somebody else is told from ours
SCHEMA_VERSION = 2  # 2: what people answer of a pattern that was shown

_ANSWERS = (
    """CREATE TABLE answers (
        number INTEGER PRIMARY KEY,
        pattern TEXT NOT NULL REFERENCES patterns (id),
        job TEXT NOT NULL CHECK (job != ''),
        verdict TEXT NOT NULL CHECK (verdict IN ('this was it', 'this was not it', 'withdrawn')),
        who TEXT NOT NULL CHECK (who != ''),
        at TEXT NOT NULL
    ) STRICT""",
    "CREATE INDEX answers_of_pattern ON answers (pattern, job, who, number)",
    """CREATE TRIGGER answers_are_kept BEFORE DELETE ON answers
        BEGIN SELECT RAISE(ABORT, 'nothing of answers is deleted'); END""",
    """CREATE TRIGGER answers_stay_as_they_are BEFORE UPDATE ON answers
        BEGIN SELECT RAISE(ABORT, 'nothing of answers is changed'); END""",
)
# What a library of an older version lacks, by the version that it becomes; a migration only ever adds.
MIGRATIONS = {2: _ANSWERS}

_KEPT = ("patterns", "versions", "history", "sightings")  # nothing of these is ever deleted
_UNCHANGED = ("versions", "history", "sightings")  # nor changed

STATEMENTS = (
    "CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT",
    """CREATE TABLE patterns (
        id TEXT PRIMARY KEY,
        version INTEGER NOT NULL CHECK (version >= 1),
        revision INTEGER NOT NULL CHECK (revision >= 1),
        status TEXT NOT NULL CHECK (status IN ('draft', 'approved', 'superseded', 'retired')),
        origin TEXT NOT NULL CHECK (origin IN ('seed', 'team')),
        superseded_by TEXT NOT NULL CHECK ((superseded_by != '') = (status = 'superseded'))
    ) STRICT""",
    """CREATE TABLE versions (
        pattern TEXT NOT NULL REFERENCES patterns (id),
        version INTEGER NOT NULL,
        body TEXT NOT NULL,
        PRIMARY KEY (pattern, version)
    ) STRICT""",
    """CREATE TABLE history (
        number INTEGER PRIMARY KEY,
        pattern TEXT NOT NULL REFERENCES patterns (id),
        version INTEGER NOT NULL,
        action TEXT NOT NULL,
        who TEXT NOT NULL CHECK (who != ''),
        at TEXT NOT NULL,
        why TEXT NOT NULL
    ) STRICT""",
    "CREATE INDEX history_of_pattern ON history (pattern, number)",
    """CREATE TABLE sightings (
        number INTEGER PRIMARY KEY,
        pattern TEXT NOT NULL REFERENCES patterns (id),
        job TEXT NOT NULL CHECK (job != ''),
        at TEXT NOT NULL,
        UNIQUE (pattern, job)
    ) STRICT""",
    """CREATE TABLE vectors (
        pattern TEXT PRIMARY KEY REFERENCES patterns (id),
        version INTEGER NOT NULL,
        model TEXT NOT NULL,
        digest TEXT NOT NULL,
        vector BLOB NOT NULL
    ) STRICT""",
    *(
        f"CREATE TRIGGER {table}_are_kept BEFORE DELETE ON {table} "
        f"BEGIN SELECT RAISE(ABORT, 'nothing of {table} is deleted'); END"
        for table in _KEPT
    ),
    *(
        f"CREATE TRIGGER {table}_stay_as_they_are BEFORE UPDATE ON {table} "
        f"BEGIN SELECT RAISE(ABORT, 'nothing of {table} is changed'); END"
        for table in _UNCHANGED
    ),
    *_ANSWERS,
)
