-- name: metric_name_insert
INSERT INTO metric_name (name) VALUES (?1) ON CONFLICT DO NOTHING;

-- name: metric_name_key
SELECT key FROM metric_name WHERE name = ?1;

-- name: series_insert
INSERT INTO series (run, metric, rank, segment) VALUES (?1, ?2, ?3, ?4) ON CONFLICT DO NOTHING;

-- name: series_get
SELECT key, finite, nans, positive_infinities, negative_infinities, minimum, maximum, total, first_step, last_step, last_kind, last_value,
       last_time_unix_ns
FROM series WHERE run = ?1 AND metric = ?2 AND rank = ?3 AND segment = ?4;

-- name: series_update
UPDATE series SET finite = ?2, nans = ?3, positive_infinities = ?4, negative_infinities = ?5, minimum = ?6, maximum = ?7, total = ?8, first_step = ?9,
  last_step = ?10, last_kind = ?11, last_value = ?12, last_time_unix_ns = ?13
WHERE key = ?1;

-- name: series_keys
SELECT key FROM series ORDER BY key;

-- name: series_of_run
SELECT key FROM series WHERE run = ?1;

-- name: series_name_list
SELECT DISTINCT metric_name.name FROM series JOIN metric_name ON metric_name.key = series.metric WHERE series.run = ?1 ORDER BY 1;

-- name: series_ranks
SELECT DISTINCT rank FROM series WHERE run = ?1 AND metric = ?2 ORDER BY rank;

-- name: series_segments
SELECT key, segment, first_step, last_step, last_kind, last_value, last_time_unix_ns, finite + nans + positive_infinities + negative_infinities
FROM series WHERE run = ?1 AND metric = ?2 AND rank = ?3 ORDER BY segment;

-- name: series_summaries
SELECT metric_name.name, rank, max(segment), finite, nans, positive_infinities, negative_infinities, minimum, maximum, total, first_step, last_step,
       last_kind, last_value, last_time_unix_ns
FROM series JOIN metric_name ON metric_name.key = series.metric
WHERE run = ?1 AND rank <= 0 GROUP BY metric, rank ORDER BY metric_name.name, rank;

-- name: point_insert
INSERT OR IGNORE INTO point (series, step, kind, value, tokens, time_unix_ns) VALUES (?1, ?2, ?3, ?4, ?5, ?6);

-- name: point_update
UPDATE point SET kind = ?3, value = ?4, tokens = ?5, time_unix_ns = ?6 WHERE series = ?1 AND step = ?2;

-- name: point_list
SELECT step, kind, value, tokens, time_unix_ns FROM point WHERE series = ?1 AND step > ?2 AND step < ?3 ORDER BY step;

-- name: point_last_before
SELECT step, kind, value, tokens, time_unix_ns FROM point WHERE series = ?1 AND step < ?2 ORDER BY step DESC LIMIT 1;

-- name: point_values
SELECT step, kind, value FROM point WHERE series = ?1 AND step >= ?2 AND step < ?3 ORDER BY step;

-- name: point_all
SELECT step, kind, value, time_unix_ns FROM point WHERE series = ?1 ORDER BY step;

-- name: pyramid_blocks
SELECT block, buckets FROM pyramid WHERE series = ?1 AND level = ?2 AND block BETWEEN ?3 AND ?4 ORDER BY block;

-- name: pyramid_upsert
INSERT OR REPLACE INTO pyramid (series, level, block, buckets) VALUES (?1, ?2, ?3, ?4);

-- name: pyramid_clear
DELETE FROM pyramid WHERE series = ?1;
