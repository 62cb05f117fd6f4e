-- Results that leave the app: copies, uploads, reuse, tables; templates of three kinds.

-- What a person chose before as "beside the PDF: no" is one of three places now.
INSERT INTO settings (name, value)
SELECT 'copiesTo', '"nowhere"' FROM settings WHERE name = 'copyBesidePdf' AND value = 'false'
    ON CONFLICT (name) DO NOTHING;
DELETE FROM settings WHERE name = 'copyBesidePdf';

-- The table is made anew since a CHECK can't be changed: `held` has one bit more, 32 for "answered and
-- stored, and completed when its upload is there".
CREATE TABLE jobs_3 (
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
    -- Its place within what was added (`reports/2026/q1.pdf`); copies are mirrored by it.
    relative_path    TEXT,

    template_id      TEXT,
    template_version INTEGER,
    -- Values of the template's variables, by name.
    variables        TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(variables)),
    -- Whether it is asked even where an earlier result would serve.
    fresh            INTEGER NOT NULL DEFAULT 0 CHECK (fresh IN (0, 1)),
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
    -- The newest result, which may be that of an earlier run.
    result_id        INTEGER REFERENCES results (result_id),
    -- Whether that result was taken from an earlier job.
    reused           INTEGER NOT NULL DEFAULT 0 CHECK (reused IN (0, 1)),
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
    -- Why it is passed over while it is pending, as bits: 1 paused by a person, 2 its batch is paused, 4 its
    -- batch has reached its cap, 8 its model has no price, 16 larger than the budget of a whole minute,
    -- 32 answered and stored, waiting for its upload. Kept with the job so that a claim never reads past
    -- those that can't run.
    held             INTEGER NOT NULL DEFAULT 0 CHECK (held BETWEEN 0 AND 63),

    FOREIGN KEY (template_id, template_version) REFERENCES templates (template_id, version),
    CHECK (kind <> 'prompt' OR (prompt IS NOT NULL AND prompt <> '')),
    CHECK (kind <> 'pdf' OR (source_path IS NOT NULL AND template_id IS NOT NULL)),
    CHECK ((template_id IS NULL) = (template_version IS NULL)),
    CHECK ((status = 'running') = (lease_id IS NOT NULL)),
    CHECK ((lease_id IS NULL) = (lease_expires_at IS NULL)),
    CHECK ((status IN ('pending', 'running', 'submitted')) = (completed_at IS NULL)),
    CHECK (status <> 'running' OR started_at IS NOT NULL),
    CHECK (status NOT IN ('completed', 'needs-review') OR result_id IS NOT NULL),
    CHECK (held & 32 = 0 OR result_id IS NOT NULL),
    CHECK (status <> 'completed' OR (error_code IS NULL AND error IS NULL)),
    CHECK (status NOT IN ('needs-review', 'failed', 'dead-lettered')
           OR (error_code IS NOT NULL AND error IS NOT NULL))
) STRICT;

INSERT INTO jobs_3 (seq, job_id, batch_id, user_id, kind, title, status, queue, position, available_at,
    waiting_since, prompt, document_sha256, source_path, source_bytes, source_modified, template_id,
    template_version, provider, model, max_tokens, generation, attempts, lease_id, lease_expires_at,
    cancel_requested, created_at, started_at, completed_at, result_id, error_code, error, input_tokens,
    output_tokens, cost_micros, cost_unknown, ran_ms, waited_ms, held)
SELECT seq, job_id, batch_id, user_id, kind, title, status, queue, position, available_at,
    waiting_since, prompt, document_sha256, source_path, source_bytes, source_modified, template_id,
    template_version, provider, model, max_tokens, generation, attempts, lease_id, lease_expires_at,
    cancel_requested, created_at, started_at, completed_at, result_id, error_code, error, input_tokens,
    output_tokens, cost_micros, cost_unknown, ran_ms, waited_ms, held
FROM jobs;

-- Numbers are never given twice, also not those of jobs that were removed: the search trails by them.
DELETE FROM sqlite_sequence WHERE name = 'jobs_3';
INSERT INTO sqlite_sequence (name, seq) SELECT 'jobs_3', seq FROM sqlite_sequence WHERE name = 'jobs';
DROP TABLE jobs;
ALTER TABLE jobs_3 RENAME TO jobs;

-- A claim reads this from its beginning: position, then visible time, then age.
CREATE INDEX jobs_in_line ON jobs (queue, provider, position, available_at, seq)
    WHERE status = 'pending' AND held = 0;
