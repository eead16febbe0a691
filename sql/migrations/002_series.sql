-- Runs that are resumed, found again, labelled and watched: segments, series with their sums and pyramids, settings, tags, notes, alerts.

-- The oldest schema whose programs can read this file.
ALTER TABLE node ADD COLUMN readable_by INTEGER NOT NULL DEFAULT 2;

-- What a run was started with; apart from the run's row, so that a list of runs reads no long texts.
CREATE TABLE recipe (
  run INTEGER PRIMARY KEY REFERENCES run (key),
  content TEXT NOT NULL,                 -- JSON, resolved
  text TEXT NOT NULL,                    -- the file as it was
  path TEXT NOT NULL,
  overrides TEXT NOT NULL                -- JSON list
);
INSERT INTO recipe SELECT key, recipe, recipe_text, recipe_path, overrides FROM run;
ALTER TABLE run DROP COLUMN recipe;
ALTER TABLE run DROP COLUMN recipe_text;
ALTER TABLE run DROP COLUMN recipe_path;
ALTER TABLE run DROP COLUMN overrides;
ALTER TABLE run ADD COLUMN archived INTEGER NOT NULL DEFAULT 0;
ALTER TABLE run ADD COLUMN duration_ns INTEGER NOT NULL DEFAULT -1;    -- by one clock that never steps back; -1: unknown
ALTER TABLE run ADD COLUMN imported_from TEXT NOT NULL DEFAULT '';     -- the archive or folder; '': recorded here
UPDATE run SET duration_ns = ended_unix_ns - started_unix_ns WHERE started_unix_ns > 0 AND ended_unix_ns >= started_unix_ns;

-- The leaves of recipe, mesh and the daemon's fingerprint by the names that queries use: recipe.policy.model_name, mesh.cp, fingerprint.node.
CREATE TABLE setting_name (
  key INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE
);
CREATE TABLE setting (
  name INTEGER NOT NULL REFERENCES setting_name (key),
  run INTEGER NOT NULL REFERENCES run (key),
  value,                                 -- INTEGER, REAL, TEXT ('true' and 'false' too) or NULL
  PRIMARY KEY (name, run)
) WITHOUT ROWID;
CREATE INDEX setting_of_run ON setting (run);

-- A resume opens the next segment. What earlier segments have from its first step on is kept, but no longer the run's curve.
CREATE TABLE segment (
  run INTEGER NOT NULL REFERENCES run (key),
  segment INTEGER NOT NULL,
  first_step INTEGER,                    -- NULL: none yet
  opened_unix_ns INTEGER NOT NULL,
  PRIMARY KEY (run, segment)
) WITHOUT ROWID;
INSERT INTO segment SELECT run, segment, min(step), min(time_unix_ns) FROM metric GROUP BY run, segment;
INSERT OR IGNORE INTO segment SELECT DISTINCT run, segment, NULL, 0 FROM received;
INSERT OR IGNORE INTO segment SELECT key, segment, NULL, 0 FROM run;
INSERT OR IGNORE INTO segment SELECT key, 1, NULL, 0 FROM run;
UPDATE segment SET opened_unix_ns = (SELECT created_unix_ns FROM run WHERE key = segment.run) WHERE opened_unix_ns = 0 OR segment = 1;

-- One metric of one rank in one segment, with the sums over all its points. kinds: 0 finite, 1 NaN, 2 +infinity, 3 -infinity. SQLite turns a NaN
-- into NULL, so values are NULL for all but finite ones.
CREATE TABLE series (
  key INTEGER PRIMARY KEY,
  run INTEGER NOT NULL REFERENCES run (key),
  metric INTEGER NOT NULL REFERENCES metric_name (key),
  rank INTEGER NOT NULL,
  segment INTEGER NOT NULL,
  finite INTEGER NOT NULL DEFAULT 0,     -- how many points of each kind
  nans INTEGER NOT NULL DEFAULT 0,
  positive_infinities INTEGER NOT NULL DEFAULT 0,
  negative_infinities INTEGER NOT NULL DEFAULT 0,
  minimum REAL,                          -- of the finite points; NULL where there is none
  maximum REAL,
  total REAL NOT NULL DEFAULT 0,         -- of the finite points
  first_step INTEGER NOT NULL DEFAULT 0,
  last_step INTEGER NOT NULL DEFAULT 0,
  last_kind INTEGER NOT NULL DEFAULT 0,
  last_value REAL,
  last_time_unix_ns INTEGER NOT NULL DEFAULT 0,
  UNIQUE (run, metric, rank, segment)
);
INSERT INTO series (run, metric, rank, segment) SELECT DISTINCT run, metric, rank, segment FROM metric;
CREATE INDEX series_of_metric ON series (metric, run, rank, segment);

