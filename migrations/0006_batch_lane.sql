-- Jobs of bulk that are handed to the provider's batch API, many at a time, for half the price.

-- One call for each job, or many jobs in one remote batch: how many at most, and how long the first of them
-- waits for others.
ALTER TABLE queues ADD COLUMN delivery TEXT NOT NULL DEFAULT 'each'
    CHECK (delivery = 'each' OR (delivery = 'batch' AND queue = 'bulk'));
ALTER TABLE queues ADD COLUMN remote_requests INTEGER NOT NULL DEFAULT 1000
    CHECK (remote_requests BETWEEN 1 AND 100000);
ALTER TABLE queues ADD COLUMN remote_wait_ms INTEGER NOT NULL DEFAULT 60000
    CHECK (remote_wait_ms BETWEEN 0 AND 86400000);

-- How a job goes: its queue only says how new ones do. Those of each kind are a line of their own.
ALTER TABLE jobs ADD COLUMN delivery TEXT NOT NULL DEFAULT 'each'
    CHECK (delivery = 'each' OR (delivery = 'batch' AND queue = 'bulk' AND provider = 'claude'));
DROP INDEX jobs_in_line;
CREATE INDEX jobs_in_line ON jobs (queue, provider, delivery, position, available_at, seq)
    WHERE status = 'pending' AND held = 0;
DROP INDEX jobs_oversized;
CREATE INDEX jobs_oversized ON jobs (queue, provider, delivery, position, available_at, seq)
    WHERE status = 'pending' AND held = 16;

-- Whether the call is a request of a remote batch: it takes nothing of the budget of a minute.
ALTER TABLE ledger ADD COLUMN batched INTEGER NOT NULL DEFAULT 0 CHECK (batched IN (0, 1));

-- What is handed over at once. It is `gathering` until it is known what is sent; `sending` from before the
-- call that creates it until its id is known, also when nobody knows whether the call arrived; `under-way`
-- until its results were read. `undone` was never created, or refused; of `lost` the outcome is not known.
CREATE TABLE remote_batches (
    remote_no    INTEGER PRIMARY KEY AUTOINCREMENT,
    -- The lease of the claim that gathered it; the ids of its requests begin with it.
    lease_id     TEXT NOT NULL UNIQUE,
    state        TEXT NOT NULL
                 CHECK (state IN ('gathering', 'sending', 'under-way', 'ended', 'undone', 'lost')),
    gathered_at  INTEGER NOT NULL,
    requests     INTEGER CHECK (requests >= 1),
    -- Where it was sent, and a mark of the key: others can't see it.
    address      TEXT,
    key_mark     TEXT,
    sent_at      INTEGER,
    -- Since when nothing of it is on its way any more though its id is not known: its sending broke off, or the
    -- program that sent it died. Until then nobody looks for it.
    left_at      INTEGER,
    remote_id    TEXT UNIQUE,
    created_at   INTEGER,
    -- Whether the provider was asked to call it off.
    called_off   INTEGER NOT NULL DEFAULT 0 CHECK (called_off IN (0, 1)),
    -- When it is looked at next, how often it was since its state changed, and what the last look met.
    look_at      INTEGER,
    looks        INTEGER NOT NULL DEFAULT 0 CHECK (looks >= 0),
    trouble      TEXT,
    -- Since when the provider does not know it.
    missing_since INTEGER,
    -- When its results could be read first, if they could.
    results_at   INTEGER,
    ended_at     INTEGER,
    CHECK (state <> 'sending' OR (sent_at IS NOT NULL AND requests IS NOT NULL AND look_at IS NOT NULL)),
    CHECK (state NOT IN ('under-way', 'ended') OR remote_id IS NOT NULL),
    CHECK (state <> 'under-way' OR (created_at IS NOT NULL AND look_at IS NOT NULL)),
    CHECK ((state IN ('ended', 'undone', 'lost')) = (ended_at IS NOT NULL))
) STRICT;
CREATE INDEX remote_batches_open ON remote_batches (look_at) WHERE state IN ('sending', 'under-way');

-- The requests of remote batches. What they belong to is held by no lease until an answer is there; rows
-- outlive their jobs, since what was asked is paid.
CREATE TABLE remote_items (
    custom_id  TEXT PRIMARY KEY CHECK (length(custom_id) BETWEEN 1 AND 64),
    remote_no  INTEGER NOT NULL REFERENCES remote_batches (remote_no),
    job_id     TEXT NOT NULL,
    lease_id   TEXT NOT NULL,
    generation INTEGER NOT NULL,
    number     INTEGER NOT NULL,
    -- What of the question is needed to read its answer, as JSON.
    asked      TEXT NOT NULL CHECK (json_valid(asked)),
    -- When its outcome was dealt with.
    settled_at INTEGER,
    UNIQUE (job_id, lease_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX remote_items_open ON remote_items (remote_no, custom_id) WHERE settled_at IS NULL;
CREATE INDEX remote_items_of_job ON remote_items (job_id) WHERE settled_at IS NULL;

-- Why nothing is handed over for a while: the provider refused a whole remote batch.
CREATE TABLE remote_hold (
    one      INTEGER PRIMARY KEY CHECK (one = 1),
    cause    TEXT NOT NULL,
    message  TEXT NOT NULL,
    tries    INTEGER NOT NULL CHECK (tries >= 1),
    retry_at INTEGER NOT NULL,
    -- So many requests at most, to find the one that is refused; NULL for as many as the queue allows.
    requests INTEGER CHECK (requests >= 1)
) STRICT;
