-- Tags, notes and alerts.

-- name: tag_insert
INSERT INTO tag (run, tag) VALUES (?1, ?2) ON CONFLICT DO NOTHING;

-- name: tag_delete
DELETE FROM tag WHERE run = ?1 AND tag = ?2;

-- name: note_insert
INSERT INTO note (run, time_unix_ns, author, text) VALUES (?1, ?2, ?3, ?4);

-- name: note_delete
DELETE FROM note WHERE run = ?1 AND key = ?2;

-- name: note_list
SELECT key, time_unix_ns, author, text FROM note WHERE run = ?1 ORDER BY time_unix_ns, key;

-- name: alert_upsert
INSERT INTO alert (run, kind, topic, text, detail, count, first_unix_ns, last_unix_ns) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
ON CONFLICT DO UPDATE SET text = excluded.text, detail = excluded.detail, count = count + excluded.count, last_unix_ns = excluded.last_unix_ns;

-- name: alert_list
SELECT kind, topic, text, detail, count, first_unix_ns, last_unix_ns FROM alert WHERE run = ?1 ORDER BY last_unix_ns DESC, key DESC;