CREATE TABLE point (
  series INTEGER NOT NULL REFERENCES series (key),
  step INTEGER NOT NULL,
  kind INTEGER NOT NULL,
  value REAL,
  tokens INTEGER NOT NULL,               -- trained on so far; -1: unknown
  time_unix_ns INTEGER NOT NULL,
  PRIMARY KEY (series, step)
) WITHOUT ROWID;
INSERT INTO point SELECT series.key, metric.step, metric.kind, metric.value, metric.tokens, metric.time_unix_ns
  FROM series JOIN metric USING (run, metric, rank, segment) ORDER BY series.key, metric.step;
DROP TABLE metric;
DROP TABLE run_metric;

-- A bucket of level n sums up 4^n steps, beginning at a multiple of that. 16 neighbours are a block, which is written once a step beyond it has
-- come, and only when it has more points than buckets: otherwise the points themselves are read (shared/history/pyramid.h).
CREATE TABLE pyramid (
  series INTEGER NOT NULL REFERENCES series (key),
  level INTEGER NOT NULL,
  block INTEGER NOT NULL,
  buckets BLOB NOT NULL,
  PRIMARY KEY (series, level, block)
) WITHOUT ROWID;

-- Every point with its names, for people.
CREATE VIEW metric AS
SELECT run.id AS run, metric_name.name AS name, series.rank AS rank, series.segment AS segment, point.step AS step,
       CASE point.kind WHEN 0 THEN point.value WHEN 2 THEN 9e999 WHEN 3 THEN -9e999 END AS value,
       CASE point.kind WHEN 0 THEN 'finite' WHEN 1 THEN 'nan' WHEN 2 THEN '+inf' ELSE '-inf' END AS kind,
       point.tokens AS tokens, point.time_unix_ns AS time_unix_ns
FROM run JOIN series ON series.run = run.key JOIN metric_name ON metric_name.key = series.metric JOIN point ON point.series = series.key;

-- A run that goes on elsewhere has another fingerprint.
ALTER TABLE fingerprint RENAME TO fingerprint_before;
CREATE TABLE fingerprint (
  run INTEGER NOT NULL REFERENCES run (key),
  segment INTEGER NOT NULL,
  source TEXT NOT NULL,                  -- 'daemon', or the rank that sent it
  content TEXT NOT NULL,                 -- JSON map
  PRIMARY KEY (run, segment, source)
) WITHOUT ROWID;
INSERT INTO fingerprint SELECT run, 1, source, content FROM fingerprint_before;
DROP TABLE fingerprint_before;

CREATE TABLE tag (
  run INTEGER NOT NULL REFERENCES run (key),
  tag TEXT NOT NULL,
  PRIMARY KEY (run, tag)
) WITHOUT ROWID;
CREATE INDEX tag_name ON tag (tag, run);

CREATE TABLE note (
  key INTEGER PRIMARY KEY,
  run INTEGER NOT NULL REFERENCES run (key),
  time_unix_ns INTEGER NOT NULL,
  author TEXT NOT NULL,
  text TEXT NOT NULL
);
CREATE INDEX note_of_run ON note (run, time_unix_ns);

-- The same trouble again raises the count of its row.
CREATE TABLE alert (
  key INTEGER PRIMARY KEY,
  run INTEGER NOT NULL,                  -- 0: of the node
  kind TEXT NOT NULL,                    -- finished, failed, nan, threshold, stall, straggler, disk, test
  topic TEXT NOT NULL,                   -- what tells two of one kind apart: a metric's name, a rank, a path
  text TEXT NOT NULL,
  detail TEXT NOT NULL,                  -- JSON map
  count INTEGER NOT NULL,
  first_unix_ns INTEGER NOT NULL,
  last_unix_ns INTEGER NOT NULL,
  UNIQUE (run, kind, topic)
);
