// Measures plainjob. Its calls are synchronous: a process does one thing at a time, so the producers and
// the workers are asynchronous loops that take turns, as plainjob's own workers do.

import { parseArgs } from "node:util";
import Database from "better-sqlite3";
import { better, defineQueue, defineWorker } from "plainjob";

const PRODUCERS = 16;
const WORKERS = 8;
const TYPE = "bench";
const PAYLOAD = "Summarize the quarterly figures in five sentences.";
const DONE = 2;
const DAY = 24 * 60 * 60 * 1000;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    database: { type: "string" },
    finished: { type: "string", default: "0" },
    pending: { type: "string", default: "0" },
    seconds: { type: "string", default: "1" },
  },
});
const [command] = positionals;
const milliseconds = Number(values.seconds) * 1000;
const quiet = { debug() {}, info() {}, warn() {}, error: console.error };

const print = (line) => console.log(JSON.stringify(line));

function open() {
  const database = new Database(values.database);
  const queue = defineQueue({ connection: better(database), logger: quiet });
  return { database, queue };
}

function openDurably() {
  const { database, queue } = open();
  // plainjob sets it to NORMAL as it opens; its connection is ours, so FULL can follow.
  database.pragma("synchronous = FULL");
  print({
    measure: "durability",
    synchronous: database.pragma("synchronous", { simple: true }),
    journal_mode: database.pragma("journal_mode", { simple: true }),
    sqlite: database.prepare("SELECT sqlite_version()").pluck().get(),
  });
  return queue;
}

/** Sees by bulk SQL to it that `jobs` jobs of a status are there. */
function addInBulk(status, jobs) {
  const { database, queue } = open();
  database.pragma("synchronous = OFF");
  const there = database
    .prepare("SELECT count(*) FROM plainjob_jobs WHERE type = ? AND status = ?")
    .pluck()
    .get(TYPE, status);
  if (there < jobs) {
    database
      .prepare(
        `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
         INSERT INTO plainjob_jobs (type, data, status, created_at, next_run_at)
         SELECT ?, ?, ?, ? + i, ? + i FROM n`,
      )
      .run(jobs - there, TYPE, JSON.stringify(PAYLOAD), status, Date.now() - DAY, Date.now() - DAY);
  }
  database.pragma("wal_checkpoint(TRUNCATE)");
  queue.close();
}

function percentile(latencies, share) {
  if (latencies.length === 0) return null;
  latencies.sort((left, right) => left - right);
  return latencies[Math.round((latencies.length - 1) * share)];
}

function printThroughput(measure, jobs, began, claims = [], cycles = []) {
  const seconds = (performance.now() - began) / 1000;
  print({
    measure,
    jobs,
    seconds,
    jobs_per_second: jobs / seconds,
    claim_p50_us: percentile(claims, 0.5),
    claim_p99_us: percentile(claims, 0.99),
    cycle_p50_us: percentile(cycles, 0.5),
    cycle_p99_us: percentile(cycles, 0.99),
  });
}

async function enqueue() {
  const queue = openDurably();
  const began = performance.now();
  let jobs = 0;
  const produce = async () => {
    while (performance.now() - began < milliseconds) {
      queue.add(TYPE, PAYLOAD);
      jobs += 1;
      await null;
    }
  };
  await Promise.all(Array.from({ length: PRODUCERS }, produce));
  printThroughput("enqueue", jobs, began);
  queue.close();
}

/** Eight loops over the queue's functions, which its worker calls: nothing but claims and completions. */
async function claim() {
  addInBulk(0, Number(values.pending));
  const queue = openDurably();
  const claims = [];
  const cycles = [];
  const began = performance.now();
  let jobs = 0;
  const work = async () => {
    while (performance.now() - began < milliseconds) {
      const from = performance.now();
      const job = queue.getAndMarkJobAsProcessing(TYPE);
      claims.push((performance.now() - from) * 1000);
      if (!job) return;
      queue.markJobAsDone(job.id);
      cycles.push((performance.now() - from) * 1000);
      jobs += 1;
      await null;
    }
  };
  await Promise.all(Array.from({ length: WORKERS }, work));
  printThroughput("claim", jobs, began, claims, cycles);
  queue.close();
}

/** Eight of its own workers. */
async function own() {
  addInBulk(0, Number(values.pending));
  const queue = openDurably();
  const began = performance.now();
  let jobs = 0;
  const workers = Array.from({ length: WORKERS }, () =>
    defineWorker(
      TYPE,
      () => {
        jobs += 1;
        // Its loop never waits for a timer while there are jobs, so the end is looked for here.
        if (performance.now() - began >= milliseconds) workers.forEach((worker) => void worker.stop());
      },
      { queue, logger: quiet, pollIntervall: 10 },
    ),
  );
  await Promise.all(workers.map((worker) => worker.start()));
  printThroughput("own", jobs, began);
  queue.close();
}

const commands = { fill: () => addInBulk(DONE, Number(values.finished)), enqueue, claim, own };
await commands[command]();
