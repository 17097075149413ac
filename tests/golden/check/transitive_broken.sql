CREATE STREAM asked (id BIGINT, question STRING, UNIQUE (id)) USING json LOCATION 'data/asked';
CREATE STREAM answered (question BIGINT, answer STRING, PUNCTUATED BY (question)) USING json LOCATION 'data/answered';
CREATE STREAM rated (question BIGINT, stars INT, PUNCTUATED BY (question)) USING json LOCATION 'data/rated';

SELECT q.question, a.answer, r.stars
FROM asked AS q JOIN answered AS a ON q.id = a.question JOIN rated AS r ON q.id < r.question;
