-- The store of Gistmill: queues, jobs and their history, documents, templates, results.
--
-- Times are milliseconds since 1970 (UTC), money is integer micro-dollars, sizes are bytes.
-- STRICT tables and CHECK constraints say what a state means; product rules section 2.

CREATE TABLE settings (
    name  TEXT PRIMARY KEY,
    value TEXT NOT NULL CHECK (json_valid(value))
) STRICT, WITHOUT ROWID;

CREATE TABLE queues (
    queue                TEXT PRIMARY KEY CHECK (queue IN ('high', 'bulk')),
    -- Smaller is served first.
    serving_order        INTEGER NOT NULL UNIQUE,
    max_batch_size       INTEGER NOT NULL CHECK (max_batch_size BETWEEN 1 AND 100),
    max_batch_timeout_ms INTEGER NOT NULL CHECK (max_batch_timeout_ms BETWEEN 0 AND 60000),
    -- Deliveries after the first.
    max_retries          INTEGER NOT NULL CHECK (max_retries BETWEEN 0 AND 100),
    max_concurrency      INTEGER NOT NULL CHECK (max_concurrency BETWEEN 1 AND 250),
    delivery_delay_ms    INTEGER NOT NULL CHECK (delivery_delay_ms BETWEEN 0 AND 86400000),
    paused               INTEGER NOT NULL DEFAULT 0 CHECK (paused IN (0, 1))
) STRICT, WITHOUT ROWID;

INSERT INTO queues (queue, serving_order, max_batch_size, max_batch_timeout_ms, max_retries,
                    max_concurrency, delivery_delay_ms)
VALUES ('high', 1, 5, 0, 5, 10, 0),
       ('bulk', 2, 10, 0, 3, 3, 5000);

CREATE TABLE templates (
    template_id TEXT NOT NULL,
    version     INTEGER NOT NULL CHECK (version >= 1),
    name        TEXT NOT NULL,
    kind        TEXT NOT NULL DEFAULT 'prose' CHECK (kind IN ('prose', 'cited-prose', 'fields')),
    -- The prompt that follows the document. Never changes: an edit makes a new version.
    body        TEXT NOT NULL CHECK (body <> ''),
    created_at  INTEGER NOT NULL,
    PRIMARY KEY (template_id, version)
) STRICT, WITHOUT ROWID;

