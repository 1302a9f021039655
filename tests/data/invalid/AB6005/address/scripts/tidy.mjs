import "https://example.org/a.mjs";
