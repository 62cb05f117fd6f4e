-- What the addresses that Claude is asked at tell of their models.

-- Profiles as JSON, by the address that told them.
CREATE TABLE told_models (
    address TEXT NOT NULL,
    model   TEXT NOT NULL,
    profile TEXT NOT NULL CHECK (json_valid(profile)),
    told_at INTEGER NOT NULL,
    PRIMARY KEY (address, model)
) STRICT, WITHOUT ROWID;
