-- What is known of a document's pages, and long documents that are asked part by part.

-- What the inspection learned besides, as JSON.
ALTER TABLE documents ADD COLUMN facts TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(facts));
-- Its text, carried forward to all pages where not all were read; NULL where it was not looked at.
ALTER TABLE documents ADD COLUMN text_pages INTEGER CHECK (text_pages >= 0);
ALTER TABLE documents ADD COLUMN letters INTEGER CHECK (letters >= 0);
ALTER TABLE documents ADD COLUMN ideographs INTEGER CHECK (ideographs >= 0);
-- Whether every page was read, so that the numbers above are no projection.
ALTER TABLE documents ADD COLUMN all_read INTEGER NOT NULL DEFAULT 0 CHECK (all_read IN (0, 1));

-- What each page of a long document holds, by which it is split: an array of [letters, ideographs, bytes].
CREATE TABLE document_pages (
    sha256       TEXT PRIMARY KEY REFERENCES documents (sha256) ON DELETE CASCADE,
    shared_bytes INTEGER NOT NULL CHECK (shared_bytes >= 0),
    pages        TEXT NOT NULL CHECK (json_valid(pages))
) STRICT, WITHOUT ROWID;

-- The parts of a long document. Each is asked by a call of its own; an answer that is kept here is never
-- asked for again while the question stays the same.
CREATE TABLE parts (
    job_id        TEXT NOT NULL REFERENCES jobs (job_id) ON DELETE CASCADE,
    first_page    INTEGER NOT NULL CHECK (first_page >= 1),
    last_page     INTEGER NOT NULL,
    -- Its text; NULL where it was not looked at.
    text_pages    INTEGER CHECK (text_pages >= 0),
    letters       INTEGER CHECK (letters >= 0),
    ideographs    INTEGER CHECK (ideographs >= 0),
    body          TEXT,
    model         TEXT,
    stop_reason   TEXT,
    request_id    TEXT,
    input_tokens  INTEGER NOT NULL DEFAULT 0,
    output_tokens INTEGER NOT NULL DEFAULT 0,
    -- NULL also where the model has no known price.
    cost_micros   INTEGER,
    review_code   TEXT,
    review        TEXT,
    answered_at   INTEGER,
    PRIMARY KEY (job_id, first_page),
    CHECK (last_page >= first_page),
    CHECK ((body IS NULL) = (answered_at IS NULL)),
    CHECK ((review_code IS NULL) = (review IS NULL))
) STRICT, WITHOUT ROWID;

-- What is sent of the PDF.
ALTER TABLE jobs ADD COLUMN sends TEXT NOT NULL DEFAULT 'pdf' CHECK (sends IN ('pdf', 'text'));
-- How many parts it has, none for a job that is asked as a whole, and how many are answered.
ALTER TABLE jobs ADD COLUMN parts INTEGER NOT NULL DEFAULT 0 CHECK (parts >= 0);
ALTER TABLE jobs ADD COLUMN parts_done INTEGER NOT NULL DEFAULT 0 CHECK (parts_done BETWEEN 0 AND parts);
-- Attempts that the parts answered so far took: each part has the retries of a job.
ALTER TABLE jobs ADD COLUMN attempts_before INTEGER NOT NULL DEFAULT 0
    CHECK (attempts_before BETWEEN 0 AND attempts);

-- What an attempt asked about, and the input tokens that were estimated for it.
ALTER TABLE attempts ADD COLUMN step TEXT NOT NULL DEFAULT 'whole' CHECK (step IN ('whole', 'part', 'combine'));
ALTER TABLE attempts ADD COLUMN first_page INTEGER CHECK ((step = 'part') = (first_page IS NOT NULL));
ALTER TABLE attempts ADD COLUMN last_page INTEGER CHECK ((step = 'part') = (last_page IS NOT NULL));
ALTER TABLE attempts ADD COLUMN estimated_input INTEGER CHECK (estimated_input >= 0);

ALTER TABLE templates ADD COLUMN sends TEXT NOT NULL DEFAULT 'pdf' CHECK (sends IN ('pdf', 'text'));

-- Estimates of input tokens beside what the provider counted, newest last; old ones are removed.
CREATE TABLE estimate_checks (
    check_id  INTEGER PRIMARY KEY AUTOINCREMENT,
    model     TEXT NOT NULL,
    sends     TEXT NOT NULL CHECK (sends IN ('pdf', 'text')),
    estimated INTEGER NOT NULL CHECK (estimated > 0),
    counted   INTEGER NOT NULL CHECK (counted > 0),
    at        INTEGER NOT NULL
) STRICT;
CREATE INDEX estimate_checks_by_model ON estimate_checks (model, sends, check_id);
