-- name: run_insert
INSERT INTO run (id, name, algorithm, state, reason, created_unix_ns, started_unix_ns, ended_unix_ns, world_size, mesh, recipe, recipe_text,
                 recipe_path, overrides, failed_rank, last_step, color_index)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17);

-- name: run_key
SELECT key, segment FROM run WHERE id = ?1;

-- name: run_set_state
UPDATE run SET state = ?2, reason = ?3, failed_rank = ?4,
  started_unix_ns = CASE WHEN ?5 AND started_unix_ns = 0 THEN ?7 ELSE started_unix_ns END,
  ended_unix_ns = CASE WHEN ?6 THEN ?7 ELSE ended_unix_ns END
WHERE id = ?1;

-- name: run_unfinished
SELECT id FROM run WHERE state NOT IN ('finished', 'failed', 'stopped', 'lost') ORDER BY key;

-- name: run_set_step
UPDATE run SET last_step = max(last_step, ?2) WHERE key = ?1;

-- name: run_set_segment
UPDATE run SET segment = ?2 WHERE key = ?1;

-- name: run_count
UPDATE run SET metrics_replaced = metrics_replaced + ?2, duplicates = duplicates + ?3 WHERE key = ?1;

-- name: fingerprint_upsert
INSERT INTO fingerprint (run, source, content) VALUES (?1, ?2, ?3) ON CONFLICT DO UPDATE SET content = excluded.content;

-- name: fingerprint_list
SELECT source, content FROM fingerprint WHERE run = ?1 ORDER BY source;

-- name: run_list
SELECT key, id, name, algorithm, state, reason, created_unix_ns, started_unix_ns, ended_unix_ns, world_size, mesh, recipe, recipe_text, recipe_path,
       overrides, failed_rank, last_step, color_index
FROM run ORDER BY key DESC LIMIT ?1;

-- name: run_by_key
SELECT key, id, name, algorithm, state, reason, created_unix_ns, started_unix_ns, ended_unix_ns, world_size, mesh, recipe, recipe_text, recipe_path,
       overrides, failed_rank, last_step, color_index
FROM run WHERE key = ?1;

-- name: run_find_last
SELECT key FROM run ORDER BY key DESC LIMIT 1;

-- name: run_find_by_id
SELECT key FROM run WHERE id = ?1;

-- name: run_find_by_name
SELECT key FROM run WHERE name = ?1 ORDER BY key DESC LIMIT 1;

-- name: run_find_by_prefix
SELECT key, id FROM run WHERE substr(id, 1, length(?1)) = ?1 ORDER BY key DESC LIMIT 6;

-- name: run_names
SELECT id, name FROM run ORDER BY key DESC LIMIT 200;

-- name: run_counters
SELECT segment, metrics_replaced, logs_dropped, spans_dropped, samples_dropped, events_dropped, duplicates FROM run WHERE key = ?1;
