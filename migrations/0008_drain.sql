-- The windows count by tenths of a second.

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
