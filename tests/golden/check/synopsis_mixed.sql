CREATE STREAM request (kind INT, urgent BOOLEAN, CHECK (kind BETWEEN 1 AND 5)) USING json LOCATION 'request';
CREATE STREAM parcel (id BIGINT, kind INT, route BIGINT, stamp BIGINT, ORDERED BY (stamp)) USING json LOCATION 'parcel';
CREATE STREAM truck (route BIGINT, name STRING, stamp BIGINT, PUNCTUATED BY (route), ORDERED BY (stamp)) USING json LOCATION 'truck';
CREATE STREAM closing (kind INT, PUNCTUATED BY (kind), CHECK (kind BETWEEN 1 AND 5)) USING json LOCATION 'closing';
SELECT /*+ TREE(r, (p, t)) */ r.kind, COUNT(*) AS n FROM request AS r, parcel AS p, truck AS t
WHERE r.kind = p.kind AND p.route = t.route AND p.stamp <= t.stamp + 3 GROUP BY r.kind EMIT CHANGES;
SELECT p.id, c.kind FROM closing AS c JOIN parcel AS p ON c.kind = p.kind;
SELECT p.id, r.kind FROM request AS r JOIN parcel AS p ON r.kind = p.kind;