-- Larger than a minute's budget: run alone, when nothing else runs.
CREATE INDEX jobs_oversized ON jobs (queue, provider, position, available_at, seq)
    WHERE status = 'pending' AND held = 16;
CREATE INDEX jobs_by_batch ON jobs (batch_id, seq);
CREATE INDEX jobs_by_end ON jobs (completed_at) WHERE completed_at IS NOT NULL;
CREATE INDEX jobs_not_completed ON jobs (status, seq) WHERE status <> 'completed';
CREATE INDEX jobs_held ON jobs (held, model) WHERE status = 'pending' AND held <> 0;
CREATE INDEX jobs_by_cause ON jobs (error_code, seq) WHERE status IN ('failed', 'dead-lettered');

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

CREATE TRIGGER jobs_search_update AFTER UPDATE OF error, result_id, template_id, template_version ON jobs
WHEN old.error IS NOT new.error OR old.result_id IS NOT new.result_id
     OR old.template_id IS NOT new.template_id OR old.template_version IS NOT new.template_version BEGIN
    INSERT OR IGNORE INTO search_due VALUES (new.seq);
END;

ALTER TABLE results ADD COLUMN format TEXT NOT NULL DEFAULT 'markdown' CHECK (format IN ('markdown', 'json'));
-- Digest of everything that the answer depends on; only of complete ones, since no other serves again.
ALTER TABLE results ADD COLUMN reuse_key TEXT CHECK (length(reuse_key) = 64);
-- The job that the result was taken from, and when that was stored.
ALTER TABLE results ADD COLUMN reused_from TEXT;
ALTER TABLE results ADD COLUMN reused_at INTEGER;
-- Digest of the copy as it was written: one that has another was edited.
ALTER TABLE results ADD COLUMN copy_sha256 TEXT CHECK (length(copy_sha256) = 64);
-- Where the object lies that it was uploaded as.
ALTER TABLE results ADD COLUMN remote_address TEXT;
ALTER TABLE results ADD COLUMN remote_at INTEGER CHECK ((remote_at IS NULL) = (remote_address IS NULL));
CREATE INDEX results_by_reuse ON results (reuse_key, result_id) WHERE reuse_key IS NOT NULL;
CREATE INDEX results_by_copy ON results (copy_path) WHERE copy_path IS NOT NULL;

ALTER TABLE answers ADD COLUMN format TEXT NOT NULL DEFAULT 'markdown' CHECK (format IN ('markdown', 'json'));
ALTER TABLE answers ADD COLUMN reused_from TEXT;
ALTER TABLE answers ADD COLUMN reused_at INTEGER;

-- What a batch was expected to cost when it was added; NULL where nobody knew.
ALTER TABLE batches ADD COLUMN expected_micros INTEGER CHECK (expected_micros >= 0);
ALTER TABLE batches ADD COLUMN at_worst_micros INTEGER CHECK (at_worst_micros >= 0);
-- The folder that holds all of its PDFs.
ALTER TABLE batches ADD COLUMN folder TEXT;

-- The files that a finished batch leaves: written anew each time it finishes.
CREATE TABLE batch_files (
    batch_id TEXT NOT NULL REFERENCES batches (batch_id) ON DELETE CASCADE,
    format   TEXT NOT NULL CHECK (format IN ('csv', 'jsonl', 'markdown')),
    path     TEXT,
    sha256   TEXT CHECK (length(sha256) = 64),
    error    TEXT,
    PRIMARY KEY (batch_id, format),
    CHECK ((path IS NULL) = (sha256 IS NULL)),
    CHECK (path IS NOT NULL OR error IS NOT NULL)
) STRICT, WITHOUT ROWID;

