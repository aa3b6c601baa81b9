// JSON
