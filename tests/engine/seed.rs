//! Jobs and results put into the store directly, where thousands of them have to be there soon.

use std::path::PathBuf;

use gistmill_engine::model::{BatchId, JobId};
use rusqlite::{Connection, params};

use crate::support::House;

impl House {
    /// Opens the database beside the engine.
    pub(crate) fn database(&self) -> Connection {
        let database = Connection::open(self.folder.path().join("data/gistmill.db")).unwrap();
        database.pragma_update(None, "foreign_keys", false).unwrap();
        database
    }

    /// Returns where the file of a job's first result lies.
    pub(crate) fn result_path(&self, job_id: &JobId) -> PathBuf {
        self.folder.path().join(format!("data/results/{job_id}.md"))
    }

    /// Makes the result of a job one with the fields of the contract template, holding `json`.
    pub(crate) fn make_fields(&self, job_id: &JobId, json: &str) {
        let changed = self
            .database()
            .execute(
                "UPDATE results SET format = 'json', template_id = 'contract-key-terms',
                     template_version = 1 WHERE job_id = ?1",
                [job_id.as_str()],
            )
            .unwrap();
        assert_eq!(changed, 1, "the job must have a result");
        std::fs::write(self.result_path(job_id), format!("{json}\n")).unwrap();
    }

    /// Stores a batch of completed jobs with these titles, each with a result of its own text, that ran 1 ms,
    /// 2 ms and so on, and cost as many micro-dollars.
    pub(crate) fn seed(&self, titles: &[String], text: &str) -> BatchId {
        let batch_id = BatchId::generate();
        let mut database = self.database();
        let transaction = database.transaction().unwrap();
        transaction
            .execute(
                "INSERT INTO batches (batch_id, name, user_id, created_at)
                 VALUES (?1, 'Seeded', 'local', 1795953600000)",
                [batch_id.as_str()],
            )
            .unwrap();
        for (number, title) in (1_i64..).zip(titles) {
            let job_id = JobId::generate();
            let result_id: i64 = transaction
                .prepare_cached(
                    "INSERT INTO results (job_id, generation, store, key, sha256, bytes, provider, model,
                         template_id, template_version, input_tokens, output_tokens, cost_micros,
                         created_at)
                     VALUES (?1, 1, 'local', ?2, ?3, ?4, 'claude', 'claude-sonnet-4-6',
                         'pdf-summarize', 1, 100, 10, ?5, 1795953600000) RETURNING result_id",
                )
                .unwrap()
                .query_row(
                    params![
                        job_id.as_str(),
                        format!("results/{job_id}.md"),
                        "0".repeat(64),
                        i64::try_from(text.len()).unwrap(),
                        number
                    ],
                    |row| row.get(0),
                )
                .unwrap();
            transaction
                .prepare_cached(
                    "INSERT INTO jobs (job_id, batch_id, user_id, kind, title, status, queue,
                         available_at, waiting_since, source_path, template_id, template_version,
                         provider, model, max_tokens, created_at, started_at, completed_at, result_id,
                         input_tokens, output_tokens, cost_micros, ran_ms)
                     VALUES (?1, ?2, 'local', 'pdf', ?3, 'completed', 'high', 0, 0, ?4, 'pdf-summarize',
                         1, 'claude', 'claude-sonnet-4-6', 1000, 1795953600000, 1795953600000,
                         1795953600000, ?5, 100, 10, ?6, ?6)",
                )
                .unwrap()
                .execute(params![
                    job_id.as_str(),
                    batch_id.as_str(),
                    title,
                    format!("/drop/{title}"),
                    result_id,
                    number
                ])
                .unwrap();
            transaction
                .prepare_cached(
                    "INSERT INTO attempts (job_id, generation, number, lease_id, provider, model,
                         started_at, ended_at, outcome, waited_ms, input_tokens, output_tokens,
                         cost_micros)
                     VALUES (?1, 1, 1, 'l', 'claude', 'claude-sonnet-4-6', 1795953600000,
                         1795953600000, 'completed', 0, 100, 10, ?2)",
                )
                .unwrap()
                .execute(params![job_id.as_str(), number])
                .unwrap();
            let text = format!("{text}\n\n<!-- gistmill: claude by x, pdf-summarize-v1 -->\n");
            std::fs::write(self.result_path(&job_id), text).unwrap();
        }
        transaction.commit().unwrap();
        batch_id
    }
}
