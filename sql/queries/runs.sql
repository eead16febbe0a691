-- name: run_insert
INSERT INTO run (id, name, algorithm, state, reason, created_unix_ns, started_unix_ns, ended_unix_ns, world_size, mesh, failed_rank, last_step,
                 color_index, segment, archived, duration_ns, imported_from)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17);

-- name: recipe_insert
INSERT INTO recipe (run, content, text, path, overrides) VALUES (?1, ?2, ?3, ?4, ?5);

-- name: recipe_get
SELECT content, text, path, overrides FROM recipe WHERE run = ?1;

-- name: recipe_all
SELECT run, content FROM recipe ORDER BY run;

-- name: run_meshes
SELECT key, mesh FROM run ORDER BY key;

-- name: setting_name_insert
INSERT INTO setting_name (name) VALUES (?1) ON CONFLICT DO NOTHING;

-- name: setting_name_key
SELECT key FROM setting_name WHERE name = ?1;

-- name: setting_upsert
INSERT OR REPLACE INTO setting (name, run, value) VALUES (?1, ?2, ?3);

-- name: segment_insert
INSERT INTO segment (run, segment, first_step, opened_unix_ns) VALUES (?1, ?2, ?3, ?4) ON CONFLICT DO NOTHING;

-- name: segment_set_first_step
UPDATE segment SET first_step = ?3 WHERE run = ?1 AND segment = ?2;

-- name: segment_first_step
SELECT first_step FROM segment WHERE run = ?1 AND segment = ?2;

-- name: segment_list
SELECT segment, first_step, opened_unix_ns FROM segment WHERE run = ?1 ORDER BY segment;

-- name: run_key
SELECT key, segment FROM run WHERE id = ?1;

-- name: run_set_state
UPDATE run SET state = ?2, reason = ?3, failed_rank = ?4,
  started_unix_ns = CASE WHEN ?5 AND started_unix_ns = 0 THEN ?7 ELSE started_unix_ns END,
  ended_unix_ns = CASE WHEN ?6 THEN ?7 ELSE ended_unix_ns END,
  duration_ns = CASE WHEN ?6 THEN ?8 ELSE duration_ns END
WHERE id = ?1;

-- name: run_last_sign
SELECT max(created_unix_ns, started_unix_ns, coalesce((SELECT max(time_unix_ns) FROM rank_status WHERE rank_status.run = run.key), 0),
           coalesce((SELECT time_unix_ns FROM log WHERE log.run = run.key ORDER BY node_sequence DESC LIMIT 1), 0),
           coalesce((SELECT time_unix_ns FROM event WHERE event.run = run.key ORDER BY node_sequence DESC LIMIT 1), 0))
FROM run WHERE key = ?1;

-- name: run_unfinished
SELECT id, key FROM run WHERE state NOT IN ('finished', 'failed', 'stopped', 'lost') ORDER BY key;

-- name: run_state
SELECT state FROM run WHERE key = ?1;

-- name: run_set_archived
UPDATE run SET archived = ?2 WHERE key = ?1 AND archived <> ?2;

-- name: run_set_step
UPDATE run SET last_step = max(last_step, ?2) WHERE key = ?1;

-- name: run_set_segment
UPDATE run SET segment = ?2 WHERE key = ?1;

-- name: run_count
UPDATE run SET metrics_replaced = metrics_replaced + ?2, duplicates = duplicates + ?3 WHERE key = ?1;

-- name: run_set_counters
UPDATE run SET metrics_replaced = ?2, logs_dropped = ?3, spans_dropped = ?4, samples_dropped = ?5, events_dropped = ?6, duplicates = ?7 WHERE key = ?1;

-- name: fingerprint_upsert
INSERT INTO fingerprint (run, segment, source, content) VALUES (?1, ?2, ?3, ?4) ON CONFLICT DO UPDATE SET content = excluded.content;

-- name: fingerprint_list
SELECT source, content FROM fingerprint WHERE run = ?1 ORDER BY segment, source;

-- name: fingerprint_all
SELECT run, content FROM fingerprint WHERE source = 'daemon' ORDER BY run, segment;

-- name: run_list
SELECT key, id, name, algorithm, state, reason, created_unix_ns, started_unix_ns, ended_unix_ns, world_size, mesh, failed_rank, last_step, color_index,
       segment, archived, duration_ns, imported_from, (SELECT group_concat(tag, char(31)) FROM tag WHERE tag.run = run.key)
FROM run ORDER BY key DESC LIMIT ?1;

-- name: run_by_key
SELECT key, id, name, algorithm, state, reason, created_unix_ns, started_unix_ns, ended_unix_ns, world_size, mesh, failed_rank, last_step, color_index,
       segment, archived, duration_ns, imported_from, (SELECT group_concat(tag, char(31)) FROM tag WHERE tag.run = run.key)
FROM run WHERE key = ?1;

-- name: run_find_last
SELECT key FROM run ORDER BY key DESC LIMIT 1;

-- name: run_find_by_id
SELECT key FROM run WHERE id = ?1;

-- name: run_find_by_name
SELECT key FROM run WHERE name = ?1 ORDER BY key DESC LIMIT 1;

-- name: run_find_by_prefix
SELECT key, id, name, state, started_unix_ns FROM run WHERE substr(id, 1, length(?1)) = ?1 ORDER BY key DESC LIMIT 6;

-- name: run_names
SELECT id, name FROM run ORDER BY key DESC LIMIT 200;

-- name: run_counters
SELECT segment, metrics_replaced, logs_dropped, spans_dropped, samples_dropped, events_dropped, duplicates FROM run WHERE key = ?1;

-- name: segment_replace
INSERT OR REPLACE INTO segment (run, segment, first_step, opened_unix_ns) VALUES (?1, ?2, ?3, ?4);
