// Says nothing after a tool has run (cursor); a place to count from.
process.stdin.resume();
process.stdin.on('end', () => process.exit(0));
