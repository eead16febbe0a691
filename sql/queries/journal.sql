-- name: node_row
SELECT node_sequence, journal_first, journal_bytes FROM node;

-- name: node_update
UPDATE node SET node_sequence = ?1, journal_first = ?2, journal_bytes = ?3;

-- name: journal_insert
INSERT INTO journal (node_sequence, topic, header, body) VALUES (?1, ?2, ?3, ?4);

-- name: journal_range
SELECT topic, header, body FROM journal WHERE node_sequence BETWEEN ?1 AND ?2 ORDER BY node_sequence LIMIT ?3;

-- name: journal_bytes_between
SELECT coalesce(sum(length(topic) + length(header) + length(body)), 0) FROM journal WHERE node_sequence BETWEEN ?1 AND ?2;

-- name: journal_delete_through
DELETE FROM journal WHERE node_sequence <= ?1;

-- name: received_list
SELECT first, last FROM received WHERE run = ?1 AND segment = ?2 AND rank = ?3 ORDER BY first;

-- name: received_clear
DELETE FROM received WHERE run = ?1 AND segment = ?2 AND rank = ?3;

-- name: received_insert
INSERT INTO received (run, segment, rank, first, last) VALUES (?1, ?2, ?3, ?4, ?5);
