-- +goose Up

-- Of letters of which lower case leaves two forms, names are found by one: see loyalty.NameKey. Only rows that have such a letter are
-- written, so that one pass over the customers is all that it costs. E-mail addresses stay as they are.
UPDATE customers SET
    handler_key = replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(handler_key, 'ß', 'ss'), 'և', 'եւ'), 'ﬀ', 'ff'), 'ﬁ', 'fi'), 'ﬂ', 'fl'), 'ﬃ', 'ffi'), 'ﬄ', 'ffl'), 'ﬅ', 'st'), 'ﬆ', 'st'), 'ς', 'σ'), 'ſ', 's'), 'µ', 'μ'),
    first_key = replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(first_key, 'ß', 'ss'), 'և', 'եւ'), 'ﬀ', 'ff'), 'ﬁ', 'fi'), 'ﬂ', 'fl'), 'ﬃ', 'ffi'), 'ﬄ', 'ffl'), 'ﬅ', 'st'), 'ﬆ', 'st'), 'ς', 'σ'), 'ſ', 's'), 'µ', 'μ'),
    last_key = replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(last_key, 'ß', 'ss'), 'և', 'եւ'), 'ﬀ', 'ff'), 'ﬁ', 'fi'), 'ﬂ', 'fl'), 'ﬃ', 'ffi'), 'ﬄ', 'ffl'), 'ﬅ', 'st'), 'ﬆ', 'st'), 'ς', 'σ'), 'ſ', 's'), 'µ', 'μ')
WHERE handler_key GLOB '*[ßևﬀﬁﬂﬃﬄﬅﬆςſµ]*' OR first_key GLOB '*[ßևﬀﬁﬂﬃﬄﬅﬆςſµ]*' OR last_key GLOB '*[ßևﬀﬁﬂﬃﬄﬅﬆςſµ]*';

-- +goose Down
SELECT 1;
