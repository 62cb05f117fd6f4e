-- Budget, money, circuits that probe, search, and an outbox for more than one kind of receiver.

-- What a person can hold or limit.
ALTER TABLE batches ADD COLUMN paused INTEGER NOT NULL DEFAULT 0 CHECK (paused IN (0, 1));
-- The most that the batch may cost; NULL for no cap.
ALTER TABLE batches ADD COLUMN cap_micros INTEGER CHECK (cap_micros >= 0);
-- How often all of its jobs had ended: a batch that is run again finishes again.
ALTER TABLE batches ADD COLUMN finishes INTEGER NOT NULL DEFAULT 0;

-- Why a pending job is passed over, as bits: 1 paused by a person, 2 its batch is paused, 4 its batch
-- has reached its cap, 8 its model has no price, 16 larger than the budget of a whole minute. Kept with
-- the job so that a claim never reads past those that can't run.
ALTER TABLE jobs ADD COLUMN held INTEGER NOT NULL DEFAULT 0 CHECK (held BETWEEN 0 AND 31);

DROP INDEX jobs_in_line;
CREATE INDEX jobs_in_line ON jobs (queue, provider, position, available_at, seq)
    WHERE status = 'pending' AND held = 0;
-- Larger than a minute's budget: run alone, when nothing else runs.
CREATE INDEX jobs_oversized ON jobs (queue, provider, position, available_at, seq)
    WHERE status = 'pending' AND held = 16;
-- The line itself says when the consumer has to wake next.
DROP INDEX jobs_becoming_visible;
-- Most jobs are completed: a list of the others must not pay for them, nor they for it.
DROP INDEX jobs_by_status;
CREATE INDEX jobs_not_completed ON jobs (status, seq) WHERE status <> 'completed';
CREATE INDEX jobs_held ON jobs (held, model) WHERE status = 'pending' AND held <> 0;
CREATE INDEX jobs_by_cause ON jobs (error_code, seq) WHERE status IN ('failed', 'dead-lettered');
-- Nothing asks by user; ids of batches are in the order of time; the ledger knows what minutes used.
DROP INDEX jobs_by_user;
DROP INDEX batches_by_time;
DROP INDEX attempts_by_start;
DROP INDEX attempts_by_end;

-- Every call that may cost: promised before it is made, settled after it. Rows outlive their jobs,
-- since removing a job does not give its money back.
CREATE TABLE ledger (
    entry_id      INTEGER PRIMARY KEY AUTOINCREMENT,
    job_id        TEXT NOT NULL,
    lease_id      TEXT NOT NULL,
    batch_id      TEXT NOT NULL,
    model         TEXT NOT NULL,
    state         TEXT NOT NULL CHECK (state IN ('reserved', 'settled', 'unknown', 'refunded')),
    -- The local day (2026-11-29) and the second since 1970 that it counts for.
    day           TEXT NOT NULL,
    second        INTEGER NOT NULL,
    requests      INTEGER NOT NULL CHECK (requests IN (0, 1)),
    input_tokens  INTEGER NOT NULL CHECK (input_tokens >= 0),
    output_tokens INTEGER NOT NULL CHECK (output_tokens >= 0),
    micros        INTEGER NOT NULL CHECK (micros >= 0),
    reserved_at   INTEGER NOT NULL,
    settled_at    INTEGER,
    UNIQUE (job_id, lease_id),
    CHECK ((state = 'reserved') = (settled_at IS NULL)),
    CHECK (state <> 'refunded' OR micros = 0)
) STRICT;

CREATE INDEX ledger_reserved ON ledger (second) WHERE state = 'reserved';

-- What was used or promised in each second of the last minutes, by model. The rolling windows.
CREATE TABLE usage_seconds (
    second        INTEGER NOT NULL,
    model         TEXT NOT NULL,
    requests      INTEGER NOT NULL CHECK (requests >= 0),
    input_tokens  INTEGER NOT NULL CHECK (input_tokens >= 0),
    output_tokens INTEGER NOT NULL CHECK (output_tokens >= 0),
    PRIMARY KEY (second, model)
) STRICT, WITHOUT ROWID;

-- Sums of the ledger, kept by triggers: a cap is checked at every claim.
CREATE TABLE day_money (
    day      TEXT PRIMARY KEY,
    reserved INTEGER NOT NULL DEFAULT 0 CHECK (reserved >= 0),
    settled  INTEGER NOT NULL DEFAULT 0 CHECK (settled >= 0),
    unknown  INTEGER NOT NULL DEFAULT 0 CHECK (unknown >= 0)
) STRICT, WITHOUT ROWID;

