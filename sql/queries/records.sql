-- name: log_insert
INSERT INTO log (run, node_sequence, time_unix_ns, rank, level, text) VALUES (?1, ?2, ?3, ?4, ?5, ?6);

-- name: log_first
SELECT node_sequence, time_unix_ns, rank, level, text FROM log WHERE run = ?1 AND node_sequence > ?2 ORDER BY node_sequence LIMIT ?3;

-- name: log_tail
SELECT node_sequence, time_unix_ns, rank, level, text FROM log WHERE run = ?1 AND node_sequence > ?2 ORDER BY node_sequence DESC LIMIT ?3;

-- name: event_insert
INSERT INTO event (run, node_sequence, time_unix_ns, rank, kind, name, body) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7);

-- name: event_list
SELECT node_sequence, time_unix_ns, rank, kind, name, body FROM event WHERE run = ?1 ORDER BY node_sequence DESC LIMIT ?2;

-- name: event_list_of_names
SELECT node_sequence, time_unix_ns, rank, kind, name, body FROM event WHERE run = ?1 AND name IN (SELECT value FROM json_each(?2))
ORDER BY node_sequence DESC LIMIT ?3;

-- name: span_insert
INSERT INTO span (run, step, rank, begin_ns, phase, end_ns) VALUES (?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT DO UPDATE SET end_ns = excluded.end_ns;

-- name: span_list
SELECT rank, step, phase, begin_ns, end_ns FROM span WHERE run = ?1 AND step BETWEEN ?2 AND ?3 ORDER BY step, rank, begin_ns;

-- name: sample_insert
INSERT INTO sample (run, node_sequence, step, rank, body) VALUES (?1, ?2, ?3, ?4, ?5);

-- name: sample_list
SELECT step, rank, body FROM sample WHERE run = ?1 ORDER BY node_sequence DESC LIMIT ?2;

-- name: checkpoint_upsert
INSERT INTO checkpoint (run, step, path, bytes, time_unix_ns) VALUES (?1, ?2, ?3, ?4, ?5)
ON CONFLICT DO UPDATE SET bytes = excluded.bytes, time_unix_ns = excluded.time_unix_ns;

-- name: checkpoint_list
SELECT step, path, bytes, time_unix_ns FROM checkpoint WHERE run = ?1 ORDER BY step, time_unix_ns;

-- name: rank_status_upsert
INSERT INTO rank_status (run, rank, step, time_unix_ns, resident_bytes, resident_bytes_max, cpu_seconds) VALUES (?1, ?2, ?3, ?4, ?5, ?5, ?6)
ON CONFLICT DO UPDATE SET step = excluded.step, time_unix_ns = excluded.time_unix_ns, resident_bytes = excluded.resident_bytes,
  resident_bytes_max = max(resident_bytes_max, excluded.resident_bytes), cpu_seconds = excluded.cpu_seconds;

-- name: rank_status_list
SELECT rank, step, time_unix_ns, resident_bytes, resident_bytes_max, cpu_seconds FROM rank_status WHERE run = ?1 ORDER BY rank;
