-- Orders of the list that a person chooses by its header: any place of 100,000 jobs is found by walking one of these
-- alone. The row's number, which every index ends with, decides between equals.
CREATE INDEX jobs_by_title ON jobs (title COLLATE NOCASE);
CREATE INDEX jobs_by_cost ON jobs (cost_micros);
CREATE INDEX jobs_by_time ON jobs (ran_ms);
