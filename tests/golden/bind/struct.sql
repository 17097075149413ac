CREATE STREAM s (p STRUCT<name: STRING, tags: ARRAY<STRING>>, m MAP<STRING, INT>) USING json LOCATION 's';
SELECT p.name, s.p.tags[0] AS tag, m['k'] AS k FROM s;
