-- All rows of one run, table by table.

-- name: delete_pyramid
DELETE FROM pyramid WHERE series IN (SELECT key FROM series WHERE run = ?1);

-- name: delete_points
DELETE FROM point WHERE series IN (SELECT key FROM series WHERE run = ?1);

-- name: delete_series
DELETE FROM series WHERE run = ?1;

-- name: delete_logs
DELETE FROM log WHERE run = ?1;

-- name: delete_events
DELETE FROM event WHERE run = ?1;

-- name: delete_spans
DELETE FROM span WHERE run = ?1;

-- name: delete_samples
DELETE FROM sample WHERE run = ?1;

-- name: delete_checkpoints
DELETE FROM checkpoint WHERE run = ?1;

-- name: delete_received
DELETE FROM received WHERE run = ?1;

-- name: delete_rank_status
DELETE FROM rank_status WHERE run = ?1;

-- name: delete_settings
DELETE FROM setting WHERE run = ?1;

-- name: delete_segments
DELETE FROM segment WHERE run = ?1;

-- name: delete_tags
DELETE FROM tag WHERE run = ?1;

-- name: delete_fingerprints
DELETE FROM fingerprint WHERE run = ?1;

-- name: delete_notes
DELETE FROM note WHERE run = ?1;

-- name: delete_alerts
DELETE FROM alert WHERE run = ?1;

-- name: delete_recipe
DELETE FROM recipe WHERE run = ?1;

-- name: delete_run
DELETE FROM run WHERE key = ?1;