INSERT INTO templates (template_id, version, name, body, created_at)
VALUES ('pdf-summarize', 1, 'Summary',
'Summarize this document for a reader who has not seen it and must decide what to do with it.

Write Markdown, in the language of the document:
- a title as a first-level heading;
- "In one sentence": the single most important point;
- "Key points": 3 to 8 bullets, each one fact, result or obligation with its figures and units, each ending with the page it comes from as (p. N);
- "Open questions": what the document leaves undecided or does not support, if anything.

Use only what the document says. Do not guess; say so where a page can not be read.', 0);

CREATE TABLE batches (
    batch_id   TEXT PRIMARY KEY,
    name       TEXT NOT NULL,
    user_id    TEXT NOT NULL,
    created_at INTEGER NOT NULL
) STRICT;

CREATE INDEX batches_by_time ON batches (created_at);

-- A PDF, known by its SHA-256.
CREATE TABLE documents (
    sha256          TEXT PRIMARY KEY CHECK (length(sha256) = 64),
    bytes           INTEGER NOT NULL CHECK (bytes >= 0),
    pages           INTEGER CHECK (pages >= 0),
    encryption      TEXT NOT NULL
                    CHECK (encryption IN ('none', 'empty-password', 'needs-password', 'unsupported')),
    has_text        INTEGER CHECK (has_text IN (0, 1)),
    finding_cause   TEXT,
    finding_message TEXT,
    first_seen_at   INTEGER NOT NULL,
    CHECK ((finding_cause IS NULL) = (finding_message IS NULL))
) STRICT;

-- The job row is the queue row: accepting a job and queueing it are one transaction.
CREATE TABLE jobs (
    seq              INTEGER PRIMARY KEY AUTOINCREMENT,
    job_id           TEXT NOT NULL UNIQUE,
    batch_id         TEXT NOT NULL REFERENCES batches (batch_id),
    user_id          TEXT NOT NULL,
    kind             TEXT NOT NULL CHECK (kind IN ('pdf', 'prompt')),
    title            TEXT NOT NULL,
    status           TEXT NOT NULL CHECK (status IN ('pending', 'running', 'submitted', 'completed',
                     'needs-review', 'failed', 'dead-lettered', 'cancelled')),

    -- Where it stands in line.
    queue            TEXT NOT NULL REFERENCES queues (queue),
    position         INTEGER NOT NULL DEFAULT 0,
    available_at     INTEGER NOT NULL,
    -- Since when it waits; an attempt's waiting time is counted from here.
    waiting_since    INTEGER NOT NULL,

    -- Its input, kept whole so that it can always be run again.
    prompt           TEXT,
    document_sha256  TEXT REFERENCES documents (sha256),
    source_path      TEXT,
    source_bytes     INTEGER,
    source_modified  INTEGER,

    template_id      TEXT,
    template_version INTEGER,
    provider         TEXT NOT NULL CHECK (provider IN ('claude', 'offline')),
    model            TEXT NOT NULL,
    max_tokens       INTEGER NOT NULL CHECK (max_tokens >= 1),

    -- Its life. A generation is one run of the job; a redrive begins the next with no attempts used.
    generation       INTEGER NOT NULL DEFAULT 1 CHECK (generation >= 1),
    attempts         INTEGER NOT NULL DEFAULT 0 CHECK (attempts >= 0),
    lease_id         TEXT,
    lease_expires_at INTEGER,
    cancel_requested INTEGER NOT NULL DEFAULT 0 CHECK (cancel_requested IN (0, 1)),
    created_at       INTEGER NOT NULL,
    started_at       INTEGER,
    completed_at     INTEGER,
    result_id        INTEGER REFERENCES results (result_id),
    error_code       TEXT,
    error            TEXT,

    -- Sums over its attempts, so that a list needs no join.
    input_tokens     INTEGER NOT NULL DEFAULT 0,
    output_tokens    INTEGER NOT NULL DEFAULT 0,
    cost_micros      INTEGER NOT NULL DEFAULT 0,
    -- Whether the cost of an attempt is not known.
    cost_unknown     INTEGER NOT NULL DEFAULT 0 CHECK (cost_unknown IN (0, 1)),
    ran_ms           INTEGER NOT NULL DEFAULT 0,
    waited_ms        INTEGER NOT NULL DEFAULT 0,

    FOREIGN KEY (template_id, template_version) REFERENCES templates (template_id, version),
    CHECK (kind <> 'prompt' OR (prompt IS NOT NULL AND prompt <> '')),
    CHECK (kind <> 'pdf' OR (source_path IS NOT NULL AND template_id IS NOT NULL)),
    CHECK ((template_id IS NULL) = (template_version IS NULL)),
    CHECK ((status = 'running') = (lease_id IS NOT NULL)),
    CHECK ((lease_id IS NULL) = (lease_expires_at IS NULL)),
    CHECK ((status IN ('pending', 'running', 'submitted')) = (completed_at IS NULL)),
    CHECK (status <> 'running' OR started_at IS NOT NULL),
    CHECK (status NOT IN ('completed', 'needs-review') OR result_id IS NOT NULL),
    CHECK (status <> 'completed' OR (error_code IS NULL AND error IS NULL)),
    CHECK (status NOT IN ('needs-review', 'failed', 'dead-lettered')
           OR (error_code IS NOT NULL AND error IS NOT NULL))
) STRICT;

-- A claim reads this from its beginning: position, then visible time, then age.
CREATE INDEX jobs_in_line ON jobs (queue, position, available_at, seq) WHERE status = 'pending';
-- When the consumer has to wake next.
CREATE INDEX jobs_becoming_visible ON jobs (available_at) WHERE status = 'pending';
CREATE INDEX jobs_running ON jobs (lease_expires_at) WHERE status = 'running';
CREATE INDEX jobs_by_status ON jobs (status, seq);
CREATE INDEX jobs_by_batch ON jobs (batch_id, seq);
CREATE INDEX jobs_by_user ON jobs (user_id, status);
CREATE INDEX jobs_by_end ON jobs (completed_at) WHERE completed_at IS NOT NULL;

-- Every delivery of a job, kept for ever.
CREATE TABLE attempts (
    attempt_id      INTEGER PRIMARY KEY AUTOINCREMENT,
    job_id          TEXT NOT NULL REFERENCES jobs (job_id) ON DELETE CASCADE,
    generation      INTEGER NOT NULL,
    number          INTEGER NOT NULL CHECK (number >= 1),
    lease_id        TEXT NOT NULL,
    provider        TEXT NOT NULL,
    model           TEXT NOT NULL,
    started_at      INTEGER NOT NULL,
    ended_at        INTEGER,
    outcome         TEXT NOT NULL CHECK (outcome IN ('running', 'completed', 'needs-review', 'retryable',
                    'failed', 'deferred', 'interrupted', 'cancelled')),
    error_code      TEXT,
    message         TEXT,
    http_status     INTEGER,
    request_id      TEXT,
    waited_ms       INTEGER NOT NULL CHECK (waited_ms >= 0),
    told_to_wait_ms INTEGER CHECK (told_to_wait_ms >= 0),
    retry_at        INTEGER,
    input_tokens    INTEGER CHECK (input_tokens >= 0),
    output_tokens   INTEGER CHECK (output_tokens >= 0),
    cost_micros     INTEGER CHECK (cost_micros >= 0),
    CHECK ((outcome = 'running') = (ended_at IS NULL)),
    CHECK (outcome IN ('running', 'completed') OR error_code IS NOT NULL)
) STRICT;

CREATE INDEX attempts_by_job ON attempts (job_id, attempt_id);
CREATE INDEX attempts_by_start ON attempts (started_at);
CREATE INDEX attempts_by_end ON attempts (ended_at) WHERE ended_at IS NOT NULL;

-- An answer that was paid for but whose result is not stored yet. Written before the result file,
-- removed with the completion: whoever finds one publishes it instead of asking again.
CREATE TABLE answers (
    job_id        TEXT NOT NULL REFERENCES jobs (job_id) ON DELETE CASCADE,
    generation    INTEGER NOT NULL,
    body          TEXT NOT NULL,
    model         TEXT NOT NULL,
    stop_reason   TEXT,
    request_id    TEXT,
    input_tokens  INTEGER NOT NULL,
    output_tokens INTEGER NOT NULL,
    cost_micros   INTEGER,
    review_code   TEXT,
    review        TEXT,
    created_at    INTEGER NOT NULL,
    PRIMARY KEY (job_id, generation),
    CHECK ((review_code IS NULL) = (review IS NULL))
) STRICT, WITHOUT ROWID;

CREATE TABLE results (
    result_id        INTEGER PRIMARY KEY AUTOINCREMENT,
    job_id           TEXT NOT NULL REFERENCES jobs (job_id) ON DELETE CASCADE,
    generation       INTEGER NOT NULL,
    store            TEXT NOT NULL CHECK (store IN ('local', 'r2')),
    -- The object's key within its store (results/JOB.md).
    key              TEXT NOT NULL,
    sha256           TEXT NOT NULL CHECK (length(sha256) = 64),
    bytes            INTEGER NOT NULL CHECK (bytes >= 0),
    provider         TEXT NOT NULL,
    model            TEXT NOT NULL,
    template_id      TEXT,
    template_version INTEGER,
    stop_reason      TEXT,
    request_id       TEXT,
    document_sha256  TEXT,
    input_tokens     INTEGER NOT NULL,
    output_tokens    INTEGER NOT NULL,
    cost_micros      INTEGER,
    copy_path        TEXT,
    copy_error       TEXT,
    created_at       INTEGER NOT NULL,
    UNIQUE (job_id, generation),
    UNIQUE (store, key)
) STRICT;

-- What has to reach the world outside; delivered at least once, never touches the job.
CREATE TABLE outbox (
    outbox_id    INTEGER PRIMARY KEY AUTOINCREMENT,
    kind         TEXT NOT NULL CHECK (kind IN ('job-failed', 'copy-result')),
    job_id       TEXT NOT NULL REFERENCES jobs (job_id) ON DELETE CASCADE,
    generation   INTEGER NOT NULL,
    created_at   INTEGER NOT NULL,
    available_at INTEGER NOT NULL,
    tries        INTEGER NOT NULL DEFAULT 0,
    delivered_at INTEGER,
    last_error   TEXT,
    UNIQUE (kind, job_id, generation)
) STRICT;

CREATE INDEX outbox_due ON outbox (available_at) WHERE delivered_at IS NULL;

-- Something that would hit every job of a provider: none is delivered while a row is here.
CREATE TABLE circuits (
    provider  TEXT PRIMARY KEY CHECK (provider IN ('claude', 'offline')),
    cause     TEXT NOT NULL,
    message   TEXT NOT NULL,
    opened_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Counters kept by triggers: a badge never counts a million rows.
CREATE TABLE lane_counts (
    queue  TEXT NOT NULL,
    status TEXT NOT NULL,
    jobs   INTEGER NOT NULL CHECK (jobs >= 0),
    PRIMARY KEY (queue, status)
) STRICT, WITHOUT ROWID;

CREATE TABLE batch_counts (
    batch_id TEXT NOT NULL,
    status   TEXT NOT NULL,
    jobs     INTEGER NOT NULL CHECK (jobs >= 0),
    PRIMARY KEY (batch_id, status)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER jobs_count_insert AFTER INSERT ON jobs BEGIN
    INSERT INTO lane_counts VALUES (new.queue, new.status, 1)
        ON CONFLICT DO UPDATE SET jobs = jobs + 1;
    INSERT INTO batch_counts VALUES (new.batch_id, new.status, 1)
        ON CONFLICT DO UPDATE SET jobs = jobs + 1;
END;

CREATE TRIGGER jobs_count_delete AFTER DELETE ON jobs BEGIN
    UPDATE lane_counts SET jobs = jobs - 1 WHERE queue = old.queue AND status = old.status;
    UPDATE batch_counts SET jobs = jobs - 1 WHERE batch_id = old.batch_id AND status = old.status;
END;

CREATE TRIGGER jobs_count_update AFTER UPDATE OF status, queue ON jobs
WHEN old.status <> new.status OR old.queue <> new.queue BEGIN
    UPDATE lane_counts SET jobs = jobs - 1 WHERE queue = old.queue AND status = old.status;
    UPDATE batch_counts SET jobs = jobs - 1 WHERE batch_id = old.batch_id AND status = old.status;
    INSERT INTO lane_counts VALUES (new.queue, new.status, 1)
        ON CONFLICT DO UPDATE SET jobs = jobs + 1;
    INSERT INTO batch_counts VALUES (new.batch_id, new.status, 1)
        ON CONFLICT DO UPDATE SET jobs = jobs + 1;
END;
