-- What `ringwright history check` asks: rows whose run or series is gone, and whether the journal's numbers fit.

-- name: orphans_log
SELECT count(*) FROM log WHERE run NOT IN (SELECT key FROM run);

-- name: orphans_event
SELECT count(*) FROM event WHERE run NOT IN (SELECT key FROM run);

-- name: orphans_span
SELECT count(*) FROM span WHERE run NOT IN (SELECT key FROM run);

-- name: orphans_sample
SELECT count(*) FROM sample WHERE run NOT IN (SELECT key FROM run);

-- name: orphans_checkpoint
SELECT count(*) FROM checkpoint WHERE run NOT IN (SELECT key FROM run);

-- name: orphans_received
SELECT count(*) FROM received WHERE run NOT IN (SELECT key FROM run);

-- name: orphans_recipe
SELECT count(*) FROM recipe WHERE run NOT IN (SELECT key FROM run);

-- name: orphans_rank
SELECT count(*) FROM rank_status WHERE run NOT IN (SELECT key FROM run);

-- name: orphans_setting
SELECT count(*) FROM setting WHERE run NOT IN (SELECT key FROM run);

-- name: orphans_segment
SELECT count(*) FROM segment WHERE run NOT IN (SELECT key FROM run);

-- name: orphans_series
SELECT count(*) FROM series WHERE run NOT IN (SELECT key FROM run);

-- name: orphans_tag
SELECT count(*) FROM tag WHERE run NOT IN (SELECT key FROM run);

-- name: orphans_note
SELECT count(*) FROM note WHERE run NOT IN (SELECT key FROM run);

-- name: orphans_fingerprint
SELECT count(*) FROM fingerprint WHERE run NOT IN (SELECT key FROM run);

-- name: orphans_alert
SELECT count(*) FROM alert WHERE run <> 0 AND run NOT IN (SELECT key FROM run);

-- name: orphans_point
WITH RECURSIVE seen (series) AS (SELECT min(series) FROM point UNION ALL SELECT (SELECT min(series) FROM point WHERE series > seen.series) FROM seen
  WHERE seen.series IS NOT NULL)
SELECT count(*) FROM seen WHERE series IS NOT NULL AND series NOT IN (SELECT key FROM series);

-- name: orphans_pyramid
WITH RECURSIVE seen (series) AS (SELECT min(series) FROM pyramid UNION ALL SELECT (SELECT min(series) FROM pyramid WHERE series > seen.series) FROM seen
  WHERE seen.series IS NOT NULL)
SELECT count(*) FROM seen WHERE series IS NOT NULL AND series NOT IN (SELECT key FROM series);

-- name: check_node_row
SELECT count(*) FROM node WHERE node_sequence >= 0 AND journal_first >= 1 AND journal_bytes >= 0
  AND coalesce((SELECT max(node_sequence) FROM journal), node.node_sequence) <= node.node_sequence;

-- name: check_run_count
SELECT count(*) FROM run;

-- name: check_series_count
SELECT count(*) FROM series;

-- name: series_by_key
SELECT finite, nans, positive_infinities, negative_infinities, minimum, maximum, first_step, last_step FROM series WHERE key = ?1;

-- name: pyramid_all
SELECT level, block, buckets FROM pyramid WHERE series = ?1 ORDER BY level, block;