-- The outbox has a bucket among its receivers.
CREATE TABLE outbox_3 (
    outbox_id    INTEGER PRIMARY KEY AUTOINCREMENT,
    receiver     TEXT NOT NULL CHECK (receiver IN ('desktop', 'webhook', 'folder', 'bucket')),
    event        TEXT NOT NULL CHECK (event IN ('job.failed', 'batch.completed', 'circuit.opened',
                 'result.stored', 'document.added')),
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
INSERT INTO outbox_3 SELECT * FROM outbox;
DROP TABLE outbox;
ALTER TABLE outbox_3 RENAME TO outbox;
CREATE INDEX outbox_due ON outbox (receiver, available_at) WHERE ended_at IS NULL;
CREATE INDEX outbox_by_job ON outbox (job_id) WHERE job_id IS NOT NULL;
CREATE INDEX outbox_ended ON outbox (ended_at) WHERE receiver = 'webhook' AND ended_at IS NOT NULL;
-- Uploads that were given up, and those that wait, are counted for every overview.
CREATE INDEX outbox_given_up ON outbox (receiver, ended_at) WHERE ended_at IS NOT NULL AND last_error IS NOT NULL;

-- What stands in the way of all uploads: none is tried before `retry_at`.
CREATE TABLE upload_hold (
    one      INTEGER PRIMARY KEY CHECK (one = 1),
    cause    TEXT NOT NULL,
    message  TEXT NOT NULL,
    hint     TEXT NOT NULL,
    since    INTEGER NOT NULL,
    tries    INTEGER NOT NULL CHECK (tries >= 1),
    retry_at INTEGER NOT NULL
) STRICT;

ALTER TABLE templates ADD COLUMN fields TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(fields));
ALTER TABLE templates ADD COLUMN built_in INTEGER NOT NULL DEFAULT 0 CHECK (built_in IN (0, 1));
-- Not offered any more; jobs that were asked with it keep it.
ALTER TABLE templates ADD COLUMN removed INTEGER NOT NULL DEFAULT 0 CHECK (removed IN (0, 1));
UPDATE templates SET built_in = 1;

INSERT INTO templates (template_id, version, name, kind, body, created_at, built_in) VALUES
('research-paper-brief', 1, 'Research paper brief', 'cited-prose',
'Brief a colleague on this paper who will not read it. Write in {language}.

Write Markdown with these sections:
- a title as a first-level heading, then authors, year and venue in one line;
- "Question": what the paper asks, in one or two sentences;
- "Method": data, sample and procedure, with their sizes;
- "Findings": 3 to 6 bullets, each one result with its figures, units and uncertainty;
- "Limits": what the authors concede, and what the evidence does not carry;
- "Worth reading if": one sentence.

Use only what the paper says. Where it gives no figure, say so instead of estimating.', 0, 1),
('meeting-minutes', 1, 'Meeting minutes', 'prose',
'Condense these minutes for someone who was not there. Write in {language}.

Write Markdown:
- a title as a first-level heading, with the date of the meeting and who attended;
- "Decisions": each decision as a bullet, with who takes it and from when, ending with its page as (p. N);
- "Actions": a table with the columns Task, Who, Due, Page;
- "Open": what was discussed and not decided;
- "Next meeting": date and place, if named.

Do not add anything that the minutes do not say. Write "not named" where a name or a date is missing.', 0, 1),
('summary-ja', 1, '要約', 'prose',
'この文書を、まだ読んでいない人が次の行動を決められるように、日本語で要約してください。

Markdown で次の構成にしてください。
- 文書の題名を一級見出しにする
- 「一文で」：最も重要な点を一文で
- 「要点」：3〜8 項目の箇条書き。各項目は事実・結果・義務のいずれか一つとし、数値と単位を添え、末尾に該当ページを（p. N）の形で示す
- 「未解決の点」：文書が決めていないこと、または根拠が足りないこと（あれば）

文書に書かれていることだけを使い、推測はしないでください。読み取れないページがあれば、その旨を書いてください。', 0, 1);

INSERT INTO templates (template_id, version, name, kind, body, created_at, built_in, fields) VALUES
('contract-key-terms', 1, 'Contract key terms', 'fields',
'Read this contract and fill in its key terms. Take every value from the contract itself, in {language}; copy names, amounts and dates exactly. Where the contract does not say something, leave it empty.',
0, 1,
'[{"name":"parties","kind":"list","description":"Full names of the parties, with their roles"},
{"name":"subject","kind":"text","description":"What the contract is about, in one sentence"},
{"name":"effective_date","kind":"date","description":"When it takes effect"},
{"name":"end_date","kind":"date","description":"When it ends, unless it is renewed or terminated"},
{"name":"renewal","kind":"text","description":"How and for how long it is renewed"},
{"name":"notice_period_days","kind":"whole-number","description":"Days of notice for a termination without cause"},
{"name":"amount","kind":"number","description":"The amount to be paid in all, or a period, without its currency"},
{"name":"currency","kind":"text","description":"The currency of the amount, as three letters"},
{"name":"payment_terms","kind":"text","description":"When and how payment is due"},
{"name":"liability_cap","kind":"text","description":"Limits of liability"},
{"name":"governing_law","kind":"text","description":"The law that governs it, and the place of jurisdiction"},
{"name":"auto_renews","kind":"yes-no","description":"Whether it is renewed unless somebody objects"},
{"name":"unusual_terms","kind":"list","description":"Terms that a careful lawyer would point out, each with its page"}]');
