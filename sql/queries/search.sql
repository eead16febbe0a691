-- What queries may name.

-- name: setting_name_list
SELECT name FROM setting_name ORDER BY name;

-- name: metric_name_list
SELECT name FROM metric_name ORDER BY name;
