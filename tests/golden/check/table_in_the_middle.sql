CREATE STREAM auction (id BIGINT, seller BIGINT, category INT, opened TIMESTAMP, expires TIMESTAMP, PUNCTUATED BY (category)) USING json LOCATION 'auction';
CREATE TABLE category (id INT, topic INT) USING csv LOCATION 'category';
CREATE STREAM advert (topic INT, words STRING, PUNCTUATED BY (topic)) USING json LOCATION 'advert';
SELECT a.id, v.words FROM auction AS a JOIN category AS c ON a.category = c.id JOIN advert AS v ON c.topic = v.topic;
