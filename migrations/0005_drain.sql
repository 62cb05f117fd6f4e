-- The windows count by tenths of a second, and what calls usually take is remembered.

-- What was used or promised in each tenth of a second of the last minutes, by model. The rolling windows.
CREATE TABLE usage_tenths (
    tenth         INTEGER NOT NULL,
    model         TEXT NOT NULL,
    requests      INTEGER NOT NULL CHECK (requests >= 0),
    input_tokens  INTEGER NOT NULL CHECK (input_tokens >= 0),
    output_tokens INTEGER NOT NULL CHECK (output_tokens >= 0),
    PRIMARY KEY (tenth, model)
) STRICT, WITHOUT ROWID;
-- As if it had been used at the end of its second.
INSERT INTO usage_tenths SELECT second * 10 + 9, model, requests, input_tokens, output_tokens
FROM usage_seconds;
DROP TABLE usage_seconds;

-- The tenth of a second since 1970 that a call counts for.
ALTER TABLE ledger RENAME COLUMN second TO tenth;
UPDATE ledger SET tenth = tenth * 10 + 9;

-- What calls took, by what they ask: of each series of a hundred the most, since the next ones will
-- hardly take more. The series before the present one counts, too.
CREATE TABLE usual_calls (
    model            TEXT NOT NULL,
    template_id      TEXT NOT NULL,
    template_version INTEGER NOT NULL,
    sends            TEXT NOT NULL CHECK (sends IN ('pdf', 'text')),
    step             TEXT NOT NULL CHECK (step IN ('whole', 'part', 'combine')),
    -- Calls of the present series.
    calls            INTEGER NOT NULL CHECK (calls >= 0),
    -- The most input that was counted, in hundredths of what was expected, and the longest answer.
    input_percent    INTEGER NOT NULL CHECK (input_percent >= 0),
    output_tokens    INTEGER NOT NULL CHECK (output_tokens >= 0),
    -- The same of the series before.
    calls_before         INTEGER NOT NULL DEFAULT 0,
    input_percent_before INTEGER NOT NULL DEFAULT 0,
    output_tokens_before INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (model, template_id, template_version, sends, step)
) STRICT, WITHOUT ROWID;
