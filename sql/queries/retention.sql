-- Each table of a run that is bounded: how many rows it has, and the removal of its oldest ones with a counter of what went.

-- name: log_count
SELECT count(*) FROM log WHERE run = ?1;

-- name: log_rotate
DELETE FROM log WHERE run = ?1 AND node_sequence < (SELECT node_sequence FROM log WHERE run = ?1 ORDER BY node_sequence LIMIT 1 OFFSET ?2);

-- name: log_dropped
UPDATE run SET logs_dropped = logs_dropped + ?2 WHERE key = ?1;

-- name: span_count
SELECT count(*) FROM span WHERE run = ?1;

-- name: span_rotate
DELETE FROM span WHERE run = ?1 AND step < (SELECT step FROM span WHERE run = ?1 ORDER BY step LIMIT 1 OFFSET ?2);

-- name: span_dropped
UPDATE run SET spans_dropped = spans_dropped + ?2 WHERE key = ?1;

-- name: sample_count
SELECT count(*) FROM sample WHERE run = ?1;

-- name: sample_rotate
DELETE FROM sample WHERE run = ?1 AND node_sequence < (SELECT node_sequence FROM sample WHERE run = ?1 ORDER BY node_sequence LIMIT 1 OFFSET ?2);

-- name: sample_dropped
UPDATE run SET samples_dropped = samples_dropped + ?2 WHERE key = ?1;

-- name: event_count
SELECT count(*) FROM event WHERE run = ?1;

-- name: event_rotate
DELETE FROM event WHERE run = ?1 AND node_sequence < (SELECT node_sequence FROM event WHERE run = ?1 ORDER BY node_sequence LIMIT 1 OFFSET ?2);

-- name: event_dropped
UPDATE run SET events_dropped = events_dropped + ?2 WHERE key = ?1;
