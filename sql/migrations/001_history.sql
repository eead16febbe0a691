-- The first schema: runs and all that their workers report.

CREATE TABLE node (
  only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
  node_sequence INTEGER NOT NULL,        -- last one given
  journal_first INTEGER NOT NULL,        -- oldest one that is still in the journal
  journal_bytes INTEGER NOT NULL
);
INSERT INTO node VALUES (1, 0, 1, 0);

CREATE TABLE run (
  key INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL,
  algorithm TEXT NOT NULL,
  state TEXT NOT NULL,
  reason TEXT NOT NULL,
  created_unix_ns INTEGER NOT NULL,
  started_unix_ns INTEGER NOT NULL,
  ended_unix_ns INTEGER NOT NULL,
  world_size INTEGER NOT NULL,
  mesh TEXT NOT NULL,                    -- JSON
  recipe TEXT NOT NULL,                  -- JSON, resolved
  recipe_text TEXT NOT NULL,
  recipe_path TEXT NOT NULL,
  overrides TEXT NOT NULL,               -- JSON list
  failed_rank INTEGER NOT NULL,
  last_step INTEGER NOT NULL,
  color_index INTEGER NOT NULL,
  segment INTEGER NOT NULL DEFAULT 1,    -- a resume opens the next one
  metrics_replaced INTEGER NOT NULL DEFAULT 0,
  logs_dropped INTEGER NOT NULL DEFAULT 0,
  spans_dropped INTEGER NOT NULL DEFAULT 0,
  samples_dropped INTEGER NOT NULL DEFAULT 0,
  events_dropped INTEGER NOT NULL DEFAULT 0,
  duplicates INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX run_name ON run (name);

-- One JSON map per source: 'daemon', or the rank that sent it.
CREATE TABLE fingerprint (
  run INTEGER NOT NULL REFERENCES run (key),
  source TEXT NOT NULL,
  content TEXT NOT NULL,
  PRIMARY KEY (run, source)
) WITHOUT ROWID;

CREATE TABLE metric_name (
  key INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE
);

-- kind: 0 finite, 1 NaN, 2 +infinity, 3 -infinity. SQLite turns a NaN into NULL, so value is NULL for all but the finite ones.
CREATE TABLE metric (
  run INTEGER NOT NULL,
  metric INTEGER NOT NULL,
  rank INTEGER NOT NULL,
  step INTEGER NOT NULL,
  segment INTEGER NOT NULL,
  kind INTEGER NOT NULL,
  value REAL,
  tokens INTEGER NOT NULL,
  time_unix_ns INTEGER NOT NULL,
  PRIMARY KEY (run, metric, rank, step, segment)
) WITHOUT ROWID;

-- Which metrics a run has, kept so that nobody must look through its points.
CREATE TABLE run_metric (
  run INTEGER NOT NULL,
  metric INTEGER NOT NULL,
  PRIMARY KEY (run, metric)
) WITHOUT ROWID;

CREATE TABLE log (
  run INTEGER NOT NULL,
  node_sequence INTEGER NOT NULL,
  time_unix_ns INTEGER NOT NULL,
  rank INTEGER NOT NULL,
  level TEXT NOT NULL,
  text TEXT NOT NULL,
  PRIMARY KEY (run, node_sequence)
) WITHOUT ROWID;

CREATE TABLE event (
  run INTEGER NOT NULL,
  node_sequence INTEGER NOT NULL,
  time_unix_ns INTEGER NOT NULL,
  rank INTEGER NOT NULL,
  kind INTEGER NOT NULL,                 -- the wire's number; kinds that this program does not know stay as they came
  name TEXT NOT NULL,
  body BLOB NOT NULL,                    -- MessagePack
  PRIMARY KEY (run, node_sequence)
) WITHOUT ROWID;

CREATE TABLE span (
  run INTEGER NOT NULL,
  step INTEGER NOT NULL,
  rank INTEGER NOT NULL,
  begin_ns INTEGER NOT NULL,
  phase TEXT NOT NULL,
  end_ns INTEGER NOT NULL,
  PRIMARY KEY (run, step, rank, begin_ns, phase)
) WITHOUT ROWID;

CREATE TABLE sample (
  run INTEGER NOT NULL,
  node_sequence INTEGER NOT NULL,
  step INTEGER NOT NULL,
  rank INTEGER NOT NULL,
  body TEXT NOT NULL,                    -- JSON
  PRIMARY KEY (run, node_sequence)
) WITHOUT ROWID;

CREATE TABLE checkpoint (
  run INTEGER NOT NULL,
  step INTEGER NOT NULL,
  path TEXT NOT NULL,
  bytes INTEGER NOT NULL,
  time_unix_ns INTEGER NOT NULL,
  PRIMARY KEY (run, step, path)
) WITHOUT ROWID;

-- The last sign of life of each rank.
CREATE TABLE rank_status (
  run INTEGER NOT NULL,
  rank INTEGER NOT NULL,
  step INTEGER NOT NULL,
  time_unix_ns INTEGER NOT NULL,
  resident_bytes INTEGER NOT NULL,
  resident_bytes_max INTEGER NOT NULL,
  cpu_seconds REAL NOT NULL,
  PRIMARY KEY (run, rank)
) WITHOUT ROWID;

-- Ranges of worker_sequence that are stored; one row for each rank unless something is missing in between.
CREATE TABLE received (
  run INTEGER NOT NULL,
  segment INTEGER NOT NULL,
  rank INTEGER NOT NULL,
  first INTEGER NOT NULL,
  last INTEGER NOT NULL,
  PRIMARY KEY (run, segment, rank, first)
) WITHOUT ROWID;

-- The latest events as they went over the wire, for subscribers that missed some.
CREATE TABLE journal (
  node_sequence INTEGER PRIMARY KEY,
  topic TEXT NOT NULL,
  header BLOB NOT NULL,
  body BLOB NOT NULL
);
