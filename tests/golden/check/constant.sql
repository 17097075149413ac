CREATE STREAM event (id BIGINT, kind STRING, PUNCTUATED BY (id, kind)) USING json LOCATION 'data/event';
CREATE STREAM account (id BIGINT, UNIQUE (id)) USING json LOCATION 'data/account';

SELECT a.id FROM account AS a JOIN event AS e ON a.id = e.id WHERE e.kind = 'closed';
