-- Forecasts: tokens that were counted, what calls came to, and pilots of batches.

-- Input tokens of a document as the provider counted them, without those of the prompt around it: another
-- template of the same kind needs no other count.
CREATE TABLE token_counts (
    document_sha256 TEXT NOT NULL CHECK (length(document_sha256) = 64),
    model           TEXT NOT NULL,
    sends           TEXT NOT NULL CHECK (sends IN ('pdf', 'text')),
    -- The kind of the template; for fields, which are a part of the request, the template itself.
    asks            TEXT NOT NULL,
    tokens          INTEGER NOT NULL CHECK (tokens > 0),
    counted_at      INTEGER NOT NULL,
    PRIMARY KEY (document_sha256, model, sends, asks)
) STRICT, WITHOUT ROWID;

-- What calls came to, by what they ask, newest last; old ones are removed.
CREATE TABLE call_samples (
    sample_id     INTEGER PRIMARY KEY AUTOINCREMENT,
    model         TEXT NOT NULL,
    -- The template with its version (pdf-summarize-v1); empty for a prompt.
    template      TEXT NOT NULL,
    sends         TEXT NOT NULL CHECK (sends IN ('pdf', 'text')),
    step          TEXT NOT NULL CHECK (step IN ('whole', 'part', 'combine')),
    -- Input as counted, in hundredths of what was expected; NULL where nothing was expected.
    input_percent INTEGER CHECK (input_percent >= 0),
    output_tokens INTEGER NOT NULL CHECK (output_tokens >= 0),
    -- How long it ran; NULL for a request of a remote batch.
    ran_ms        INTEGER CHECK (ran_ms >= 0),
    at            INTEGER NOT NULL
) STRICT;
CREATE INDEX call_samples_by_template ON call_samples (model, template, sends, step, sample_id);

-- The same in short, since every claim asks for it.
CREATE TABLE call_history (
    model         TEXT NOT NULL,
    template      TEXT NOT NULL,
    sends         TEXT NOT NULL CHECK (sends IN ('pdf', 'text')),
    step          TEXT NOT NULL CHECK (step IN ('whole', 'part', 'combine')),
    calls         INTEGER NOT NULL CHECK (calls > 0),
    -- Output tokens: a tenth of the answers had fewer, half of them, a tenth more; and the most.
    low_output    INTEGER NOT NULL,
    middle_output INTEGER NOT NULL,
    high_output   INTEGER NOT NULL,
    most_output   INTEGER NOT NULL,
    -- The most input that was counted, in hundredths of what was expected.
    most_input_percent INTEGER,
    -- How long a call ran on average, of those where that is known.
    timed_calls   INTEGER NOT NULL,
    mean_ms       INTEGER NOT NULL,
    PRIMARY KEY (model, template, sends, step)
) STRICT, WITHOUT ROWID;

-- Jobs that run first, while the others of their batch wait for a person's word.
ALTER TABLE batches ADD COLUMN pilot_jobs INTEGER CHECK (pilot_jobs > 0);
ALTER TABLE batches ADD COLUMN pilot_released_at INTEGER
    CHECK (pilot_released_at IS NULL OR pilot_jobs IS NOT NULL);
ALTER TABLE jobs ADD COLUMN pilot INTEGER NOT NULL DEFAULT 0 CHECK (pilot IN (0, 1));
CREATE INDEX jobs_of_pilots ON jobs (batch_id) WHERE pilot = 1;

-- `held` has one bit more, 64 for "waits for the pilot". A CHECK that only allows more changes nothing that is
-- stored, so the table need not be made anew (https://sqlite.org/lang_altertable.html, section 8).
PRAGMA writable_schema = ON;
UPDATE sqlite_schema SET sql = replace(sql, 'held BETWEEN 0 AND 63', 'held BETWEEN 0 AND 127')
    WHERE type = 'table' AND name = 'jobs';
PRAGMA writable_schema = RESET;
CREATE INDEX jobs_behind_pilots ON jobs (batch_id) WHERE status = 'pending' AND held & 64 <> 0;
