-- What the addresses that Claude is asked at tell of their models.

-- Profiles as JSON, by the address that told them.
CREATE TABLE told_models (
    address TEXT NOT NULL,
    model   TEXT NOT NULL,
    profile TEXT NOT NULL CHECK (json_valid(profile)),
    told_at INTEGER NOT NULL,
    PRIMARY KEY (address, model)
) STRICT, WITHOUT ROWID;

-- Limits that the provider told for a class of models, what was left of them, and until when it wants no more.
-- What was known is told again with the next answer.
DROP TABLE told_limits;
CREATE TABLE told_limits (
    class         TEXT PRIMARY KEY,
    requests      INTEGER CHECK (requests > 0),
    input_tokens  INTEGER CHECK (input_tokens > 0),
    output_tokens INTEGER CHECK (output_tokens > 0),
    tokens        INTEGER CHECK (tokens > 0),
    -- What was left at `left_at`, and when all of it is there again.
    requests_left INTEGER CHECK (requests_left >= 0),
    requests_full INTEGER,
    input_left    INTEGER CHECK (input_left >= 0),
    input_full    INTEGER,
    output_left   INTEGER CHECK (output_left >= 0),
    output_full   INTEGER,
    tokens_left   INTEGER CHECK (tokens_left >= 0),
    tokens_full   INTEGER,
    left_at       INTEGER,
    wait_until    INTEGER,
    told_at       INTEGER NOT NULL,
    CHECK ((requests_left IS NULL) = (requests_full IS NULL)),
    CHECK ((input_left IS NULL) = (input_full IS NULL)),
    CHECK ((output_left IS NULL) = (output_full IS NULL)),
    CHECK ((tokens_left IS NULL) = (tokens_full IS NULL))
) STRICT, WITHOUT ROWID;

-- PDFs that lie at the provider while they are asked about. They end there by themselves after an hour; a row that
-- is left by a crash has its file removed at the next start.
CREATE TABLE lent_files (
    file_id TEXT PRIMARY KEY,
    lent_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
