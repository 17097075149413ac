-- What both sides have closed is forgotten; a stream that another query reads too has to remember it.
CREATE STREAM parcel (label STRING, depot STRING, UNIQUE (label)) USING json LOCATION 'data/parcel';
CREATE STREAM scan (label STRING, at TIMESTAMP, PUNCTUATED BY (label)) USING json LOCATION 'data/scan';
CREATE STREAM claim (label STRING, amount DOUBLE, PUNCTUATED BY (label)) USING json LOCATION 'data/claim';
CREATE STREAM payment (label STRING, amount DOUBLE, PUNCTUATED BY (label)) USING json LOCATION 'data/payment';
SELECT p.depot, s.at FROM parcel AS p JOIN scan AS s ON p.label = s.label;
SELECT c.amount, q.amount AS paid FROM claim AS c JOIN payment AS q ON c.label = q.label;
SELECT label, SUM(amount) AS paid FROM payment GROUP BY label;