CREATE TABLE batch_money (
    batch_id TEXT PRIMARY KEY,
    reserved INTEGER NOT NULL DEFAULT 0 CHECK (reserved >= 0),
    settled  INTEGER NOT NULL DEFAULT 0 CHECK (settled >= 0),
    unknown  INTEGER NOT NULL DEFAULT 0 CHECK (unknown >= 0)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER ledger_sum_insert AFTER INSERT ON ledger BEGIN
    INSERT INTO day_money (day, reserved, settled, unknown)
        VALUES (new.day, new.micros * (new.state = 'reserved'), new.micros * (new.state = 'settled'),
                new.micros * (new.state = 'unknown'))
        ON CONFLICT DO UPDATE SET reserved = reserved + excluded.reserved,
            settled = settled + excluded.settled, unknown = unknown + excluded.unknown;
    INSERT INTO batch_money (batch_id, reserved, settled, unknown)
        VALUES (new.batch_id, new.micros * (new.state = 'reserved'),
                new.micros * (new.state = 'settled'), new.micros * (new.state = 'unknown'))
        ON CONFLICT DO UPDATE SET reserved = reserved + excluded.reserved,
            settled = settled + excluded.settled, unknown = unknown + excluded.unknown;
END;

CREATE TRIGGER ledger_sum_update AFTER UPDATE OF state, micros ON ledger BEGIN
    UPDATE day_money SET
        reserved = reserved + new.micros * (new.state = 'reserved') - old.micros * (old.state = 'reserved'),
        settled = settled + new.micros * (new.state = 'settled') - old.micros * (old.state = 'settled'),
        unknown = unknown + new.micros * (new.state = 'unknown') - old.micros * (old.state = 'unknown')
    WHERE day = new.day;
    UPDATE batch_money SET
        reserved = reserved + new.micros * (new.state = 'reserved') - old.micros * (old.state = 'reserved'),
        settled = settled + new.micros * (new.state = 'settled') - old.micros * (old.state = 'settled'),
        unknown = unknown + new.micros * (new.state = 'unknown') - old.micros * (old.state = 'unknown')
    WHERE batch_id = new.batch_id;
END;

-- What was spent before there was a ledger. Its day is that of UTC, the best that is known of it.
INSERT INTO ledger (job_id, lease_id, batch_id, model, state, day, second, requests, input_tokens,
                    output_tokens, micros, reserved_at, settled_at)
SELECT a.job_id, a.lease_id, j.batch_id, a.model, 'settled', date(a.started_at / 1000, 'unixepoch'),
       a.started_at / 1000, 1, coalesce(a.input_tokens, 0), coalesce(a.output_tokens, 0), a.cost_micros,
       a.started_at, a.ended_at
FROM attempts AS a JOIN jobs AS j USING (job_id)
WHERE a.provider = 'claude' AND a.ended_at IS NOT NULL AND a.cost_micros > 0;

-- Limits that the provider told for a model, and until when it wants no more of it.
CREATE TABLE told_limits (
    model         TEXT PRIMARY KEY,
    requests      INTEGER CHECK (requests > 0),
    input_tokens  INTEGER CHECK (input_tokens > 0),
    output_tokens INTEGER CHECK (output_tokens > 0),
    wait_until    INTEGER,
    told_at       INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Prices that the person gave, in micro-dollars per million tokens, as JSON; they win over those shipped.
CREATE TABLE prices (
    model TEXT PRIMARY KEY,
    price TEXT NOT NULL CHECK (json_valid(price))
) STRICT, WITHOUT ROWID;

-- How many claims of high there were since the last one of bulk, while bulk had something ready.
CREATE TABLE turns (
    one              INTEGER PRIMARY KEY CHECK (one = 1),
    high_since_bulk  INTEGER NOT NULL CHECK (high_since_bulk >= 0)
) STRICT;
INSERT INTO turns VALUES (1, 0);

-- A circuit closes by itself when one job, sent at `probe_at`, gets through.
ALTER TABLE circuits ADD COLUMN model TEXT;
ALTER TABLE circuits ADD COLUMN probes INTEGER NOT NULL DEFAULT 0 CHECK (probes >= 0);
ALTER TABLE circuits ADD COLUMN probe_at INTEGER;
ALTER TABLE circuits ADD COLUMN probe_lease TEXT;

-- The outbox: one row for an event and a receiver.
CREATE TABLE outbox_2 (
    outbox_id    INTEGER PRIMARY KEY AUTOINCREMENT,
    receiver     TEXT NOT NULL CHECK (receiver IN ('desktop', 'webhook', 'folder')),
    event        TEXT NOT NULL CHECK (event IN ('job.failed', 'batch.completed', 'circuit.opened',
                 'result.stored')),
    -- What makes it this event and no other: it is written once.
    subject      TEXT NOT NULL,
    job_id       TEXT REFERENCES jobs (job_id) ON DELETE CASCADE,
    batch_id     TEXT REFERENCES batches (batch_id) ON DELETE CASCADE,
    generation   INTEGER,
    -- What is told, as it was then.
    body         TEXT CHECK (json_valid(body)),
    created_at   INTEGER NOT NULL,
    available_at INTEGER NOT NULL,
    tries        INTEGER NOT NULL DEFAULT 0,
    -- Delivered, or given up: then with the last error.
    ended_at     INTEGER,
    last_error   TEXT,
    UNIQUE (receiver, event, subject)
) STRICT;
INSERT INTO outbox_2 (receiver, event, subject, job_id, generation, created_at, available_at, tries,
                      ended_at, last_error)
SELECT CASE kind WHEN 'copy-result' THEN 'folder' ELSE 'desktop' END,
       CASE kind WHEN 'copy-result' THEN 'result.stored' ELSE 'job.failed' END,
       job_id || '/' || generation, job_id, generation, created_at, available_at, tries, delivered_at,
       last_error
FROM outbox;
DROP TABLE outbox;
ALTER TABLE outbox_2 RENAME TO outbox;
CREATE INDEX outbox_due ON outbox (receiver, available_at) WHERE ended_at IS NULL;
CREATE INDEX outbox_by_job ON outbox (job_id) WHERE job_id IS NOT NULL;
CREATE INDEX outbox_ended ON outbox (ended_at) WHERE receiver = 'webhook' AND ended_at IS NOT NULL;

-- Counters know the provider: an open circuit says how many jobs it holds.
DROP TRIGGER jobs_count_insert;
DROP TRIGGER jobs_count_delete;
DROP TRIGGER jobs_count_update;
DROP TABLE lane_counts;
CREATE TABLE lane_counts (
    queue    TEXT NOT NULL,
    provider TEXT NOT NULL,
    status   TEXT NOT NULL,
    jobs     INTEGER NOT NULL CHECK (jobs >= 0),
    PRIMARY KEY (queue, provider, status)
) STRICT, WITHOUT ROWID;
INSERT INTO lane_counts SELECT queue, provider, status, count(*) FROM jobs GROUP BY 1, 2, 3;

CREATE TRIGGER jobs_count_insert AFTER INSERT ON jobs BEGIN
    INSERT INTO lane_counts VALUES (new.queue, new.provider, new.status, 1)
        ON CONFLICT DO UPDATE SET jobs = jobs + 1;
    INSERT INTO batch_counts VALUES (new.batch_id, new.status, 1)
        ON CONFLICT DO UPDATE SET jobs = jobs + 1;
END;

CREATE TRIGGER jobs_count_delete AFTER DELETE ON jobs BEGIN
    UPDATE lane_counts SET jobs = jobs - 1
        WHERE queue = old.queue AND provider = old.provider AND status = old.status;
    UPDATE batch_counts SET jobs = jobs - 1 WHERE batch_id = old.batch_id AND status = old.status;
    DELETE FROM search WHERE rowid = old.seq;
    DELETE FROM search_due WHERE seq = old.seq;
END;

CREATE TRIGGER jobs_count_update AFTER UPDATE OF status, queue, provider ON jobs
WHEN old.status <> new.status OR old.queue <> new.queue OR old.provider <> new.provider BEGIN
    UPDATE lane_counts SET jobs = jobs - 1
        WHERE queue = old.queue AND provider = old.provider AND status = old.status;
    INSERT INTO lane_counts VALUES (new.queue, new.provider, new.status, 1)
        ON CONFLICT DO UPDATE SET jobs = jobs + 1;
    UPDATE batch_counts SET jobs = jobs - 1 WHERE batch_id = old.batch_id AND status = old.status;
    INSERT INTO batch_counts VALUES (new.batch_id, new.status, 1)
        ON CONFLICT DO UPDATE SET jobs = jobs + 1;
END;

-- Full-text search. It holds words only, not the texts, and trails behind the commit: new jobs are those
-- after `indexed_seq`, changed ones are in `search_due`.
CREATE VIRTUAL TABLE search USING fts5 (
    title, batch, template, error, result,
    content = '', contentless_delete = 1, tokenize = "unicode61 remove_diacritics 2"
);
CREATE TABLE search_due (seq INTEGER PRIMARY KEY) STRICT;
CREATE TABLE search_state (
    one         INTEGER PRIMARY KEY CHECK (one = 1),
    indexed_seq INTEGER NOT NULL
) STRICT;
INSERT INTO search_state VALUES (1, 0);

CREATE TRIGGER jobs_search_update AFTER UPDATE OF error, result_id, template_id, template_version ON jobs
WHEN old.error IS NOT new.error OR old.result_id IS NOT new.result_id
     OR old.template_id IS NOT new.template_id OR old.template_version IS NOT new.template_version BEGIN
    INSERT OR IGNORE INTO search_due VALUES (new.seq);
END;
