-- name: metric_name_insert
INSERT INTO metric_name (name) VALUES (?1) ON CONFLICT DO NOTHING;

-- name: metric_name_all
SELECT key, name FROM metric_name;

-- name: metric_name_key
SELECT key FROM metric_name WHERE name = ?1;

-- name: run_metric_insert
INSERT INTO run_metric (run, metric) VALUES (?1, ?2) ON CONFLICT DO NOTHING;

-- name: run_metric_list
SELECT name FROM run_metric JOIN metric_name ON metric_name.key = run_metric.metric WHERE run = ?1 ORDER BY name;

-- name: metric_insert
INSERT OR IGNORE INTO metric (run, metric, rank, step, segment, kind, value, tokens, time_unix_ns) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9);

-- name: metric_update
UPDATE metric SET kind = ?6, value = ?7, tokens = ?8, time_unix_ns = ?9 WHERE run = ?1 AND metric = ?2 AND rank = ?3 AND step = ?4 AND segment = ?5;

-- name: metric_points
SELECT step, segment, kind, value, tokens, time_unix_ns FROM metric
WHERE run = ?1 AND metric = ?2 AND rank = ?3 AND step > ?4 ORDER BY step, segment;

-- name: metric_ranks
SELECT DISTINCT rank FROM metric WHERE run = ?1 AND metric = ?2 ORDER BY rank;

-- name: metric_last
SELECT step, segment, kind, value, tokens, time_unix_ns FROM metric
WHERE run = ?1 AND metric = ?2 AND rank = ?3 ORDER BY step DESC, segment DESC LIMIT 1;

-- name: metric_point_count
SELECT count(*) FROM metric WHERE run = ?1;
