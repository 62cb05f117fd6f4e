-- What needed a review and was looked at by a person.

-- When a person took the job's result for good; then the job is completed.
ALTER TABLE jobs ADD COLUMN reviewed_at INTEGER;
-- Why it needed the review, so that it can be put back.
ALTER TABLE jobs ADD COLUMN review_code TEXT;
ALTER TABLE jobs ADD COLUMN review TEXT;

-- What the provider cited of the document, as JSON: pages from 1, and the words there.
ALTER TABLE answers ADD COLUMN passages TEXT NOT NULL DEFAULT '[]';
ALTER TABLE results ADD COLUMN passages TEXT NOT NULL DEFAULT '[]';
ALTER TABLE parts ADD COLUMN passages TEXT NOT NULL DEFAULT '[]';
